#include "pmem/file_ahead.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>

namespace remora {
namespace {

constexpr std::size_t piece_bytes = 256 << 10;
// Between two pieces, so that commits do not queue behind them: a bound of 128 MB a second.
constexpr std::chrono::milliseconds pause{2};
constexpr std::size_t most_wanted = 64;

// Whether the file system has blocks there that were never written. No where it cannot tell.
bool has_unwritten(int descriptor, std::size_t from, std::size_t size) {
  constexpr std::size_t extents = 16;
  alignas(fiemap) std::byte memory[sizeof(fiemap) + extents * sizeof(fiemap_extent)] = {};
  auto* const map = reinterpret_cast<fiemap*>(memory);
  map->fm_start = from;
  map->fm_length = size;
  map->fm_extent_count = extents;
  if (ioctl(descriptor, FS_IOC_FIEMAP, map) != 0) {
    return false;
  }
  return std::any_of(
      map->fm_extents, map->fm_extents + map->fm_mapped_extents,
      [](const fiemap_extent& extent) { return (extent.fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0; });
}

}  // namespace

FileAhead::~FileAhead() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void FileAhead::prepare(ConstBytes range) {
  const auto from = static_cast<std::size_t>(range.data() - mapping_.data());
  const Extent extent{round_down(from, page_bytes),
                      std::min(round_up(from + range.size(), page_bytes), mapping_.size())};
  {
    std::lock_guard lock(mutex_);
    if (range.empty() || wanted_.size() == most_wanted) {
      return;
    }
    wanted_.push_back(extent);
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { work(); });
    }
  }
  changed_.notify_all();
}

void FileAhead::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return wanted_.empty() && !working_; });
}

void FileAhead::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (wanted_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Extent& extent = wanted_.front();
    const Extent piece{extent.from, std::min(extent.from + piece_bytes, extent.to)};
    extent.from = piece.to;
    if (extent.from == extent.to) {
      wanted_.pop_front();
    }
    working_ = true;
    lock.unlock();
    prepare_piece(piece);
    lock.lock();
    changed_.wait_for(lock, pause, [this] { return stopping_; });
    working_ = false;
    changed_.notify_all();
  }
}

// The kernel makes pages dirty without changing them, and writes them in its own time: nothing here
// asks whether that succeeds, since who asks is told once, and that must be a commit.
void FileAhead::prepare_piece(const Extent& piece) const {
  const std::size_t size = piece.to - piece.from;
  std::byte* const at = mapping_.data() + piece.from;
  const auto offset = static_cast<off_t>(piece.from);
  if (has_unwritten(descriptor_, piece.from, size)) {
    if (madvise(at, size, MADV_POPULATE_WRITE) == 0) {
      sync_file_range(descriptor_, offset, static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
    }
  } else {
    readahead(descriptor_, offset, size);
    madvise(at, size, MADV_POPULATE_READ);
  }
}

}  // namespace remora
