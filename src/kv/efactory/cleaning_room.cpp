#include "kv/efactory/cleaning_room.h"

namespace remora::kv::efactory {
namespace {

// What copies may waste at the ends of segments, and those that are open.
constexpr std::uint64_t spare_segments = 2;
// What puts may take of their room before anything was scanned.
constexpr double first_share = 1.0 / 16;

}  // namespace

std::uint64_t usable_bytes(const Log& log) {
  const std::uint64_t spare_bytes = spare_segments * log.segment_bytes();
  const std::uint64_t total_bytes = log.usage().total_bytes;
  return (total_bytes - std::min(total_bytes, spare_bytes)) / 2;
}

// Cleaning copies what lives, and must always find room for that: what puts may take is the rest.
// While the log is compressed, what is put has to be copied too; but of each key no more than one
// version now, and once more the one that is the newest when new versions go to the new pool. A
// version counts as long as the one that replaces it may never come.
std::uint64_t CleaningRoom::needed_for_copies() const {
  const std::uint64_t live_bytes = catalogue_.live_bytes();
  const std::uint64_t most_bytes = 2 * std::max(live_bytes, live_at_begin_);
  return (to_copy_bytes_ ? std::min(*to_copy_bytes_, most_bytes) : live_bytes) +
         spare_segments * catalogue_.log().segment_bytes();
}

bool CleaningRoom::is_enough_for_all() const {
  const LogUsage usage = catalogue_.log().usage();
  return usage.segment_bytes + needed_for_copies() <= usage.total_bytes;
}

bool CleaningRoom::is_enough_beside(std::uint64_t size_bytes) const {
  const LogUsage usage = catalogue_.log().usage();
  const std::uint64_t segment = std::max(size_bytes, catalogue_.log().segment_bytes());
  return usage.segment_bytes + segment + needed_for_copies() + size_bytes <= usage.total_bytes;
}

// Puts that come faster than the log is scanned would use up their room at once, and then all wait
// until the end of the cleaning. So each waits a little instead. A large one may take more than its
// share, or it would never find enough among small ones; the next wait until that is made good.
bool CleaningRoom::in_pace() const {
  if (pace_.to_scan_bytes == 0) {
    return true;
  }
  const double scanned =
      static_cast<double>(pace_.scanned_bytes) / static_cast<double>(pace_.to_scan_bytes);
  return static_cast<double>(pace_.taken_bytes) <
         static_cast<double>(pace_.room_bytes) * (first_share + scanned);
}

void CleaningRoom::begin_all(std::uint64_t to_scan_bytes) {
  to_copy_bytes_ = live_at_begin_ = catalogue_.live_bytes();
  set_pace(to_scan_bytes);
}

void CleaningRoom::begin_parts(std::uint64_t to_copy_bytes, std::uint64_t to_scan_bytes) {
  to_copy_bytes_ = to_copy_bytes;
  set_pace(to_scan_bytes);
}

void CleaningRoom::set_pace(std::uint64_t to_scan_bytes) {
  const LogUsage usage = catalogue_.log().usage();
  const std::uint64_t left_bytes =
      usage.total_bytes - std::min(usage.total_bytes, usage.segment_bytes + needed_for_copies());
  // What is put while the log is compressed takes room for its copy too, as long as there is none.
  const std::uint64_t twice_bytes =
      stage_ == CleaningStage::compress ? std::min(left_bytes / 2, catalogue_.live_bytes()) : 0;
  pace_ = {.room_bytes = left_bytes - twice_bytes, .to_scan_bytes = to_scan_bytes};
}

}  // namespace remora::kv::efactory
