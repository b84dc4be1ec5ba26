#include "kv/rivals/efactory_published/verifier.h"

#include <algorithm>

#include "kv/common/await_persistent.h"

namespace remora::kv::efactory_published {
namespace {

constexpr std::uint64_t first_look_ns = 1'000;
constexpr std::uint64_t longest_look_ns = 100'000;

}  // namespace

void Verifier::expect(const Object& object) {
  awaited_.push_back({object.offset(), object.sequence(), background_.now_ns()});
  if (to_verify_ && !to_verify_->is_set()) {
    to_verify_->set();
  }
}

// Nothing where there is nothing to do: a request or the cleaner has made it durable.
std::optional<Object> Verifier::open(const Awaited& version) const {
  const Result<Object> object = versions_.log().find(version.offset);
  const bool is_open = object.ok() && object->sequence() == version.sequence &&
                       !object->durable() && !object->invalid();
  return is_open ? std::optional(*object) : std::nullopt;
}

Task<void> Verifier::verify() {
  Runtime& runtime = background_.runtime();
  const Faults& planted = background_.faults();
  for (;;) {
    if (awaited_.empty()) {
      co_await to_verify_.emplace(runtime);
      continue;
    }
    const Awaited version = awaited_.front();
    const std::optional<Object> object = open(version);
    if (!object) {
      awaited_.pop_front();
      continue;
    }
    const std::uint64_t age_ns = background_.now_ns() - version.received_ns;
    const bool is_whole =
        planted.planted(faults::flag_without_checksum) || Versions::is_whole(*object, background_);
    if (is_whole) {
      if (!planted.planted(faults::flag_without_persist)) {
        const Ticket ticket = Versions::persist(*object, background_);
        co_await background_.charged();
        const Status status = co_await await_persistent(background_, ticket);
        if (!status.ok()) {
          co_return;
        }
      }
      if (open(version)) {
        versions_.log().note_durable(*object);
        ++verified_;
      }
      awaited_.pop_front();
    } else if (age_ns > put_timeout_ns_) {
      versions_.log().set_invalid(*object);
      ++invalidated_;
      awaited_.pop_front();
    } else {
      co_await background_.charged();
      co_await runtime.sleep_for(std::clamp(age_ns, first_look_ns, longest_look_ns));
      continue;
    }
    co_await background_.charged();
    co_await runtime.yield();
  }
}

}  // namespace remora::kv::efactory_published
