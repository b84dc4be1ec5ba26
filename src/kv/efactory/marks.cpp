// Damage: the marks that say how far the log is known to be persistent, and the verification of
// what recovery found.
#include <algorithm>

#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

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

bool EfactoryServer::note_bounds() {
  std::vector<Offset> undecided;
  catalogue_->list_undecided(undecided);
  if (in_hand_ != 0) {
    undecided.push_back(in_hand_);
  }
  return catalogue_->log().note_bounds(undecided);
}

// What a mark says is persistent before the mark is written: a record may reach the medium at once.
// The commit that others ask for is waited for, as long as that is not too long; the one that makes
// the marks persistent likewise.
Task<void> EfactoryServer::move_marks() {
  const std::uint64_t every_ns = std::max<std::uint64_t>(options_.mark_every_ns, 1);
  for (;;) {
    co_await background_.runtime().sleep_for(every_ns);
    const Status tended = co_await tend_pool();
    if (!tended.ok()) {
      co_return;
    }
    if (!note_bounds()) {
      continue;
    }
    Ticket noted = background_.drain();
    if (background_.faults().planted(faults::mark_not_awaited)) {
      noted = {};
    }
    const Status settled = co_await commits_.persistent_by_others(noted, every_ns / 2);
    if (!settled.ok()) {
      co_return;
    }
    const Result<Ticket> moved = catalogue_->log().move_marks(transactions_per_turn);
    if (!moved.ok()) {
      co_return;
    }
    const Status kept = co_await commits_.persistent_by_others(*moved, every_ns / 2);
    if (!kept.ok()) {
      co_return;
    }
  }
}

// On page media each step of it waits for a commit.
Task<Status> EfactoryServer::tend_pool() {
  for (int step = 0; step < steps_of_tending; ++step) {
    const Result<bool> goes_on = catalogue_->log().tend();
    if (!goes_on.ok() || !*goes_on) {
      co_return goes_on.status();
    }
    co_await background_.runtime().sleep_for(
        std::max<std::uint64_t>(options_.mark_every_ns / 8, 1));
  }
  co_return Status();
}

Status EfactoryServer::finish() {
  if (!note_bounds()) {
    return background_.region().failure();
  }
  REMORA_TRY(background_.region().wait(background_.drain()));
  const Result<Ticket> moved = catalogue_->log().move_marks(SIZE_MAX);
  return moved.ok() ? background_.region().wait(*moved) : moved.status();
}

// Segment by segment. Once all of one was seen, and whatever a process that was killed left of it
// in the processor's caches is on the medium, its mark may move.
Task<void> EfactoryServer::verify_recovered() {
  Log& log = catalogue_->log();
  const std::vector<Segment> segments = catalogue_->recovered_segments();
  std::vector<Offset> offsets;
  std::vector<Tag> tags;
  for (const Segment& segment : segments) {
    if (!log.has(segment)) {
      continue;
    }
    co_await background_.runtime().yield();
    catalogue_->collect(segment, offsets, tags);
    std::uint64_t bytes = 0;
    bool is_there = true;
    for (std::size_t i = 0; i < offsets.size() && is_there; ++i) {
      const Object object = log.at(offsets[i]);
      const Catalogue::Verdict verdict = catalogue_->verify(object, tags[i], background_);
      verified_keys_ += verdict == Catalogue::Verdict::open ? 0 : 1;
      const bool is_newest = verdict == Catalogue::Verdict::sound;
      const Status settled = background_.region().settle(object.bytes().first(
          is_newest ? object.size_bytes() : object_format::value_begin(object.key().size())));
      if (!settled.ok()) {
        co_return;
      }
      bytes += is_newest ? object.size_bytes() : 0;
      if (bytes >= recovered_bytes_per_turn || i % recovered_objects_per_turn == 0) {
        bytes = 0;
        co_await background_.settled();
        co_await background_.runtime().yield();
        is_there = log.has(segment);
      }
    }
    if (is_there) {
      log.settled(segment.number);
    }
  }
  all_verified_ = true;
}

std::uint64_t EfactoryServer::verified_keys() const {
  return all_verified_ ? catalogue_->recovered_keys()
                       : std::min(verified_keys_, catalogue_->recovered_keys());
}

}  // namespace remora::kv::efactory
