#include "runtime/virtual_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace remora {

VirtualLoop::VirtualLoop(const VirtualLoopOptions& options)
    : Runtime(options.seed), options_(options), ties_(mix(options.seed)) {}

// --- Cores ---

CoreId VirtualLoop::add_named(std::uint32_t count) {
  REMORA_CHECK(count != 0, "an id stands for one core at least");
  named_.push_back({.first = cores_.size(), .cores = {.count = count}});
  cores_.resize(cores_.size() + count);
  return static_cast<CoreId>(named_.size() - 1);
}

CoreId VirtualLoop::add_cores(std::uint32_t count) {
  const auto first = static_cast<CoreId>(named_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    add_named(1);
  }
  return first;
}

CoreId VirtualLoop::add_group(const CoreGroup& group) {
  const CoreId core = add_named(group.count);
  named_[core].cores = group;
  named_[core].queued = true;
  return core;
}

CoreId VirtualLoop::add_pool(std::uint32_t count) {
  const CoreId core = add_named(count);
  named_[core].pooled = true;
  return core;
}

CoreId VirtualLoop::add_alias(CoreId of) {
  named_.push_back({.first = named(of).first});
  return static_cast<CoreId>(named_.size() - 1);
}

void VirtualLoop::set_habit(CoreId core, const CoreHabit& habit) {
  REMORA_CHECK(!habit.is_shared() || habit.slice_ns != 0, "a shared core has slices");
  named(core).habit = habit;
}

VirtualLoop::Named& VirtualLoop::named(CoreId core) {
  REMORA_CHECK(core < named_.size(), "no such core");
  return named_[core];
}

const CoreGroup* VirtualLoop::core_group(CoreId core) const {
  return core < named_.size() && named_[core].queued ? &named_[core].cores : nullptr;
}

void VirtualLoop::use_core(CoreId core, std::uint32_t which) {
  REMORA_CHECK(which < named(core).cores.count, "the group has fewer cores");
  named_[core].used = which;
}

std::uint64_t VirtualLoop::core_busy_ns(const Core& core) const {
  // Time that is charged and not yet spent lies between now and the end, without a gap.
  const std::uint64_t ahead_ns = core.free_at_ns > now_ns_ ? core.free_at_ns - now_ns_ : 0;
  return core.charged_ns - ahead_ns;
}

std::uint64_t VirtualLoop::busy_ns(CoreId core) const {
  REMORA_CHECK(core < named_.size(), "no such core");
  std::uint64_t busy_ns = 0;
  for (std::uint32_t i = 0; i < named_[core].cores.count; ++i) {
    busy_ns += core_busy_ns(cores_[named_[core].first + i]);
  }
  return busy_ns;
}

std::uint64_t VirtualLoop::charge(CoreId core, std::uint64_t cost_ns) {
  Named& by = named(core);
  if (by.pooled && by.used_at_event != events_ + 1) {
    by.used_at_event = events_ + 1;
    const auto first = cores_.begin() + static_cast<std::ptrdiff_t>(by.first);
    by.used = static_cast<std::uint32_t>(
        std::ranges::min_element(first, first + by.cores.count, {}, &Core::free_at_ns) - first);
  }
  Core& of = cores_[by.first + by.used];
  const std::uint64_t from_ns = std::max(of.free_at_ns, now_ns_);
  if (cost_ns == 0) {
    return from_ns;
  }
  const bool sleeps = of.free_at_ns < now_ns_;
  of.free_at_ns = by.habit.ends_at_ns(from_ns + (sleeps ? by.habit.wake_ns : 0), cost_ns);
  of.charged_ns += of.free_at_ns - from_ns;
  return of.free_at_ns;
}

// --- Events ---

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
  for (Core& core : cores_) {
    core = Core{.free_at_ns = now_ns_, .charged_ns = core_busy_ns(core)};
  }
  trace("abandon", events_);
}

std::string VirtualLoop::describe() const {
  return fmt::format("seed {}, event {}, {} ns, {} spawned tasks", options_.seed, events_, now_ns_,
                     spawned());
}

}  // namespace remora
