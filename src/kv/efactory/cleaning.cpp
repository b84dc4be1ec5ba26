// Cleaning of the log and growth of the index; the rounds that tell clients of both are in
// rounds.cpp, and the cleaning of a part in cleaning_part.cpp.
#include <algorithm>

#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t look_marks_ns = 1'000;
constexpr std::uint64_t look_worker_ns = 1'000;
constexpr std::size_t steps_per_turn = 8;
constexpr std::uint64_t entries_per_turn = 256;
constexpr std::size_t frees_per_turn = 2;
// Stale versions that are passed before requests have their turn; one that is moved takes as long,
// and longer if it is large.
constexpr std::uint64_t stale_per_turn = 32;
constexpr std::uint64_t moved_bytes_per_turn = 8 << 10;
// Such turns in one, once a put had to wait for the cleaning.
constexpr std::uint64_t hurried_turns = 3;
// What copies may waste at the ends of segments, and those that are open.
constexpr std::uint64_t spare_segments = 2;
// After a cleaning that found no room for its copies.
constexpr std::uint64_t clean_again_ns = 1'000'000;
constexpr std::uint64_t look_room_ns = 50'000;
// What puts may take of their room before anything was scanned.
constexpr double first_share = 1.0 / 16;
// A segment of which more than this lives is not worth its copies.
constexpr std::uint64_t most_living_percent = 93;

std::uint64_t used_bytes_of(const std::vector<Segment>& segments) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) {
    bytes += segment.used_bytes;
  }
  return bytes;
}

}  // namespace

// --- Room ---

// Cleaning copies what lives, and must always find room for that: what puts may take is the rest.
// While the log is compressed, what is put has to be copied too; but of each key no more than one
// version now, and once more the one that is the newest when new versions go to the new pool. A
// version counts as long as the one that replaces it may never come.
std::uint64_t EfactoryServer::needed_for_copies() const {
  const std::uint64_t live_bytes = catalogue_->live_bytes();
  const std::uint64_t most_bytes = 2 * std::max(live_bytes, live_at_begin_);
  return (copying_ ? std::min(to_copy_bytes_, most_bytes) : live_bytes) +
         spare_segments * catalogue_->log().segment_bytes();
}

bool EfactoryServer::admits(std::uint64_t size_bytes) const {
  const LogUsage usage = catalogue_->log().usage();
  const std::uint64_t segment = std::max(size_bytes, catalogue_->log().segment_bytes());
  const bool leaves_room =
      usage.segment_bytes + segment + needed_for_copies() + size_bytes <= usage.total_bytes;
  return leaves_room || !(cleaning_ || wants_cleaning());
}

void EfactoryServer::took(std::uint64_t size_bytes) {
  to_copy_bytes_ += compressing_ ? size_bytes : 0;
}

// Puts that come faster than the log is scanned would use up their room at once, and then all wait
// until the end of the cleaning. So each waits a little instead. A large one may take more than its
// share, or it would never find enough among small ones; the next wait until that is made good.
bool EfactoryServer::in_pace() const {
  if (pace_.to_scan_bytes == 0) {
    return true;
  }
  const double scanned =
      static_cast<double>(pace_.scanned_bytes) / static_cast<double>(pace_.to_scan_bytes);
  return static_cast<double>(pace_.taken_bytes) <
         static_cast<double>(pace_.room_bytes) * (first_share + scanned);
}

void EfactoryServer::set_pace(std::uint64_t to_scan_bytes) {
  const LogUsage usage = catalogue_->log().usage();
  const std::uint64_t left_bytes =
      usage.total_bytes - std::min(usage.total_bytes, usage.segment_bytes + needed_for_copies());
  // What is put while the log is compressed takes room for its copy too, as long as there is none.
  const std::uint64_t twice_bytes =
      compressing_ ? std::min(left_bytes / 2, catalogue_->live_bytes()) : 0;
  pace_ = {.room_bytes = left_bytes - twice_bytes, .to_scan_bytes = to_scan_bytes};
}

Task<Status> EfactoryServer::room() {
  full_ = true;
  const std::uint64_t before = ended_;
  while (ended_ == before && (cleaning_ || wants_cleaning())) {
    wake_tidy();
    REMORA_CO_TRY(background_.region().failure());
    co_await background_.runtime().sleep_for(look_room_ns);
  }
  co_return ended_ != before
      ? Status()
      : Status(Code::no_space, "the pool is full: delete something, or use a larger pool");
}

// --- Cleaning and growth ---

bool EfactoryServer::is_told_to_clean() const {
  const bool always = options_.clean_always && catalogue_->log().usage().appended_bytes != 0;
  return always || (background_.faults().planted(faults::cleans_for_ever) && cleaned_ != 0);
}

bool EfactoryServer::wants_cleaning() const {
  if (!catalogue_->log().changeable().ok()) [[unlikely]] {
    return false;
  }
  if (is_told_to_clean()) {
    return true;
  }
  const LogUsage usage = catalogue_->log().usage();
  // What cleaning left is not worth cleaning again until as much has come on top, or has died.
  const std::uint64_t left =
      usage.total_bytes - std::min(usage.total_bytes, usage.segment_bytes + usage.reserve_bytes);
  const std::uint64_t step =
      std::max(catalogue_->log().segment_bytes(), std::min(used_after_clean_ / 8, left / 2));
  // A cleaning of a part has left much that a put which finds no room is worth.
  const std::uint64_t left_over =
      full_ && part_last_ ? catalogue_->live_bytes() : used_after_clean_;
  const bool is_worthwhile = usage.appended_bytes > left_over + step ||
                             catalogue_->live_bytes() + step < live_after_clean_;
  return is_worthwhile && (must_clean() || looks_for_cheap());
}

bool EfactoryServer::must_clean() const {
  const LogUsage usage = catalogue_->log().usage();
  // Somewhat before puts have to wait for it.
  const bool is_tight = usage.segment_bytes + catalogue_->live_bytes() +
                            2 * spare_segments * catalogue_->log().segment_bytes() >
                        usage.total_bytes;
  return full_ || is_tight || is_told_to_clean() ||
         usage.segment_bytes * 100 > usage.total_bytes * options_.clean_at_percent;
}

Task<void> EfactoryServer::tidy() {
  for (;;) {
    if (catalogue_->index().crowded()) {
      growing_ = true;
      co_await grow();
      growing_ = false;
    } else if (wants_cleaning() && !is_held()) {
      co_await clean_something();
      if (!background_.region().failure().ok()) {
        co_return;
      }
    } else if (forgets_grants_) {
      co_await round(reads_);
      forgets_grants_ = false;
    } else {
      co_await to_tidy_.emplace(background_.runtime());
    }
  }
}

Task<void> EfactoryServer::clean_something() {
  std::vector<Worth> worth = cheap_segments();
  const bool cheap = !worth.empty();
  if (!cheap && !must_clean()) {
    co_return;
  }
  cleaning_ = true;
  if (!background_.faults().planted(faults::clean_under_snapshot)) {
    snapshot_.reset();
  }
  const bool all = !cheap && has_room_for_all() && !part_first_;
  const bool in_parts = options_.cleaning == Cleaning::parts;
  if (!cheap && !all) {
    worth = closed_segments(most_living_percent);
  }
  // Cheap ones need no room for copies of all that lives, but for theirs.
  copying_ = cheap;
  to_copy_bytes_ = 0;
  std::uint64_t to_scan_bytes = 0;
  for (const Worth& one : worth) {
    to_copy_bytes_ += one.living_bytes;
    to_scan_bytes += one.segment.used_bytes;
  }
  if (cheap) {
    set_pace(to_scan_bytes);
  }
  Task<Status> work = all ? clean() : clean_part(std::move(worth));
  const Status status = co_await std::move(work);
  part_first_ = all ? status.code() == Code::no_space || in_parts : status.ok() && in_parts;
  // What is cheap and cannot be cleaned, as what is undecided, ends with a cleaning of all.
  all_next_ = !all && (all_next_ || (cheap && !status.ok()));
  part_last_ = !all;
  look_again_bytes_ = 0;
  // What a cleaning could not do is still worth doing, if it can be done.
  const bool is_done = all || cheap ? status.ok() : status.code() == Code::no_space || in_parts;
  live_after_clean_ = catalogue_->live_bytes();
  used_after_clean_ = is_done ? catalogue_->log().usage().appended_bytes : live_after_clean_;
  full_ = false;
  pace_ = {};
  copying_ = false;
  cleaning_ = false;
  ++ended_;
  if (!status.ok() && background_.region().failure().ok()) {
    co_await background_.runtime().sleep_for(clean_again_ns);
  }
}

Task<Status> EfactoryServer::clean() {
  Log& log = catalogue_->log();
  co_await round(reads_while_cleaning());

  // Compressing: what the pool holds now is scanned backwards; new versions go to it as ever.
  live_at_begin_ = to_copy_bytes_ = catalogue_->live_bytes();
  copying_ = true;
  compressing_ = true;
  catalogue_->begin_cleaning(Catalogue::Goes::whole);
  std::vector<Segment> old;
  log.list(DataPool::current, old);
  set_pace(used_bytes_of(old));
  std::vector<Offset> undecided;
  Status status = co_await move_all(old, undecided);
  if (!status.ok()) {
    co_await give_up();
    co_return status;
  }
  const std::vector<Segment> compressed = old;

  // Merging: new versions go to the new pool. When every client has arrived in the next round,
  // nobody writes to the old one any more: its versions are complete now, or never.
  catalogue_->append_to(DataPool::next);
  compressing_ = false;
  pace_ = {};
  co_await round(reads_while_cleaning());
  log.list(DataPool::current, old);
  std::vector<Offset> offsets;
  for (std::size_t i = old.size(); i-- > 0;) {
    const auto seen = std::find_if(compressed.begin(), compressed.end(),
                                   [&](const Segment& was) { return was.number == old[i].number; });
    if (seen != compressed.end() && seen->used_bytes == old[i].used_bytes) {
      continue;  // nothing came after the beginning, and to look for it would be to read it all
    }
    log.collect(old[i], offsets);
    for (std::size_t at = offsets.size(); at-- > 0;) {
      if (seen != compressed.end() && offsets[at] < seen->offset + seen->used_bytes) {
        break;
      }
      status = co_await move_one(offsets[at], nullptr);
      if (!status.ok()) {
        break;
      }
    }
    if (!status.ok()) {
      break;
    }
  }
  for (std::size_t i = 0; i < undecided.size() && status.ok(); ++i) {
    status = co_await move_one(undecided[i], nullptr);
  }
  if (!status.ok()) {
    co_await give_up();
    co_return status;
  }
  // Where the index led to a version that was given up, it leads to an older one from here on.
  REMORA_CO_TRY(co_await settle_marks());
  co_await settle_old(old);
  REMORA_CO_TRY(co_await settle_moves());
  leaving_ = old;
  const Result<Ticket> ended = log.end_old_pool();
  if (!ended.ok()) {
    co_return ended.status();
  }
  catalogue_->append_to(DataPool::current);
  REMORA_CO_TRY(co_await persistent(*ended));
  co_await round(Reads::by_mark);
  REMORA_CO_TRY(co_await free_old());
  ++cleaned_;
  co_return Status();
}

Task<Status> EfactoryServer::settle_marks() {
  while (catalogue_->marks_pending()) {
    wake_verifier();
    REMORA_CO_TRY(background_.region().failure());
    co_await background_.runtime().sleep_for(look_marks_ns);
  }
  co_return Status();
}

Task<Status> EfactoryServer::settle_moves() {
  if (!background_.faults().planted(faults::clean_copies_unpersisted)) {
    REMORA_CO_TRY(co_await persistent(last_move_));
  }
  REMORA_CO_TRY(co_await persistent(catalogue_->relied_on()));
  co_return co_await persistent(catalogue_->last_tombstone());
}

Task<Status> EfactoryServer::free_old() {
  while (aside_ != 0) {  // the worker looks at a version that may be of the old pool
    co_await background_.runtime().sleep_for(look_worker_ns);
  }
  for (;;) {
    const Result<std::size_t> left = catalogue_->log().free_dead(frees_per_turn);
    if (!left.ok()) {
      co_return left.status();
    }
    if (*left == 0) {
      break;
    }
    co_await background_.runtime().yield();
  }
  leaving_.clear();
  for (auto& [id, peer] : peers_) {
    if (peer.segments != nullptr) {
      peer.segments->drop_freed();
    }
  }
  co_return Status();
}

// There was no room for the copies. Both pools live on as one, and places go back to where the mark
// says: nobody READs by them meanwhile.
Task<void> EfactoryServer::give_up() {
  co_await round(Reads::asked);
  compressing_ = false;
  pace_ = {};
  co_await keep_both_pools();
  co_await round(Reads::by_mark);
}

Task<void> EfactoryServer::keep_both_pools() {
  catalogue_->log().keep_both_pools();
  catalogue_->append_to(DataPool::current);
  Tag from = 0;
  do {
    from = catalogue_->unflip(from, entries_per_turn);
    co_await background_.runtime().yield();
  } while (from != 0);
}

Task<Status> EfactoryServer::move_all(const std::vector<Segment>& segments,
                                      std::vector<Offset>& undecided) {
  std::vector<Offset> offsets;
  std::vector<Tag> tags;
  std::uint64_t scanned_bytes = 0;
  for (std::size_t i = segments.size(); i-- > 0;) {
    catalogue_->collect(segments[i], offsets, tags);
    for (std::size_t at = offsets.size(); at-- > 0;) {
      if (offsets[at] >= segments[i].offset + segments[i].used_bytes) {
        continue;  // it came after the beginning
      }
      catalogue_->look_ahead(tags, at);
      const Object object = catalogue_->log().at(offsets[at]);
      const Catalogue::Fate fate = catalogue_->judge(object, tags[at]);
      REMORA_CO_TRY(carry_out(fate, object, &undecided));
      if (turn_is_over(fate, object)) {
        pace_.scanned_bytes =
            scanned_bytes + segments[i].offset + segments[i].used_bytes - offsets[at];
        co_await background_.settled();
        co_await background_.runtime().yield();
      }
    }
    scanned_bytes += segments[i].used_bytes;
  }
  co_return Status();
}

Task<Status> EfactoryServer::move_one(Offset offset, std::vector<Offset>* undecided) {
  const Object object = catalogue_->log().at(offset);
  const Catalogue::Fate fate = catalogue_->judge(object);
  REMORA_CO_TRY(carry_out(fate, object, undecided));
  if (turn_is_over(fate, object)) {
    co_await background_.settled();
    co_await background_.runtime().yield();
  }
  co_return Status();
}

Status EfactoryServer::carry_out(Catalogue::Fate fate, const Object& object,
                                 std::vector<Offset>* undecided) {
  wake_flagger();
  if (fate == Catalogue::Fate::keep) {
    const Result<Ticket> ticket = catalogue_->move(object);
    if (!ticket.ok()) {
      return ticket.status();
    }
    last_move_ = *ticket;
    to_copy_bytes_ -= std::min<std::uint64_t>(to_copy_bytes_, object.size_bytes());
    ++moved_;
    if (!background_.faults().planted(faults::verifier_sleeps_on)) {
      wake_verifier();  // on page media the copy is to be verified
    }
  } else if (fate == Catalogue::Fate::undecided) {
    if (undecided != nullptr) {
      undecided->push_back(object.offset());
    } else {
      invalidated_ += object.invalid() ? 0u : 1u;
      catalogue_->give_up(object);
    }
  }
  return {};
}

bool EfactoryServer::turn_is_over(Catalogue::Fate fate, const Object& object) {
  const bool is_passed = fate == Catalogue::Fate::stale || fate == Catalogue::Fate::hide;
  steps_ += is_passed ? 1 : stale_per_turn * (1 + object.size_bytes() / moved_bytes_per_turn);
  if (steps_ < stale_per_turn * (full_ ? hurried_turns : 1)) {
    return false;
  }
  steps_ = 0;
  return true;
}

// Everything leads to the new pool, and nothing in it to the old.
Task<void> EfactoryServer::settle_old(const std::vector<Segment>& old) {
  Tag from = 0;
  do {
    from = catalogue_->flip(from, entries_per_turn);
    co_await background_.runtime().yield();
  } while (from != 0);
  std::vector<Segment> kept;
  std::vector<Offset> offsets;
  catalogue_->log().list(DataPool::next, kept);
  for (const Segment& segment : kept) {
    catalogue_->log().collect(segment, offsets);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      catalogue_->unlink_old(catalogue_->log().at(offsets[i]), old);
      if (i % steps_per_turn == 0) {
        co_await background_.runtime().yield();
      }
    }
  }
}

Task<void> EfactoryServer::grow() {
  co_await round(Reads::asked);
  catalogue_->begin_growth();
  while (!catalogue_->index().grow(entries_per_turn)) {
    co_await background_.runtime().yield();
  }
  const Catalogue::Table old = catalogue_->end_growth();
  rpc_->for_each([&](const rpc::Session& session) {
    if (!share_index(session, peers_.at(session.id)).ok()) {
      rpc_->disconnect(session.id);
    }
  });
  co_await round(Reads::by_mark);
  for (auto& [id, peer] : peers_) {
    peer.old_index.reset();
  }
}

}  // namespace remora::kv::efactory
