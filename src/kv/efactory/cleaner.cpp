// How the cleaner goes about a cleaning, and that of all of the log; for a part see
// cleaner_part.cpp.
#include "kv/efactory/cleaner.h"

#include <algorithm>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t look_marks_ns = 1'000;
constexpr std::size_t steps_per_turn = 8;
constexpr std::uint64_t entries_per_turn = 256;
constexpr std::size_t frees_per_turn = 2;
// Stale versions that are passed before requests have their turn; one that is moved takes as long,
// and longer if it is large.
constexpr std::uint64_t stale_per_turn = 32;
constexpr std::uint64_t moved_bytes_per_turn = 8 << 10;
// Such turns in one, once a put had to wait for the cleaning.
constexpr std::uint64_t hurried_turns = 3;
// After a cleaning that found no room for its copies.
constexpr std::uint64_t clean_again_ns = 1'000'000;

std::uint64_t used_bytes_of(const std::vector<Segment>& segments) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) {
    bytes += segment.used_bytes;
  }
  return bytes;
}

}  // namespace

Cleaner::Cleaner(Catalogue& catalogue, Committer& commits, Peers& peers, Rounds& rounds,
                 Verifier& verifier, Snapshots& snapshots, const ServerOptions& options)
    : catalogue_(catalogue),
      background_(catalogue.background()),
      commits_(commits),
      peers_(peers),
      rounds_(rounds),
      verifier_(verifier),
      snapshots_(snapshots),
      policy_(catalogue, room_, options) {}

// --- A cleaning ---

Task<void> Cleaner::clean() {
  const std::optional<Plan> plan = policy_.choose();
  if (!plan) {
    co_return;
  }
  begin(*plan);
  Task<Status> work = plan->what == Plan::What::all ? clean_all() : clean_part(plan->segments);
  const Status status = co_await std::move(work);
  policy_.ended(*plan, status);
  room_.end();
  enter(CleaningStage::none);
  ++ended_;
  if (!status.ok() && background_.region().failure().ok()) {
    co_await background_.runtime().sleep_for(clean_again_ns);
  }
}

void Cleaner::begin(const Plan& plan) {
  if (!background_.faults().planted(faults::clean_under_snapshot)) {
    snapshots_.end();
  }
  enter(plan.what == Plan::What::all ? CleaningStage::notice : CleaningStage::part);
  if (plan.what == Plan::What::cheap) {
    // These need no room for copies of all that lives, but for theirs.
    std::uint64_t to_copy_bytes = 0;
    std::uint64_t to_scan_bytes = 0;
    for (const Worth& one : plan.segments) {
      to_copy_bytes += one.living_bytes;
      to_scan_bytes += one.segment.used_bytes;
    }
    room_.begin_parts(to_copy_bytes, to_scan_bytes);
  }
}

// A cleaning whose medium has failed ends where it is, and new versions go where they went.
void Cleaner::enter(CleaningStage stage) {
  stage_ = stage;
  if (stage != CleaningStage::none) {
    catalogue_.append_to(row_of(stage).target);
  }
}

// --- All of the log ---

Task<Status> Cleaner::clean_all() {
  co_await hold_round();
  std::vector<Segment> old;
  std::vector<Offset> undecided;
  Status status = co_await compress(old, undecided);
  if (status.ok()) {
    const std::vector<Segment> compressed = old;
    status = co_await merge(compressed, undecided, old);
  }
  if (!status.ok()) {
    co_await give_up();
    co_return status;
  }
  REMORA_CO_TRY(co_await end_old_pool(old));
  rounds_.lead_away_from(old);  // and not before: until then clients are led there
  co_await hold_round();
  co_return co_await free_old();
}

// What the pool holds now is scanned backwards. New versions go to it as ever.
Task<Status> Cleaner::compress(std::vector<Segment>& old, std::vector<Offset>& undecided) {
  enter(CleaningStage::compress);
  catalogue_.begin_cleaning(Catalogue::Goes::whole);
  catalogue_.log().list(DataPool::current, old);
  room_.begin_all(used_bytes_of(old));
  std::vector<Offset> offsets;
  std::vector<Tag> tags;
  std::uint64_t scanned_bytes = 0;
  for (std::size_t i = old.size(); i-- > 0;) {
    const Offset end = old[i].offset + old[i].used_bytes;
    catalogue_.collect(old[i], offsets, tags);
    REMORA_CO_TRY(check_whole(old[i], offsets));
    for (std::size_t at = offsets.size(); at-- > 0;) {
      if (offsets[at] >= end) {
        continue;  // it came after the beginning
      }
      catalogue_.look_ahead(tags, at);
      const Object object = catalogue_.log().at(offsets[at]);
      const Fate fate = catalogue_.judge(object, tags[at]);
      REMORA_CO_TRY(carry_out(fate, object, &undecided));
      if (turn_is_over(fate, object)) {
        room_.scanned_to(scanned_bytes + end - offsets[at]);
        co_await give_turn();
      }
    }
    scanned_bytes += old[i].used_bytes;
  }
  co_return Status();
}

// New versions go to the new pool. When every client has arrived in the round, nobody writes to the
// old one any more: its versions are complete now, or never.
Task<Status> Cleaner::merge(const std::vector<Segment>& compressed,
                            const std::vector<Offset>& undecided, std::vector<Segment>& old) {
  enter(CleaningStage::merge);
  room_.end_pace();
  co_await hold_round();
  catalogue_.log().list(DataPool::current, old);
  for (std::size_t i = old.size(); i-- > 0;) {
    const auto seen = std::ranges::find(compressed, old[i].number, &Segment::number);
    if (seen == compressed.end()) {
      REMORA_CO_TRY(co_await move_rest(old[i], 0));
    } else if (seen->used_bytes != old[i].used_bytes) {
      REMORA_CO_TRY(co_await move_rest(old[i], seen->offset + seen->used_bytes));
    }
  }
  for (const Offset offset : undecided) {
    REMORA_CO_TRY(co_await move_one(offset));
  }
  co_return Status();
}

Task<Status> Cleaner::move_rest(const Segment& segment, Offset from) {
  std::vector<Offset> offsets;
  catalogue_.log().collect(segment, offsets);
  REMORA_CO_TRY(check_whole(segment, offsets));
  for (std::size_t at = offsets.size(); at-- > 0 && offsets[at] >= from;) {
    REMORA_CO_TRY(co_await move_one(offsets[at]));
  }
  co_return Status();
}

Task<Status> Cleaner::end_old_pool(const std::vector<Segment>& old) {
  enter(CleaningStage::end);
  // Where the index led to a version that was given up, it leads to an older one from here on.
  REMORA_CO_TRY(co_await persist_marks());
  co_await persist_old(old);
  REMORA_CO_TRY(co_await persist_moves());
  REMORA_CO_TRY_RESULT(ended, catalogue_.log().end_old_pool());
  enter(CleaningStage::free);
  co_return co_await persistent(*ended);
}

// Both pools live on as one, and places go back to where the mark says: nobody READs by them
// meanwhile.
Task<void> Cleaner::give_up() {
  co_await rounds_.hold(Reads::asked);
  room_.end_pace();
  catalogue_.log().keep_both_pools();
  enter(CleaningStage::give_up);
  Tag from = 0;
  do {
    from = catalogue_.unflip(from, entries_per_turn);
    co_await background_.runtime().yield();
  } while (from != 0);
  co_await hold_round();
}

Task<void> Cleaner::persist_old(const std::vector<Segment>& old) {
  Tag from = 0;
  do {
    from = catalogue_.flip(from, entries_per_turn);
    co_await background_.runtime().yield();
  } while (from != 0);
  std::vector<Segment> kept;
  std::vector<Offset> offsets;
  catalogue_.log().list(DataPool::next, kept);
  for (const Segment& segment : kept) {
    catalogue_.log().collect(segment, offsets);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      catalogue_.unlink_old(catalogue_.log().at(offsets[i]), old);
      if (i % steps_per_turn == 0) {
        co_await background_.runtime().yield();
      }
    }
  }
}

// --- Versions, one by one ---

bool Cleaner::is_whole(const Segment& segment, const std::vector<Offset>& offsets) {
  const Offset end = offsets.empty()
                         ? segment.offset
                         : offsets.back() + catalogue_.log().at(offsets.back()).size_bytes();
  if (end == segment.offset + segment.used_bytes) [[likely]] {
    return true;
  }
  catalogue_.note_unreadable(end);
  return false;
}

// Otherwise what lies behind the damage would end with the old pool.
Status Cleaner::check_whole(const Segment& segment, const std::vector<Offset>& offsets) {
  return is_whole(segment, offsets)
             ? Status()
             : Status(Code::damaged, "a header in the log is damaged: all of it cannot be cleaned");
}

Task<Status> Cleaner::move_one(Offset offset) {
  const Object object = catalogue_.log().at(offset);
  const Fate fate = catalogue_.judge(object);
  REMORA_CO_TRY(carry_out(fate, object, nullptr));
  if (turn_is_over(fate, object)) {
    co_await give_turn();
  }
  co_return Status();
}

Status Cleaner::carry_out(Fate fate, const Object& object, std::vector<Offset>* undecided) {
  verifier_.wake_flagger();
  if (fate == Fate::keep) {
    REMORA_TRY_RESULT(ticket, catalogue_.move(object));
    note_copy(object, *ticket);
    if (!background_.faults().planted(faults::verifier_sleeps_on)) {
      verifier_.wake();  // on page media the copy is to be verified
    }
  } else if (fate == Fate::undecided) {
    if (undecided != nullptr) {
      undecided->push_back(object.offset());
    } else {
      verifier_.give_up(object);
    }
  }
  return {};
}

void Cleaner::note_copy(const Object& object, Ticket ticket) {
  last_move_ = ticket;
  room_.copied(object.size_bytes());
  ++moved_;
}

bool Cleaner::turn_is_over(Fate fate, const Object& object) {
  const bool is_passed = fate == Fate::stale || fate == Fate::hide;
  steps_ += is_passed ? 1 : stale_per_turn * (1 + object.size_bytes() / moved_bytes_per_turn);
  if (steps_ < stale_per_turn * (policy_.is_pressed() ? hurried_turns : 1)) {
    return false;
  }
  steps_ = 0;
  return true;
}

Task<void> Cleaner::give_turn() {
  co_await background_.charged();
  co_await background_.runtime().yield();
}

// --- What was cleared ---

// No client writes there after the round, nor reads. Nothing is judged or copied.
Task<Status> Cleaner::free_cleared() {
  std::vector<Segment> gone;
  catalogue_.log().list_cleared(gone);
  REMORA_CO_TRY(co_await persistent(catalogue_.last_tombstone()));
  snapshots_.end();
  rounds_.lead_away_from(gone);
  co_await rounds_.hold_again();
  catalogue_.log().retire(gone);
  const Status freed = co_await free_old();
  policy_.freed();
  ++ended_;
  co_return freed;
}

// --- What must be persistent first ---

Task<Status> Cleaner::persist_marks() {
  while (catalogue_.marks_pending()) {
    verifier_.wake();
    REMORA_CO_TRY(background_.region().failure());
    co_await background_.runtime().sleep_for(look_marks_ns);
  }
  co_return Status();
}

// So is all that was put until now: recovery misses nothing that goes once it is settled.
Task<Status> Cleaner::persist_moves() {
  const std::uint64_t newest = catalogue_.sequence();
  const Ticket all = Catalogue::drain_to_settle(background_);
  if (!background_.faults().planted(faults::clean_copies_unpersisted)) {
    REMORA_CO_TRY(co_await persistent(last_move_));
    REMORA_CO_TRY(co_await persistent(all));
  }
  REMORA_CO_TRY(co_await persistent(catalogue_.relied_on()));
  REMORA_CO_TRY(co_await persistent(catalogue_.last_tombstone()));
  if (!background_.faults().planted(faults::clean_before_settled)) {
    REMORA_CO_TRY(catalogue_.log().settle(newest).status());
  }
  co_return Status();
}

Task<Status> Cleaner::persistent(Ticket ticket) {
  return commits_.persistent(ticket);
}

// The worker may look at a version that goes.
Task<Status> Cleaner::free_old() {
  co_await verifier_.worker_is_idle();
  for (;;) {
    REMORA_CO_TRY_RESULT(left, catalogue_.log().free_dead(frees_per_turn));
    if (*left == 0) {
      break;
    }
    co_await background_.runtime().yield();
  }
  rounds_.forget_freed();
  peers_.drop_freed_segments();
  co_return Status();
}

}  // namespace remora::kv::efactory
