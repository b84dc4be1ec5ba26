#include "kv/efactory/cleaning_policy.h"

#include <algorithm>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

// A cleaning begins somewhat before puts have to wait for it.
constexpr std::uint64_t tight_segments = 4;
// A segment of which more than this lives is not worth its copies.
constexpr std::uint64_t most_living_percent = 93;
// Of a segment that is cheap to clean no more than this lives.
constexpr std::uint64_t cheap_percent = 12;
// So much of the log in cheap segments is worth a round.
constexpr std::uint64_t enough_percent = 12;
// They are looked for somewhat before anything must be cleaned.
constexpr std::uint64_t early_percent = 80;
// Copies of more than this part of what went are too many: deletions that nothing leads to, which
// only a cleaning of all ends.
constexpr std::uint64_t many_copies = 4;

}  // namespace

CleaningPolicy::CleaningPolicy(const Catalogue& catalogue, const CleaningRoom& room,
                               const ServerOptions& options)
    : catalogue_(catalogue),
      room_(room),
      mode_(options.cleaning),
      clean_at_percent_(options.clean_at_percent),
      clean_always_(options.clean_always),
      next_(mode_ == Cleaning::parts ? Next::parts : Next::any) {}

// --- When ---

bool CleaningPolicy::is_told_to_clean() const {
  const bool always = clean_always_ && catalogue_.log().usage().appended_bytes != 0;
  return always ||
         (catalogue_.background().faults().planted(faults::cleans_for_ever) && cleaned_ != 0);
}

// Asked after every put.
bool CleaningPolicy::wants_cleaning() const {
  return (is_told_to_clean() || (is_worthwhile() && (must_clean() || looks_for_cheap()))) &&
         catalogue_.log().changeable().ok();
}

bool CleaningPolicy::is_worthwhile() const {
  const LogUsage usage = catalogue_.log().usage();
  // What cleaning left is not worth cleaning again until as much has come on top, or has died.
  const std::uint64_t left =
      usage.total_bytes - std::min(usage.total_bytes, usage.segment_bytes + usage.reserve_bytes);
  const std::uint64_t step =
      std::max(catalogue_.log().segment_bytes(), std::min(used_after_clean_ / 8, left / 2));
  // What a cleaning of a part has left is worth cleaning for a put that finds no room.
  const std::uint64_t left_over =
      is_pressed_ && last_was_part_ ? catalogue_.live_bytes() : used_after_clean_;
  return usage.appended_bytes > left_over + step ||
         catalogue_.live_bytes() + step < live_after_clean_;
}

bool CleaningPolicy::must_clean() const {
  const LogUsage usage = catalogue_.log().usage();
  const bool is_tight = usage.segment_bytes + catalogue_.live_bytes() +
                            tight_segments * catalogue_.log().segment_bytes() >
                        usage.total_bytes;
  return is_pressed_ || is_tight || is_told_to_clean() ||
         usage.segment_bytes * 100 > usage.total_bytes * clean_at_percent_;
}

bool CleaningPolicy::may_be_cheap() const {
  return mode_ == Cleaning::cheapest && !clean_always_ && next_ != Next::all;
}

bool CleaningPolicy::looks_for_cheap() const {
  const LogUsage usage = catalogue_.log().usage();
  return may_be_cheap() && usage.segment_bytes >= look_again_bytes_ &&
         usage.segment_bytes * 100 * 100 > usage.total_bytes * clean_at_percent_ * early_percent;
}

// --- What ---

std::optional<CleaningPolicy::Plan> CleaningPolicy::choose() {
  std::vector<Worth> cheap = cheap_segments();
  if (!cheap.empty()) {
    return Plan{Plan::What::cheap, std::move(cheap)};
  }
  if (!must_clean()) {
    return std::nullopt;
  }
  // A cleaning of all would lose what lies behind a damaged header.
  if (room_.is_enough_for_all() && next_ != Next::parts && catalogue_.unreadable().empty()) {
    return Plan{};
  }
  return Plan{Plan::What::least, closed_segments(most_living_percent)};
}

std::vector<CleaningPolicy::Worth> CleaningPolicy::closed_segments(
    std::uint64_t most_living) const {
  const Log& log = catalogue_.log();
  std::vector<Segment> segments;
  std::vector<Worth> worth;
  log.list(DataPool::current, segments);
  for (const Segment& segment : segments) {
    const std::uint64_t living_bytes = catalogue_.living_bytes(segment);
    // What is open now may be full, and closed, before it is looked at.
    if (!log.is_open(segment) && living_bytes <= segment.capacity_bytes / 100 * most_living) {
      worth.push_back({segment, living_bytes});
    }
  }
  std::ranges::stable_sort(worth, {}, &Worth::living_bytes);
  return worth;
}

std::vector<CleaningPolicy::Worth> CleaningPolicy::cheap_segments() {
  if (!may_be_cheap()) {
    return {};
  }
  const LogUsage usage = catalogue_.log().usage();
  std::vector<Worth> cheap = closed_segments(cheap_percent);
  std::uint64_t cheap_bytes = 0;
  std::uint64_t living_bytes = 0;
  for (const Worth& one : cheap) {
    cheap_bytes += one.segment.capacity_bytes;
    living_bytes += one.living_bytes;
  }
  // Deletions count there, and end with a cleaning of all, which copies none.
  const bool costs_more =
      room_.is_enough_for_all() && living_bytes >= catalogue_.live_bytes() && living_bytes != 0;
  if (cheap_bytes < usage.total_bytes / 100 * enough_percent || costs_more) {
    look_again_bytes_ = usage.segment_bytes + catalogue_.log().segment_bytes();
    return {};
  }
  return cheap;
}

// --- What came of it ---

void CleaningPolicy::weigh_part(std::uint64_t copied_bytes, std::uint64_t gone_bytes) {
  const bool is_too_much = copied_bytes * many_copies > gone_bytes ||
                           (copied_bytes != 0 && copied_bytes >= catalogue_.live_bytes());
  next_ = is_too_much ? Next::all : Next::any;
}

void CleaningPolicy::freed() {
  live_after_clean_ = catalogue_.live_bytes();
  used_after_clean_ = live_after_clean_;  // what came meanwhile was not cleaned
  look_again_bytes_ = 0;
  is_pressed_ = false;
}

void CleaningPolicy::ended(const Plan& plan, const Status& status) {
  const bool all = plan.what == Plan::What::all;
  const bool cheap = plan.what == Plan::What::cheap;
  const bool in_parts = mode_ == Cleaning::parts;
  if (in_parts) {
    next_ = all || status.ok() ? Next::parts : Next::any;
  } else if (all) {
    next_ = status.code() == Code::no_space ? Next::parts : Next::any;
  } else if (cheap && !status.ok()) {
    next_ = Next::all;  // what is undecided, and cannot be cleaned, ends with a cleaning of all
  }
  (all ? cleaned_ : cleaned_parts_) += status.ok() ? 1u : 0u;
  last_was_part_ = !all;
  look_again_bytes_ = 0;
  // What a cleaning could not do is still worth doing, if it can be done.
  const bool is_done = all || cheap ? status.ok() : status.code() == Code::no_space || in_parts;
  live_after_clean_ = catalogue_.live_bytes();
  used_after_clean_ = is_done ? catalogue_.log().usage().appended_bytes : live_after_clean_;
  is_pressed_ = false;
}

}  // namespace remora::kv::efactory
