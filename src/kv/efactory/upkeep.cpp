#include "kv/efactory/upkeep.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t look_room_ns = 50'000;
// For a clearing that was asked for.
constexpr std::uint64_t longest_stop_ns = 2'000'000;
constexpr std::uint64_t carried_windows_per_turn = 64;
constexpr std::size_t given_back_per_turn_bytes = 256 << 10;
constexpr std::uint64_t swept_entries_per_turn = 64;

}  // namespace

Upkeep::Upkeep(Catalogue& catalogue, Committer& commits, Peers& peers, Rounds& rounds,
               Cleaner& cleaner, const Snapshots& snapshots)
    : catalogue_(catalogue),
      background_(catalogue.background()),
      commits_(commits),
      peers_(peers),
      rounds_(rounds),
      cleaner_(cleaner),
      snapshots_(snapshots) {}

Task<void> Upkeep::keep_up() {
  for (;;) {
    // What a client copies is not cleaned as long as puts find room.
    const bool is_held = snapshots_.stands() && !cleaner_.is_pressed();
    if (wants_sweep()) {
      const Status swept = co_await sweep();
      if (!swept.ok()) {
        co_return;
      }
    } else if (index_fits_badly()) {
      resizes_ = true;
      co_await resize();
      resizes_ = false;
    } else if (!is_held && catalogue_.log().has_cleared()) {
      const Status freed = co_await cleaner_.free_cleared();
      if (!freed.ok()) {
        co_return;
      }
    } else if (!is_held && cleaner_.wants_cleaning()) {
      co_await cleaner_.clean();
      if (!background_.region().failure().ok()) {
        co_return;
      }
    } else if (forgets_grants_) {
      co_await rounds_.hold_again();
      forgets_grants_ = false;
    } else if (!leaving_.empty()) {
      co_await give_memory_back();
    } else {
      co_await to_do_.emplace(background_.runtime());
    }
  }
}

Task<Status> Upkeep::room() {
  if (wants_to_clear_) {
    while (wants_to_clear_ && !are_stopped_) {
      REMORA_CO_TRY(background_.region().failure());
      co_await background_.runtime().sleep_for(look_room_ns);
    }
    co_return Status();
  }
  cleaner_.press();
  const std::uint64_t before = cleaner_.ended();
  while (cleaner_.ended() == before && cleaner_.is_due()) {
    wake();
    REMORA_CO_TRY(background_.region().failure());
    co_await background_.runtime().sleep_for(look_room_ns);
  }
  co_return cleaner_.ended() != before
      ? Status()
      : Status(Code::no_space, "the pool is full: delete something, or use a larger pool");
}

// Deletions that came while this waits, or goes on, stay.
Task<Status> Upkeep::sweep() {
  const std::uint64_t up_to = swept_up_to_ = catalogue_.sequence();
  REMORA_CO_TRY(co_await commits_.persistent(catalogue_.last_tombstone()));
  Tag from = 0;
  do {
    from = catalogue_.forget_tombstones(from, swept_entries_per_turn, up_to);
    co_await background_.runtime().yield();
  } while (from != 0);
  co_return Status();
}

// Given up where all keys go meanwhile, or are to go.
Task<void> Upkeep::resize() {
  co_await rounds_.begin_turn();
  co_await rounds_.hold_in_turn(Reads::asked);
  const std::uint64_t before = catalogue_.index().geometry().windows;
  const std::uint64_t windows = catalogue_.fitting_windows();
  catalogue_.begin_resize(windows);
  bool all_carried = false;
  while (!all_carried && catalogue_.index().resizing() && !wants_to_clear_) {
    all_carried = catalogue_.index().resize(carried_windows_per_turn);
    if (!all_carried) {
      co_await background_.runtime().yield();
    }
  }
  Catalogue::Table old;
  if (all_carried) {
    old = catalogue_.end_resize();
    growths_ += windows > before ? 1u : 0u;
    shrinks_ += windows < before ? 1u : 0u;
    share_index();
  } else {
    catalogue_.cancel_resize();
  }
  co_await rounds_.hold_in_turn(Reads::by_mark);
  peers_.drop_old_indexes();
  rounds_.end_turn();
  leaving_.push_back(std::move(old));
}

Task<void> Upkeep::give_memory_back() {
  while (!leaving_.empty()) {
    if (!leaving_.back().give_back(given_back_per_turn_bytes)) {
      leaving_.pop_back();
    }
    co_await background_.runtime().yield();
  }
}

void Upkeep::share_index() {
  rpc_->for_each([&](const rpc::Session& session) {
    if (!peers_.share_index(session).ok()) {
      rpc_->disconnect(session.id);
    }
  });
}

// --- All keys at once ---

bool Upkeep::may_clear() {
  if (peers_.empty() || are_stopped_) {
    return true;
  }
  wants_to_clear_ = true;
  if (to_stop_ && !to_stop_->is_set()) {
    to_stop_->set();
  }
  return false;
}

void Upkeep::cleared(Catalogue::Table old) {
  wants_to_clear_ = false;
  (peers_.empty() ? leaving_ : old_tables_).push_back(std::move(old));
}

// Whoever wants to clear asks again when clients have been stopped; if nobody does, they go on.
Task<void> Upkeep::stop_readers() {
  for (;;) {
    if (!wants_to_clear_) {
      co_await to_stop_.emplace(background_.runtime());
      continue;
    }
    co_await rounds_.begin_turn();
    const Reads before = rounds_.reads();
    co_await rounds_.hold_in_turn(Reads::asked);
    are_stopped_ = true;
    const std::uint64_t until_ns = background_.runtime().after(longest_stop_ns);
    while (old_tables_.empty() && background_.runtime().now_ns() < until_ns) {
      co_await background_.runtime().sleep_for(look_room_ns);
    }
    are_stopped_ = wants_to_clear_ = false;
    share_index();
    std::vector<Catalogue::Table> old = std::exchange(old_tables_, {});
    co_await rounds_.hold_in_turn(before);
    peers_.drop_old_indexes();
    rounds_.end_turn();
    std::ranges::move(old, std::back_inserter(leaving_));
    wake();
  }
}

}  // namespace remora::kv::efactory
