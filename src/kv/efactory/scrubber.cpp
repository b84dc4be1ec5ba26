#include "kv/efactory/scrubber.h"

#include <algorithm>

namespace remora::kv::efactory {
namespace {

// What is looked at before requests have their turn, and between two looks at least.
constexpr std::uint64_t entries_per_look = 4;
constexpr std::uint64_t shortest_pause_ns = 10'000'000;
constexpr std::uint64_t longest_pause_ns = 600'000'000'000;

}  // namespace

Scrubber::Scrubber(Catalogue& catalogue, std::uint64_t pass_ns)
    : catalogue_(catalogue), background_(catalogue.background()), pass_ns_(pass_ns) {}

void Scrubber::hurry() {
  if (hurried_) {
    return;
  }
  hurried_ = true;
  from_ = 0;
  tally_.reached = 0;
  tally_.damaged = 0;
  if (pause_ != nullptr) {
    pause_->cancel();
  }
  if (asked_ && !asked_->is_set()) {
    asked_->set();
  }
}

Task<void> Scrubber::scrub() {
  for (;;) {
    if (!hurried_) {
      co_await pause();
    }
    const std::uint64_t looks = hurried_ ? 1 : looks_;
    for (std::uint64_t i = 0; i < looks; ++i) {
      look();
      co_await background_.charged();
      co_await background_.runtime().yield();
    }
  }
}

void Scrubber::look() {
  const Catalogue::Scrubbed look = catalogue_.scrub(from_, entries_per_look);
  from_ = look.next;
  tally_.reached += look.seen;
  tally_.objects += look.seen;
  tally_.damaged += look.damaged;
  if (look.next == 0) {
    end_pass();
  }
}

// Long enough that all keys have had their turn when the time is over; until somebody asks.
Task<void> Scrubber::pause() {
  if (pass_ns_ == 0) {
    co_await asked_.emplace(background_.runtime());
    co_return;
  }
  const std::uint64_t looks = catalogue_.keys() / entries_per_look + 1;
  const std::uint64_t look_ns = pass_ns_ / looks;
  looks_ = look_ns >= shortest_pause_ns ? 1 : shortest_pause_ns / (look_ns + 1) + 1;
  Sleep pause =
      background_.runtime().sleep_for(std::clamp(look_ns, shortest_pause_ns, longest_pause_ns));
  pause_ = &pause;
  (void)co_await pause;
  pause_ = nullptr;
}

void Scrubber::end_pass() {
  ++tally_.passes;
  tally_.last_keys = tally_.reached;
  tally_.last_damaged = tally_.damaged;
  tally_.last_end_ms = background_.runtime().wall_ms();
  tally_.reached = 0;
  tally_.damaged = 0;
  hurried_ = false;
}

}  // namespace remora::kv::efactory
