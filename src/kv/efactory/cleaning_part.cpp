// Cleaning of a part of the log, segment by segment. Two uses:
//  - Most of what lies in old segments was overwritten since. Those of which little lives are freed
//    at the price of few copies, where a cleaning of all copies whatever lives.
//  - Where there is no room for copies of all that lives: a server that was killed while it cleaned
//    has left originals and copies, and a store may hold nearly half of its space. Segments that
//    hold least go first, as many as there is room for; that makes room for more.
#include <algorithm>

#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

// Of a segment that is cheap to clean no more than this lives.
constexpr std::uint64_t cheap_percent = 12;
// So much of the log in cheap segments is worth a round.
constexpr std::uint64_t enough_percent = 12;
// They are looked for somewhat before anything must be cleaned.
constexpr std::uint64_t early_percent = 80;
// Copies of more than this part of what went are too many: deletions that nothing leads to, which
// only a cleaning of all ends.
constexpr std::uint64_t many_copies = 4;

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

bool EfactoryServer::may_be_cheap() const {
  return options_.cleaning == Cleaning::cheapest && !options_.clean_always && !all_next_;
}

bool EfactoryServer::looks_for_cheap() const {
  const LogUsage usage = catalogue_->log().usage();
  return may_be_cheap() && usage.segment_bytes >= look_again_bytes_ &&
         usage.segment_bytes * 100 * 100 >
             usage.total_bytes * options_.clean_at_percent * early_percent;
}

std::vector<EfactoryServer::Worth> EfactoryServer::closed_segments(
    std::uint64_t most_living) const {
  const Log& log = catalogue_->log();
  std::vector<Segment> segments;
  std::vector<Worth> worth;
  log.list(DataPool::current, segments);
  for (const Segment& segment : segments) {
    const std::uint64_t living_bytes = catalogue_->living_bytes(segment);
    // What is open now may be full, and closed, before it is looked at.
    if (!log.is_open(segment) && living_bytes <= segment.capacity_bytes / 100 * most_living) {
      worth.push_back({segment, living_bytes});
    }
  }
  std::ranges::stable_sort(worth, {}, &Worth::living_bytes);
  return worth;
}

std::vector<EfactoryServer::Worth> EfactoryServer::cheap_segments() {
  if (!may_be_cheap()) {
    return {};
  }
  const LogUsage usage = catalogue_->log().usage();
  std::vector<Worth> cheap = closed_segments(cheap_percent);
  std::uint64_t cheap_bytes = 0;
  std::uint64_t living_bytes = 0;
  for (const Worth& one : cheap) {
    cheap_bytes += one.segment.capacity_bytes;
    living_bytes += one.living_bytes;
  }
  // Deletions count there, and end with a cleaning of all, which copies none.
  const bool costs_more =
      has_room_for_all() && living_bytes >= catalogue_->live_bytes() && living_bytes != 0;
  if (cheap_bytes < usage.total_bytes / 100 * enough_percent || costs_more) {
    look_again_bytes_ = usage.segment_bytes + catalogue_->log().segment_bytes();
    return {};
  }
  return cheap;
}

// New versions go where they went, and gets go on: until the round at the end, what an entry led to
// is where it was. What is undecided may still be written: its segment stays. Segments that are not
// open get no more of those.
Task<Status> EfactoryServer::clean_part(std::vector<Worth> worth) {
  Log& log = catalogue_->log();
  REMORA_CO_TRY(co_await settle_marks());
  catalogue_->begin_cleaning(Catalogue::Goes::part);
  bool is_undecided = false;
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
  pace_ = {};
  std::vector<Segment> copies;
  log.list(DataPool::next, copies);
  log.keep_both_pools();
  REMORA_CO_TRY(co_await settle_moves());
  leaving_ = gone;
  // Whoever has put something there may still ask for it until it arrives.
  co_await round(Reads::by_mark);
  log.retire(gone);
  REMORA_CO_TRY(co_await free_old());
  std::uint64_t copied_bytes = 0;
  for (const Segment& segment : copies) {
    copied_bytes += segment.used_bytes;
  }
  all_next_ = copied_bytes * many_copies > size_of(gone) ||
              (copied_bytes != 0 && copied_bytes >= catalogue_->live_bytes());
  if (size_of(gone) <= size_of(copies)) {
    co_return is_undecided ? Status(Code::in_use, "nothing could be cleaned yet")
                           : Status(Code::no_space, "nothing can be cleaned");
  }
  ++cleaned_parts_;
  co_return Status();
}

Task<EfactoryServer::Moved> EfactoryServer::move_living(const Segment& segment) {
  Log& log = catalogue_->log();
  std::vector<Offset> offsets;
  std::vector<Tag> tags;
  catalogue_->collect(segment, offsets, tags);
  // One that is damaged stays as it is: nobody knows what it holds.
  const bool is_whole = !offsets.empty() && offsets.back() + log.at(offsets.back()).size_bytes() ==
                                                segment.offset + segment.used_bytes;
  if (!is_whole) {
    co_return Moved::damaged;
  }
  for (std::size_t at = offsets.size(); at-- > 0;) {
    catalogue_->look_ahead(tags, at);
    const Object object = log.at(offsets[at]);
    const Catalogue::Fate fate = catalogue_->judge(object, tags[at]);
    if (fate == Catalogue::Fate::undecided &&
        !background_.faults().planted(faults::part_takes_undecided)) {
      co_return Moved::undecided;
    }
    if (fate == Catalogue::Fate::undecided ||
        (fate == Catalogue::Fate::stale && object.invalid())) {
      catalogue_->bypass(object, tags[at]);
    }
    if (fate == Catalogue::Fate::keep || fate == Catalogue::Fate::hide) {
      const Result<Ticket> ticket = fate == Catalogue::Fate::hide ? catalogue_->move_hiding(object)
                                                                  : catalogue_->move(object);
      if (!ticket.ok()) {
        co_return Moved::no_room;
      }
      last_move_ = *ticket;
      to_copy_bytes_ -= std::min<std::uint64_t>(to_copy_bytes_, object.size_bytes());
      ++moved_;
      wake_verifier();
    }
    wake_flagger();
    pace_.scanned_bytes += object.size_bytes();
    if (turn_is_over(fate, object)) {
      co_await background_.settled();
      co_await background_.runtime().yield();
    }
  }
  co_return Moved::all;
}

}  // namespace remora::kv::efactory
