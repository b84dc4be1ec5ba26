#include "pmem/file_ahead.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

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

// One page at a time: of more the kernel makes large folios, and one dirty byte writes back all of
// such a one.
Status write_zeros(int descriptor, std::uint64_t from, std::uint64_t to) {
  static constexpr std::array<std::byte, page_bytes> zeros = {};
  for (std::uint64_t at = from; at < to;) {
    const ssize_t written =
        pwrite(descriptor, zeros.data(), std::min(to - at, page_bytes), static_cast<off_t>(at));
    if (written > 0) {
      at += static_cast<std::uint64_t>(written);
    } else if (written == 0 || errno != EINTR) {
      return os_failure("cannot write a new file", written == 0 ? EIO : errno);
    }
  }
  return {};
}

}  // namespace

// No further ahead of the disk than one step: else the time would be that of the memory.
Status write_blocks(int descriptor, std::uint64_t size_bytes, std::chrono::milliseconds most) {
  constexpr std::uint64_t step_bytes = 4 << 20;
  const auto end = std::chrono::steady_clock::now() + most;
  for (std::uint64_t from = 0; from < size_bytes && std::chrono::steady_clock::now() < end;) {
    const std::uint64_t to = std::min(from + step_bytes, size_bytes);
    REMORA_TRY(write_zeros(descriptor, from, to));
    sync_file_range(descriptor, static_cast<off_t>(from), static_cast<off_t>(to - from),
                    SYNC_FILE_RANGE_WRITE);
    // What it reports is not told again. Where there is no such call, the sync below waits for all.
    if (from != 0 &&
        sync_file_range(descriptor, static_cast<off_t>(from - step_bytes),
                        static_cast<off_t>(step_bytes), SYNC_FILE_RANGE_WAIT_BEFORE) != 0 &&
        errno != ENOSYS && errno != EINVAL) {
      return os_failure("cannot write a new file", errno);
    }
    from = to;
  }
  return fdatasync(descriptor) == 0 ? Status() : os_failure("cannot sync a new file", errno);
}

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

// Nothing depends on it.
bool FileAhead::start_thread() {
  try {
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { work(); });
    }
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void FileAhead::prepare(ConstBytes range) {
  const auto from = static_cast<std::size_t>(range.data() - data_);
  const Extent extent{
      round_down(from, page_bytes),
      std::min(round_up(from + range.size(), page_bytes), size_.load(std::memory_order_acquire))};
  {
    std::lock_guard lock(mutex_);
    if (range.empty() || wanted_.size() == most_wanted) {
      return;
    }
    wanted_.push_back(extent);
    if (!start_thread()) {
      wanted_.clear();
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
  std::byte* const at = data_ + piece.from;
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
