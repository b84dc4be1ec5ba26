// FileCommit: group commit for memory that the operating system writes back by pages. Ranges are
// added, a ticket is drawn, and one sync call makes all tickets drawn before it began persistent.
//
// Two ways to get there: wait() blocks, and the first waiter performs the sync for all (no thread
// needed); request() returns at once, and a thread of this object, started on first use, performs
// it, or request() itself where no thread can be had. Tickets that are drawn while a sync runs
// belong to the next one.
//
// Any thread may call anything. A failed sync is final: whatever was dirty may or may not have
// reached the medium and the kernel has forgotten it, so every ticket not yet persistent stays so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/bytes.h"
#include "base/result.h"
#include "pmem/region.h"

namespace remora {

class FileCommit {
 public:
  // Makes the pages of [from, from + size) persistent; returns 0 or errno.
  using Sync = std::function<int(std::byte* from, std::size_t size)>;

  FileCommit(Bytes mapping, Sync sync);
  FileCommit(const FileCommit&) = delete;
  FileCommit& operator=(const FileCommit&) = delete;
  ~FileCommit();

  void add(ConstBytes range);
  // The mapping is so long from here on.
  void extend(std::size_t size_bytes) { size_.store(size_bytes, std::memory_order_release); }
  Ticket draw();
  bool persistent(Ticket ticket) const;
  [[nodiscard]] Status wait(Ticket ticket);
  void request(Ticket ticket);

  // Called at the end of every commit, by the thread that made it; it does not call back. When this
  // returns, what was to be called before is not any more. Nothing: nobody is told.
  void tell(std::function<void()> ended);

  // Success, or why no ticket becomes persistent any more.
  Status failure() const;

  // How many sync calls were made.
  std::uint64_t syncs() const { return syncs_.load(std::memory_order_relaxed); }

 private:
  struct Extent {
    std::size_t from = 0;
    std::size_t to = 0;  // from == to: nothing
  };

  void sync_once(std::unique_lock<std::mutex>& lock);
  void serve_requests();
  bool start_thread();

  std::byte* const data_;  // of the mapping
  std::atomic<std::size_t> size_;
  const Sync sync_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a commit has ended
  std::condition_variable asked_;    // the thread has something to do
  Extent pending_;                   // what the open commit covers
  std::uint64_t open_ = 1;           // the commit that tickets drawn now belong to
  std::uint64_t requested_ = 0;      // commits up to here were asked for without waiting
  bool syncing_ = false;
  bool stopping_ = false;
  std::atomic<int> error_ = 0;  // why no commit succeeds any more; set with the lock held
  std::atomic<std::uint64_t> persistent_ = 0;  // commits up to here are on the medium
  std::atomic<std::uint64_t> syncs_ = 0;
  std::mutex tell_mutex_;
  std::function<void()> ended_;
  std::thread thread_;
};

}  // namespace remora
