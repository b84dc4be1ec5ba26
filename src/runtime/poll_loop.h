// PollLoop: the Runtime in real time. It makes no thread: it runs on whichever thread calls turn,
// run_until, block_on or run_for, which must always be the same one.
//
// A turn runs posted functions, asks pollers and watches, runs due timers, then what is ready, then
// what asked to be last.
// After a number of turns without work, one if no poller wants more, the loop parks: it sleeps
// until the next timer, a wake(), a posted function, or a poller's descriptor becomes readable:
// with ppoll, or where a poller has a Sleeper, there. Where its sleeps are cut short, as by a peer
// that answers when its disk has, it stays awake longer before the next (limits.h).
// While a watch waits or a poller has no descriptor it parks for short spans only (limits.h),
// longer ones the longer nothing happens. Without work the clock is read once in several turns, so
// a timer may run some idle turns late.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/limits.h"
#include "runtime/runtime.h"
#include "runtime/timer_queue.h"

namespace remora {

struct PollLoopOptions {
  std::uint32_t spin_turns = limits::spin_turns;  // turns without work before it parks; 0: at once
  std::optional<std::uint64_t> seed = {};         // of random(); by default the system's chance
};

class PollLoop final : public Runtime {
 public:
  explicit PollLoop(const PollLoopOptions& options = {});
  // Functions that were posted and have not run are dropped.
  ~PollLoop() override;

  // Ends a park, or keeps the next one from beginning: there is a turn after this call. Any thread.
  void wake() override;

  // Runs the function in a turn of the loop. Functions run in the order in which they were posted.
  // Fails with no_space when too many wait. Any thread.
  Status post(std::function<void()> function);

  // How often the loop has gone to sleep.
  std::uint64_t parks() const { return parks_; }

  std::uint64_t now_ns() const override;
  std::uint64_t wall_ms() const override;
  void arm(Timer& timer, std::uint64_t due_ns) override;
  void run_soon(Timer& timer) override;
  void run_last(Timer& timer) override;
  void placed(ConstBytes) override {}
  std::uint64_t charge(CoreId, std::uint64_t) override { return 0; }
  void trace(std::string_view, std::uint64_t) override {}
  RunState turn() override;
  void leave() override;
  RunState run_for(std::uint64_t span_ns) override;

 private:
  std::string describe() const override;

  bool may_idle();
  bool stays_awake();
  bool work_once();
  bool run_posted();
  bool run_due(bool worked);
  bool run(IntrusiveList<Timer>& list);

  void park();
  void slept(std::uint64_t begin_ns, std::uint64_t span_ns);
  bool arm_wakes();
  std::uint64_t park_span_ns();
  void sleep(std::uint64_t span_ns);
  void sleep_at_sleeper(std::uint64_t span_ns);
  void take_wakes();
  void list_descriptors();
  bool list_for_sleeper();

  const std::uint32_t spin_turns_;
  const bool may_stay_;               // awake beyond its turns: else others need the processor
  std::uint64_t awake_ns_ = 0;        // so long it stays awake beyond its turns
  std::uint64_t awake_until_ns_ = 0;  // while it does
  TimerQueue timers_;
  IntrusiveList<Timer> ready_;
  IntrusiveList<Timer> last_;
  std::uint32_t idle_turns_ = 0;
  std::uint32_t turns_since_clock_ = 0;
  std::uint64_t clock_ns_ = never_ns;  // when it was last read for timers,
  std::uint64_t clock_ticks_ = 0;      // and the processor's counter just before
  std::uint64_t blind_park_ns_ = limits::blind_park_first_ns;
  std::uint64_t parks_ = 0;

  int wake_fd_;                      // an eventfd, or -1 when the process has no descriptor left
  std::vector<pollfd> descriptors_;  // wake_fd_ first, then those of the pollers
  std::vector<Poller*> listed_;      // the poller of each, or null
  Poller* sleeping_ = nullptr;       // the one whose Sleeper is used, if there is one
  int others_fd_ = -1;               // an epoll set of all descriptors but that one's
  bool blind_pollers_ = false;       // one of them has no descriptor
  std::size_t listed_version_ = 0;   // of the pollers, when the two above were made

  // Either the waker sees parked_ or the loop sees wanted_, since both are sequentially consistent.
  std::atomic<bool> wanted_ = false;
  std::atomic<bool> parked_ = false;
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;
};

}  // namespace remora
