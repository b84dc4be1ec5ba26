#include "runtime/virtual_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace remora {

VirtualLoop::VirtualLoop(const VirtualLoopOptions& options)
    : Runtime(options.seed), options_(options), ties_(mix(options.seed)) {}

CoreId VirtualLoop::add_cores(std::uint32_t count) {
  const auto first = static_cast<CoreId>(cores_.size());
  cores_.resize(cores_.size() + count);
  return first;
}

std::uint64_t VirtualLoop::busy_ns(CoreId core) const {
  REMORA_CHECK(core < cores_.size(), "no such core");
  const Core& of = cores_[core];
  // Time that is charged and not yet spent lies between now and the end, without a gap.
  const std::uint64_t ahead_ns = of.free_at_ns > now_ns_ ? of.free_at_ns - now_ns_ : 0;
  return of.charged_ns - ahead_ns;
}

std::uint64_t VirtualLoop::charge(CoreId core, std::uint64_t cost_ns) {
  REMORA_CHECK(core < cores_.size(), "no such core");
  Core& of = cores_[core];
  of.free_at_ns = std::max(of.free_at_ns, now_ns_) + cost_ns;
  of.charged_ns += cost_ns;
  return of.free_at_ns;
}

void VirtualLoop::arm(Timer& timer, std::uint64_t due_ns) {
  timer.disarm();
  queue_.add(timer, std::max(due_ns, now_ns_), options_.shuffle_ties ? ties_.next() : 0);
}

RunState VirtualLoop::step() {
  if (events_ >= options_.max_events) {
    return RunState::exhausted;
  }
  {
    const Running running(*this);
    if (!run_event()) {
      return RunState::stalled;
    }
  }
  ++events_;
  if (on_event_) {
    on_event_(events_);
  }
  return RunState::running;
}

bool VirtualLoop::run_event() {
  const bool scheduled = !queue_.empty() && queue_.next_due_ns() != never_ns;
  if (scheduled) {
    const TimerQueue::Entry event = queue_.pop();
    now_ns_ = event.due_ns;
    fold(event.due_ns);
    fold(event.sequence);
    event.timer->expire();
  }
  const bool polled = pollers_.poll_all();
  if (polled) {
    fold(1);
  }
  return scheduled || polled;
}

RunState VirtualLoop::run_for(std::uint64_t span_ns) {
  const std::uint64_t end_ns = after(span_ns);
  while (queue_.empty() || queue_.next_due_ns() <= end_ns) {
    const RunState state = step();
    if (state == RunState::exhausted) {
      return state;
    }
    if (state == RunState::stalled) {
      break;
    }
  }
  if (end_ns != never_ns) {
    now_ns_ = end_ns;
  }
  return RunState::finished;
}

void VirtualLoop::trace(std::string_view tag, std::uint64_t value) {
  for (const char letter : tag) {
    fold(static_cast<unsigned char>(letter));
  }
  fold(value);
  if (on_trace_) {
    on_trace_(tag, value);
  }
}

void VirtualLoop::abandon() {
  REMORA_CHECK(!running(), "a power cut comes between two events, not within one");
  flows_.abandon();
  queue_.clear();
  watches_.clear();
  pollers_.clear();
  for (CoreId core = 0; core < cores_.size(); ++core) {
    cores_[core] = Core{.free_at_ns = now_ns_, .charged_ns = busy_ns(core)};
  }
  trace("abandon", events_);
}

std::string VirtualLoop::describe() const {
  return fmt::format("seed {}, event {}, {} ns, {} spawned tasks", options_.seed, events_, now_ns_,
                     spawned());
}

}  // namespace remora
