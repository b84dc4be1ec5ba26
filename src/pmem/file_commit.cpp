#include "pmem/file_commit.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace remora {

FileCommit::FileCommit(Bytes mapping, Sync sync)
    : data_(mapping.data()), size_(mapping.size()), sync_(std::move(sync)) {}

FileCommit::~FileCommit() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void FileCommit::add(ConstBytes range) {
  if (range.empty()) {
    return;
  }
  const auto from = static_cast<std::size_t>(range.data() - data_);
  const std::size_t size = size_.load(std::memory_order_acquire);
  REMORA_CHECK(within(from, range.size(), size), "flushed outside of the region");
  const std::size_t first = round_down(from, page_bytes);
  const std::size_t last = std::min(round_up(from + range.size(), page_bytes), size);
  std::lock_guard lock(mutex_);
  const bool none = pending_.from == pending_.to;
  pending_.from = none ? first : std::min(pending_.from, first);
  pending_.to = none ? last : std::max(pending_.to, last);
}

Ticket FileCommit::draw() {
  std::lock_guard lock(mutex_);
  return Ticket{open_};
}

bool FileCommit::persistent(Ticket ticket) const {
  return ticket.commit <= persistent_.load(std::memory_order_acquire);
}

Status FileCommit::failure() const {
  const int error = error_.load(std::memory_order_acquire);
  if (error == 0) [[likely]] {
    return Status();
  }
  // The same code whatever the reason: a disk that is full here is not a pool that is full.
  return Status(
      Code::io_error,
      std::string(os_failure("the pool's file could not be written back", error).message()) +
          "; the pool is closed for good: stop the program, see to the disk, and open the "
          "pool again, which recovers what is persistent");
}

Status FileCommit::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  while (!persistent(ticket)) {
    if (error_ != 0) {
      return failure();
    }
    if (syncing_) {
      changed_.wait(lock);
    } else {
      sync_once(lock);
    }
  }
  return Status();
}

bool FileCommit::start_thread() {
  try {
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { serve_requests(); });
    }
    return true;
  } catch (const std::system_error&) {
    return false;  // there are too many, or too little memory: perhaps the next time
  }
}

void FileCommit::request(Ticket ticket) {
  bool is_alone = false;
  {
    std::lock_guard lock(mutex_);
    if (ticket.commit <= requested_ || persistent(ticket)) {
      return;
    }
    requested_ = ticket.commit;
    if (!start_thread()) {
      is_alone = true;
    }
  }
  if (is_alone) {
    (void)wait(ticket);  // slower for all, and nobody waits in vain
    return;
  }
  asked_.notify_one();  // which finds the lock free
}

void FileCommit::tell(std::function<void()> ended) {
  std::lock_guard lock(tell_mutex_);
  ended_ = std::move(ended);
}

// Closes the open commit and syncs what it covers, with the lock released meanwhile.
void FileCommit::sync_once(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t commit = open_++;
  const Extent extent = std::exchange(pending_, Extent{});
  syncing_ = true;
  lock.unlock();
  int error = 0;
  if (extent.from != extent.to) {
    error = sync_(data_ + extent.from, extent.to - extent.from);
    syncs_.fetch_add(1, std::memory_order_relaxed);
  }
  lock.lock();
  syncing_ = false;
  if (error != 0) {
    error_ = error;
  } else {
    persistent_.store(commit, std::memory_order_release);
  }
  changed_.notify_all();
  if (!persistent(Ticket{requested_})) {
    asked_.notify_one();  // it slept while somebody else was at work
  }
  lock.unlock();
  {
    std::lock_guard telling(tell_mutex_);
    if (ended_) {
      ended_();  // and whom that wakes finds the other lock free
    }
  }
  lock.lock();
}

void FileCommit::serve_requests() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && error_ == 0) {
    if (syncing_ || persistent(Ticket{requested_})) {
      asked_.wait(lock);
    } else {
      sync_once(lock);
    }
  }
}

}  // namespace remora
