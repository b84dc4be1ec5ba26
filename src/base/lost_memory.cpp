#include "base/lost_memory.h"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

namespace remora {
namespace {

// A range is there while `end` is not 0, which is stored last and cleared first: the handler finds
// it without a lock.
struct WatchedRange {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> is_taken = false;
  std::atomic<bool> is_lost = false;
};

constinit std::array<WatchedRange, 256> watched_ranges = {};
constinit std::mutex table_mutex;
struct sigaction before = {};

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

bool holds(const WatchedRange& range, std::uintptr_t at) {
  const std::uintptr_t end = range.end.load(std::memory_order_acquire);
  return at < end && at >= range.begin.load(std::memory_order_relaxed);
}

void lose(WatchedRange& range) {
  range.is_lost.store(true, std::memory_order_release);
  lost_memory::losses.fetch_add(1, std::memory_order_acq_rel);
}

// Zeros in place of what is gone, from the page of the fault on. Mappings of devices are cut at
// larger pages only.
bool put_zeros(std::uintptr_t at, const WatchedRange& range) {
  const std::uintptr_t begin = range.begin.load(std::memory_order_relaxed);
  const std::uintptr_t end = range.end.load(std::memory_order_relaxed);
  for (const std::uintptr_t unit :
       {std::uintptr_t{page_bytes}, std::uintptr_t{2} << 20, std::uintptr_t{1} << 30}) {
    const std::uintptr_t from = std::max(at & ~(unit - 1), begin);
    if (mmap(reinterpret_cast<void*>(from), end - from, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED) {
      return true;
    }
  }
  return false;
}

// The handler that was there before, or the end of the process. A fault comes again when the
// handler returns; a signal that somebody sent does not.
void hand_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
    return;
  }
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
    return;
  }
  const bool is_fault = info->si_code > 0;
  if (!is_fault && before.sa_handler == SIG_IGN) {
    return;
  }
  struct sigaction end = {};
  end.sa_handler = SIG_DFL;
  (void)sigaction(signal, &end, nullptr);
  if (!is_fault) {
    (void)raise(signal);
  }
}

// Calls what may be called in a signal handler, and mmap, which on Linux is no more than a system
// call. It says that the range is lost before it gives it zeros: a reader that sees them can know.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  bool is_watched = false;
  bool has_zeros = true;
  for (WatchedRange& range : watched_ranges) {
    if (info->si_code > 0 && holds(range, at)) {  // one of several of the same memory
      is_watched = true;
      lose(range);
      has_zeros = put_zeros(at, range) && has_zeros;
    }
  }
  if (!is_watched || !has_zeros) {
    hand_on(signal, info, context);
  }
  errno = error;
}

}  // namespace

Status catch_lost_memory() {
  static const int error = [] {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, nullptr, &before) == 0 && sigaction(SIGBUS, &action, nullptr) == 0
               ? 0
               : errno;
  }();
  return error == 0 ? Status() : os_failure("cannot handle SIGBUS", error);
}

bool is_memory_lost(const void* at) {
  return std::ranges::any_of(watched_ranges, [at](const WatchedRange& range) {
    return holds(range, reinterpret_cast<std::uintptr_t>(at)) &&
           range.is_lost.load(std::memory_order_acquire);
  });
}

Status lost_memory_failure() {
  return Status(
      Code::io_error,
      "a part of the pool's file is gone while it is in use: it was cut short, or what it "
      "lies on has failed; the pool is closed for good: stop the program, see to the file "
      "and its disk, and open the pool again, or restore a copy");
}

WatchedMemory::WatchedMemory(ConstBytes range) {
  const std::lock_guard lock(table_mutex);
  for (std::uint32_t i = 0; i < watched_ranges.size() && slot_ == none; ++i) {
    WatchedRange& watched = watched_ranges[i];
    if (!watched.is_taken.load(std::memory_order_relaxed)) {
      slot_ = i;
      const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
      watched.is_taken = true;
      watched.is_lost = false;
      watched.begin.store(begin, std::memory_order_relaxed);
      watched.end.store(begin + round_up(range.size(), page_bytes), std::memory_order_release);
    }
  }
}

WatchedMemory::~WatchedMemory() {
  if (slot_ != none) {
    const std::lock_guard lock(table_mutex);
    watched_ranges[slot_].end = 0;
    watched_ranges[slot_].is_taken = false;
  }
}

void WatchedMemory::extend(ConstBytes range) const {
  if (slot_ != none) {
    const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
    watched_ranges[slot_].end.store(begin + round_up(range.size(), page_bytes),
                                    std::memory_order_release);
  }
}

void WatchedMemory::lose() const {
  if (slot_ != none && !watched_ranges[slot_].is_lost) {
    remora::lose(watched_ranges[slot_]);
  }
}

bool WatchedMemory::was_lost() const {
  return slot_ != none && watched_ranges[slot_].is_lost.load(std::memory_order_acquire);
}

}  // namespace remora
