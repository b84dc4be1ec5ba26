#include "kv/efactory/marks.h"

#include <algorithm>
#include <vector>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

// Several at most, each with two dozen marks: more come next time.
constexpr std::size_t transactions_per_turn = 8;
// Records become persistent, their words, and then the mark that says so.
constexpr int steps_of_tending = 3;
// What is verified before requests have their turn.
constexpr std::uint64_t recovered_bytes_per_turn = 32 << 10;
constexpr std::size_t recovered_objects_per_turn = 64;

}  // namespace

Marks::Marks(Catalogue& catalogue, Committer& commits, const Verifier& verifier,
             std::uint64_t every_ns)
    : catalogue_(catalogue),
      background_(catalogue.background()),
      commits_(commits),
      verifier_(verifier),
      every_ns_(every_ns) {}

bool Marks::note_bounds() {
  std::vector<Offset> undecided;
  catalogue_.list_undecided(undecided);
  if (verifier_.in_hand() != 0) {
    undecided.push_back(verifier_.in_hand());
  }
  return catalogue_.log().note_bounds(undecided);
}

bool Marks::has_unsettled() const {
  const Log& log = catalogue_.log();
  return catalogue_.sequence() > log.settled() && log.changeable().ok();
}

Task<void> Marks::move_always() {
  for (;;) {
    co_await background_.runtime().sleep_for(std::max<std::uint64_t>(every_ns_, 1));
    const Status tended = co_await tend_pool();
    if (!tended.ok()) {
      co_return;
    }
    const bool is_unsettled = has_unsettled();
    if (note_bounds() || is_unsettled) {
      const Status moved = co_await move();
      if (!moved.ok()) {
        co_return;
      }
    }
  }
}

// What a mark says, or what is settled, is persistent before the mark is written: a record may
// reach the medium at once. This waits for the commit that others ask for, as long as that is not
// too long, and likewise for the one that makes the marks persistent.
Task<Status> Marks::move() {
  const std::uint64_t patience_ns = std::max<std::uint64_t>(every_ns_, 1) / 2;
  const std::uint64_t newest = catalogue_.sequence();
  Ticket noted = Catalogue::drain_to_settle(background_);
  if (background_.faults().planted(faults::mark_not_awaited)) {
    noted = {};
  }
  REMORA_CO_TRY(co_await commits_.persistent_by(noted, patience_ns));
  REMORA_CO_TRY(catalogue_.log().settle(newest).status());
  REMORA_CO_TRY_RESULT(moved, catalogue_.log().move_marks(transactions_per_turn));
  co_return co_await commits_.persistent_by(*moved, patience_ns);
}

// On page media each step of it waits for a commit.
Task<Status> Marks::tend_pool() {
  for (int step = 0; step < steps_of_tending; ++step) {
    const Result<bool> goes_on = catalogue_.log().tend();
    if (!goes_on.ok() || !*goes_on) {
      co_return goes_on.status();
    }
    co_await background_.runtime().sleep_for(std::max<std::uint64_t>(every_ns_ / 8, 1));
  }
  co_return Status();
}

Status Marks::finish() {
  const bool is_unsettled = has_unsettled();
  if (!note_bounds() && !is_unsettled) {
    return background_.region().failure();
  }
  REMORA_TRY(background_.region().wait(background_.drain()));
  REMORA_TRY(catalogue_.log().settle(catalogue_.sequence()).status());
  const Result<Ticket> moved = catalogue_.log().move_marks(SIZE_MAX);
  return moved.ok() ? background_.region().wait(*moved) : moved.status();
}

// --- What recovery found ---

Task<void> Marks::verify_recovered() {
  const std::vector<Segment> segments = catalogue_.recovered_segments();
  for (const Segment& segment : segments) {
    if (catalogue_.log().has(segment)) {
      co_await background_.runtime().yield();
      const Status verified = co_await verify_segment(segment);
      if (!verified.ok()) {
        co_return;
      }
    }
  }
  all_verified_ = true;
}

// Once all of a segment was seen, and what a process that was killed left of it in the processor's
// caches is on the medium, its mark may move.
Task<Status> Marks::verify_segment(const Segment& segment) {
  Log& log = catalogue_.log();
  std::vector<Offset> offsets;
  std::vector<Tag> tags;
  catalogue_.collect(segment, offsets, tags);
  std::uint64_t bytes = 0;
  bool is_there = true;
  for (std::size_t i = 0; i < offsets.size() && is_there; ++i) {
    const Object object = log.at(offsets[i]);
    const Catalogue::Verdict verdict = catalogue_.verify(object, tags[i], background_);
    verified_keys_ += verdict == Catalogue::Verdict::open ? 0 : 1;
    const bool is_newest = verdict == Catalogue::Verdict::sound;
    REMORA_CO_TRY(background_.region().persist_found(object.bytes().first(
        is_newest ? object.size_bytes() : object_format::value_begin(object.key().size()))));
    bytes += is_newest ? object.size_bytes() : 0;
    if (bytes >= recovered_bytes_per_turn || i % recovered_objects_per_turn == 0) {
      bytes = 0;
      co_await background_.charged();
      co_await background_.runtime().yield();
      is_there = log.has(segment);
    }
  }
  if (is_there) {
    log.note_decided(segment.number);
  }
  co_return Status();
}

std::uint64_t Marks::verified_keys() const {
  return all_verified_ ? catalogue_.recovered_keys()
                       : std::min(verified_keys_, catalogue_.recovered_keys());
}

}  // namespace remora::kv::efactory
