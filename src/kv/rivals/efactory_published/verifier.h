// Verifier: the single background thread of eFactory as published. It takes versions in the order
// of their requests, one at a time; at one whose value has not come it waits until that comes or is
// given up.
//
// A flow on the loop, charged to the background core. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "kv/rivals/efactory_published/versions.h"
#include "runtime/event.h"
#include "runtime/task.h"

namespace remora::kv::efactory_published {

class Verifier {
 public:
  // Both outlive it.
  Verifier(Versions& versions, const Host& background, std::uint64_t put_timeout_ns)
      : versions_(versions), background_(background), put_timeout_ns_(put_timeout_ns) {}

  // The flow, until the medium fails.
  Task<void> verify();

  // A version that was granted now.
  void expect(const Object& object);
  bool busy() const { return !awaited_.empty(); }
  // Whether the versions up to this one are durable, invalid, or not asked for any more.
  bool has_passed(std::uint64_t sequence) const {
    return awaited_.empty() || awaited_.front().sequence > sequence;
  }
  std::size_t awaited() const { return awaited_.size(); }
  std::uint64_t verified() const { return verified_; }
  std::uint64_t invalidated() const { return invalidated_; }

 private:
  struct Awaited {
    Offset offset = 0;
    std::uint64_t sequence = 0;
    std::uint64_t received_ns = 0;
  };
  std::optional<Object> open(const Awaited& version) const;

  Versions& versions_;
  const Host background_;
  const std::uint64_t put_timeout_ns_;
  std::deque<Awaited> awaited_;
  std::optional<Event> to_verify_;
  std::uint64_t verified_ = 0;
  std::uint64_t invalidated_ = 0;
};

}  // namespace remora::kv::efactory_published
