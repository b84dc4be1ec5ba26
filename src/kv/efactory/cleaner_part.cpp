// Cleaning of a part of the log, segment by segment.
#include "kv/efactory/cleaner.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

std::uint64_t size_of(const std::vector<Segment>& segments) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) {
    bytes += segment.capacity_bytes;
  }
  return bytes;
}

}  // namespace

// New versions go where they went, and gets go on: until the round at the end, what an entry led to
// is where it was. What is undecided may still be written: its segment stays. Segments that are not
// open get no more of those.
Task<Status> Cleaner::clean_part(const std::vector<Worth>& worth) {
  Log& log = catalogue_.log();
  REMORA_CO_TRY(co_await persist_marks());
  catalogue_.begin_cleaning(Catalogue::Goes::part);
  bool is_undecided = false;
  std::vector<Segment> gone;
  // Where one finds no room for a copy, others may need none, or smaller pieces.
  for (auto one = worth.begin(); one != worth.end() && one->living_bytes <= log.room_for_copies();
       ++one) {
    const Moved moved = co_await move_living(one->segment);
    is_undecided = is_undecided || moved == Moved::undecided;
    if (moved == Moved::all) {
      gone.push_back(one->segment);
    }
  }
  room_.end_pace();
  std::vector<Segment> copies;
  log.list(DataPool::next, copies);
  log.keep_both_pools();
  REMORA_CO_TRY(co_await persist_moves());
  enter(CleaningStage::free);
  rounds_.lead_away_from(gone);
  // A client that has put something there may still ask for it until it arrives.
  co_await hold_round();
  log.retire(gone);
  REMORA_CO_TRY(co_await free_old());
  std::uint64_t copied_bytes = 0;
  for (const Segment& segment : copies) {
    copied_bytes += segment.used_bytes;
  }
  policy_.weigh_part(copied_bytes, size_of(gone));
  if (size_of(gone) <= size_of(copies)) {
    co_return is_undecided ? Status(Code::in_use, "nothing could be cleaned yet")
                           : Status(Code::no_space, "nothing can be cleaned");
  }
  co_return Status();
}

Task<Cleaner::Moved> Cleaner::move_living(const Segment& segment) {
  Log& log = catalogue_.log();
  std::vector<Offset> offsets;
  std::vector<Tag> tags;
  catalogue_.collect(segment, offsets, tags);
  // One that is damaged stays as it is: nobody knows what it holds.
  if (offsets.empty() || !is_whole(segment, offsets)) {
    co_return Moved::damaged;
  }
  for (std::size_t at = offsets.size(); at-- > 0;) {
    catalogue_.look_ahead(tags, at);
    const Object object = log.at(offsets[at]);
    const Fate fate = catalogue_.judge(object, tags[at]);
    if (fate == Fate::undecided && !background_.faults().planted(faults::part_takes_undecided)) {
      co_return Moved::undecided;
    }
    if (fate == Fate::undecided || (fate == Fate::stale && object.invalid())) {
      catalogue_.bypass(object, tags[at]);
    }
    if ((fate == Fate::keep || fate == Fate::hide) && !copy_living(object, fate)) {
      co_return Moved::no_room;
    }
    verifier_.wake_flagger();
    room_.scanned(object.size_bytes());
    if (turn_is_over(fate, object)) {
      co_await give_turn();
    }
  }
  co_return Moved::all;
}

// Whether there was room for it.
bool Cleaner::copy_living(const Object& object, Fate fate) {
  const Result<Ticket> ticket =
      fate == Fate::hide ? catalogue_.move_hiding(object) : catalogue_.move(object);
  if (!ticket.ok()) {
    return false;
  }
  note_copy(object, *ticket);
  verifier_.wake();
  return true;
}

}  // namespace remora::kv::efactory
