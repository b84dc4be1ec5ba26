// Cleaning where there is no room for copies of all that lives: a server that was killed while it
// cleaned has left originals and copies, and a store may hold nearly half of its space. Segments
// that hold least go first, as many as there is room for; that makes room for more.
#include <algorithm>

#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

constexpr std::size_t steps_per_turn = 16;
constexpr std::uint64_t entries_per_turn = 256;
// A segment of which more than this part lives is not worth its copies.
constexpr std::uint64_t parts = 16;
constexpr std::uint64_t most_living_parts = 15;

std::uint64_t size_of(const std::vector<Segment>& segments) {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments) {
    bytes += segment.capacity_bytes;
  }
  return bytes;
}

}  // namespace

bool EfactoryServer::has_room_for_all() const {
  const LogUsage usage = catalogue_->log().usage();
  return usage.segment_bytes + needed_for_copies() <= usage.total_bytes;
}

// Nobody READs by places meanwhile, and new versions go where they went. What is undecided may
// still be written: its segment stays. Segments that are not open get no more of those.
Task<Status> EfactoryServer::clean_part() {
  Log& log = catalogue_->log();
  co_await round(Reads::asked);
  REMORA_CO_TRY(co_await settle_marks());
  std::vector<Worth> worth;
  catalogue_->begin_cleaning(Catalogue::Goes::part);
  bool is_undecided = co_await find_worth(worth);
  std::vector<Segment> gone;
  Moved moved = Moved::all;
  for (auto one = worth.begin();
       one != worth.end() && moved != Moved::no_room && one->living_bytes <= log.room_for_copies();
       ++one) {
    moved = co_await move_living(one->segment);
    is_undecided = is_undecided || moved == Moved::undecided;
    if (moved == Moved::all) {
      gone.push_back(one->segment);
    }
  }
  std::vector<Segment> copies;
  log.list(DataPool::next, copies);
  co_await keep_both_pools();
  Tag from = 0;
  do {
    from = catalogue_->lead_away(from, entries_per_turn, gone);
    co_await background_.runtime().yield();
  } while (from != 0);
  co_await unlink(gone);
  REMORA_CO_TRY(co_await settle_moves());
  // Whoever has put something there may still ask for it until it arrives.
  co_await round(Reads::by_mark);
  log.retire(gone);
  REMORA_CO_TRY(co_await free_old());
  if (size_of(gone) <= size_of(copies)) {
    co_return is_undecided ? Status(Code::in_use, "nothing could be cleaned yet")
                           : Status(Code::no_space, "nothing can be cleaned");
  }
  ++cleaned_parts_;
  co_return Status();
}

Task<bool> EfactoryServer::find_worth(std::vector<Worth>& worth) {
  Log& log = catalogue_->log();
  std::vector<Segment> segments;
  std::vector<Offset> offsets;
  bool is_undecided = false;
  log.list(DataPool::current, segments);
  // What is open now may be full, and closed, before it is looked at.
  std::erase_if(segments, [&log](const Segment& segment) { return log.is_open(segment); });
  for (const Segment& segment : segments) {
    log.collect(segment, offsets);
    std::uint64_t living_bytes = 0;
    bool is_decided = true;
    for (std::size_t i = 0; i < offsets.size() && is_decided; ++i) {
      const Object object = log.at(offsets[i]);
      const Catalogue::Fate fate = catalogue_->judge(object);
      living_bytes += fate == Catalogue::Fate::keep ? object.size_bytes()
                      : fate == Catalogue::Fate::hide
                          ? object_format::size_bytes(object.key().size(), 0)
                          : 0;
      is_decided = fate != Catalogue::Fate::undecided ||
                   background_.faults().planted(faults::part_takes_undecided);
      if (i % steps_per_turn == 0) {
        co_await background_.settled();
        co_await background_.runtime().yield();
      }
    }
    is_undecided = is_undecided || !is_decided;
    // One that is damaged stays as it is: nobody knows what it holds.
    const bool is_whole =
        !offsets.empty() &&
        offsets.back() + log.at(offsets.back()).size_bytes() == segment.offset + segment.used_bytes;
    if (is_decided && is_whole &&
        living_bytes <= segment.capacity_bytes / parts * most_living_parts) {
      worth.push_back({segment, living_bytes});
    }
  }
  wake_flagger();
  std::ranges::stable_sort(worth, {}, &Worth::living_bytes);
  co_return is_undecided;
}

Task<EfactoryServer::Moved> EfactoryServer::move_living(const Segment& segment) {
  std::vector<Offset> offsets;
  catalogue_->log().collect(segment, offsets);
  for (std::size_t i = offsets.size(); i-- > 0;) {
    const Object object = catalogue_->log().at(offsets[i]);
    const Catalogue::Fate fate = catalogue_->judge(object);
    if (fate == Catalogue::Fate::undecided &&
        !background_.faults().planted(faults::part_takes_undecided)) {
      co_return Moved::undecided;
    }
    if (fate == Catalogue::Fate::keep || fate == Catalogue::Fate::hide) {
      const Result<Ticket> ticket = fate == Catalogue::Fate::hide ? catalogue_->move_hiding(object)
                                                                  : catalogue_->move(object);
      if (!ticket.ok()) {
        co_return Moved::no_room;
      }
      last_move_ = *ticket;
      ++moved_;
      wake_verifier();
    }
    wake_flagger();
    co_await background_.settled();
    co_await background_.runtime().yield();
  }
  co_return Moved::all;
}

Task<void> EfactoryServer::unlink(const std::vector<Segment>& gone) {
  Log& log = catalogue_->log();
  std::vector<Segment> segments;
  std::vector<Offset> offsets;
  log.list(DataPool::current, segments);
  for (const Segment& segment : segments) {
    if (std::ranges::find(gone, segment.number, &Segment::number) != gone.end()) {
      continue;
    }
    log.collect(segment, offsets);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      catalogue_->unlink_old(log.at(offsets[i]), gone);
      if (i % steps_per_turn == 0) {
        co_await background_.runtime().yield();
      }
    }
  }
}

}  // namespace remora::kv::efactory
