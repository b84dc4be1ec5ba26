// LoadPlan: what kind of work a load does, drawn from a seed. Blow: when in that work the signal
// falls.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/random.h"

namespace remora::fabric::lives {

enum class Kind : std::uint8_t {
  write,
  write_imm,
  read,
  send,
  send_imm,
  compare_swap,
  fetch_add,
  atomic_write,
  flush,
};
inline constexpr std::size_t kinds = 9;

struct LoadPlan {
  static LoadPlan draw(Random& random);

  std::uint64_t seed = 0;
  std::array<std::uint32_t, kinds> weights = {};  // of each kind; WRITE is never without
  std::uint32_t depth = 1;                        // requests in flight
  std::uint32_t bytes_max = 64;                   // of one request
  bool in_lines = false;                          // those that are longer are whole lines
  std::uint32_t silent_percent = 0;               // requests that are not signalled
  std::optional<std::uint64_t> limit = {};        // requests in all; else it goes on until it fails
};

struct Blow {
  static Blow draw(Random& random, int signal);

  int signal = 0;
  // By its own hand, after so many requests of its own; or from outside, after so many completions
  // of the survivor's and some time.
  std::optional<std::uint64_t> own_requests = {};
  bool inside = false;  // its own hand strikes in the middle of a request that it executes itself
  std::uint64_t completions = 0;
  std::uint64_t span_ns = 0;
};

}  // namespace remora::fabric::lives
