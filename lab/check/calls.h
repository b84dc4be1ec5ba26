// The checker of durable calls. Each call appends its id to the list of its order key, and its
// result is the place where it stands there. So a look at the lists tells which calls have run, how
// often, and in which order:
//
//   once         no call stands twice
//   untorn       what stands there was called, with the arguments that arrived, on this key
//   acknowledged a call that was told to be persistent, or answered, has run
//   prefix       then so have all calls that its caller issued before it
//   key order    calls of one caller stand in the order in which they were issued
//   in time      a call that was answered before another was issued stands before it
//   result       the place that was told is the place where it stands
//
// Pure functions; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remora {

using CallId = std::uint64_t;  // never 0
inline constexpr CallId torn_call = UINT64_MAX;

struct MadeCall {
  CallId id = 0;
  std::uint32_t session = 0;
  std::uint32_t life = 0;  // of its caller; they grow
  std::uint32_t key = 0;
  std::uint64_t issued_ns = 0;  // in the order of the calls of one session
  std::optional<std::uint64_t> persistent_ns = std::nullopt;
  std::optional<std::uint64_t> answered_ns = std::nullopt;
  std::uint64_t place = 0;  // that it was told, when it was answered
};

// What was found when nothing ran any more.
struct CallLists {
  std::uint64_t at_ns = 0;
  std::vector<std::vector<CallId>> of_key;
};

struct BrokenCall {
  std::string_view rule;
  std::string explanation;
};

// The calls in the order in which they were issued. The first rule that is broken, or nothing.
std::optional<BrokenCall> check_calls(const std::vector<MadeCall>& calls, const CallLists& lists);

}  // namespace remora
