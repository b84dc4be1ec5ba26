#include "runtime/poll_loop.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "runtime/pause.h"
#include "runtime/system_random.h"

namespace remora {
namespace {

// A counter of the processor that is cheaper to read than the clock and counts no slower than
// nanoseconds; without one, enough to make every timer look due.
#if defined(__x86_64__)
std::uint64_t ticks() {
  return __builtin_ia32_rdtsc();
}
std::uint64_t ticks_since(std::uint64_t before) {
  return ticks() - before;
}
#else
std::uint64_t ticks() {
  return 0;
}
std::uint64_t ticks_since(std::uint64_t) {
  return ~std::uint64_t{0};
}
#endif

class Alarm final : public Timer {
 public:
  bool rang() const { return rang_; }
  void expire() override { rang_ = true; }

 private:
  bool rang_ = false;
};

}  // namespace

PollLoop::PollLoop(const PollLoopOptions& options)
    : Runtime(options.seed ? *options.seed : random_word()),
      spin_turns_(options.spin_turns),
      may_stay_(spin_turns_ >= limits::spin_turns && std::thread::hardware_concurrency() > 1),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  list_descriptors();
}

PollLoop::~PollLoop() {
  for (const int descriptor : {wake_fd_, others_fd_}) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
}

void PollLoop::wake() {
  wanted_.store(true);
  if (parked_.load() && wake_fd_ >= 0) {
    const std::uint64_t one = 1;
    // Where the counter is full, the loop is awake anyway. Any other failure is none that is known,
    // and would leave it asleep.
    constexpr int tries = 3;
    for (int i = 0; i < tries && ::write(wake_fd_, &one, sizeof one) < 0 && errno != EAGAIN; ++i) {
    }
  }
}

Status PollLoop::post(std::function<void()> function) {
  {
    const std::lock_guard lock(posted_mutex_);
    if (posted_.size() == limits::posted_functions) {
      return Status(Code::no_space, "too many functions wait for the loop; post again later");
    }
    posted_.push_back(std::move(function));
  }
  wake();
  return {};
}

std::uint64_t PollLoop::now_ns() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

std::uint64_t PollLoop::wall_ms() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

void PollLoop::arm(Timer& timer, std::uint64_t due_ns) {
  timer.disarm();
  timers_.add(timer, due_ns);
}

void PollLoop::run_soon(Timer& timer) {
  timer.disarm();
  ready_.push_back(timer);
}

void PollLoop::run_last(Timer& timer) {
  timer.disarm();
  last_.push_back(timer);
}

RunState PollLoop::turn() {
  const Running running(*this);
  if (work_once()) {
    idle_turns_ = 0;
    blind_park_ns_ = limits::blind_park_first_ns;
  } else if (may_idle()) {
    ++idle_turns_;
    pause_briefly();
  } else {
    park();
  }
  return RunState::running;
}

void PollLoop::leave() {
  pollers_.for_each([](Poller& poller) { poller.pause_begins(); });
}

// One turn at least: whoever drives the loop looks between two turns at what the last one changed.
// Pollers are asked once in several turns.
bool PollLoop::may_idle() {
  if (idle_turns_ >= spin_turns_ && !stays_awake()) {
    return false;
  }
  return idle_turns_ % limits::turns_per_spin_question != 1 || pollers_.wants_spin();
}

bool PollLoop::stays_awake() {
  if (awake_ns_ == 0) {
    return false;
  }
  const std::uint32_t beyond = idle_turns_ - spin_turns_;
  if (beyond % limits::turns_per_clock_read == 0) {
    const std::uint64_t now = now_ns();
    if (beyond == 0) {
      awake_until_ns_ = now + awake_ns_;
    }
    return now < awake_until_ns_;
  }
  return true;
}

RunState PollLoop::run_for(std::uint64_t span_ns) {
  Alarm alarm;
  arm(alarm, after(span_ns));
  while (!alarm.rang()) {
    turn();
  }
  leave();
  return RunState::finished;
}

std::string PollLoop::describe() const {
  return "real time";
}

bool PollLoop::work_once() {
  bool worked = run_posted();
  worked |= pollers_.poll_all();
  worked |= watches_.check_all();
  worked |= run_due(worked);
  worked |= run(ready_);
  worked |= run(last_);
  return worked;
}

bool PollLoop::run_posted() {
  if (!wanted_.load(std::memory_order_relaxed)) [[likely]] {
    return false;
  }
  wanted_.store(false);
  std::vector<std::function<void()>> functions;
  {
    const std::lock_guard lock(posted_mutex_);
    functions.swap(posted_);
  }
  for (const std::function<void()>& function : functions) {
    function();
  }
  return true;
}

// A turn that works takes long enough to make a look at the clock cheap; idle ones do not.
bool PollLoop::run_due(bool worked) {
  if (timers_.empty()) {
    return false;
  }
  const bool idle = !worked && idle_turns_ > 0;
  if (idle && ++turns_since_clock_ < limits::turns_per_clock_read) {
    return false;
  }
  turns_since_clock_ = 0;
  const std::uint64_t due = timers_.next_due_ns();
  if (due > clock_ns_ && ticks_since(clock_ticks_) < due - clock_ns_) [[likely]] {
    return false;
  }
  clock_ticks_ = ticks();
  const std::uint64_t now = now_ns();
  clock_ns_ = now;
  bool ran = false;
  // Those that are armed anew meanwhile wait for the next turn.
  for (std::size_t left = timers_.size(); left > 0 && !timers_.empty(); --left) {
    if (timers_.next_due_ns() > now) {
      break;
    }
    timers_.pop().timer->expire();
    ran = true;
  }
  return ran;
}

// What is added meanwhile waits for the next turn.
bool PollLoop::run(IntrusiveList<Timer>& list) {
  if (list.empty()) {
    return false;
  }
  IntrusiveList<Timer> batch;
  batch.take_all(list);
  while (!batch.empty()) {
    batch.pop_front().expire();
  }
  return true;
}

void PollLoop::park() {
  if (listed_version_ != pollers_.version()) {
    list_descriptors();
  }
  // The next turn looks at the clock, whatever ended the park.
  turns_since_clock_ = limits::turns_per_clock_read;
  const std::uint64_t span_ns = park_span_ns();
  if (span_ns == 0 || !arm_wakes()) {
    return;
  }
  parked_.store(true);
  if (!wanted_.load()) {
    ++parks_;
    const std::uint64_t begin_ns = now_ns();
    sleep(span_ns);
    slept(begin_ns, span_ns);
  }
  parked_.store(false);
}

void PollLoop::slept(std::uint64_t begin_ns, std::uint64_t span_ns) {
  const std::uint64_t took_ns = now_ns() - begin_ns;
  if (may_stay_ && took_ns < std::min(limits::short_park_ns, span_ns)) {
    awake_ns_ =
        std::clamp(2 * awake_ns_, limits::stay_awake_first_ns, limits::stay_awake_longest_ns);
  } else {
    awake_ns_ = 0;
  }
}

bool PollLoop::arm_wakes() {
  bool armed = true;
  pollers_.for_each([&](Poller& poller) {
    if (poller.wake_fd() >= 0 || poller.follows()) {
      armed &= poller.arm_wake();
    }
  });
  return armed;
}

// never_ns: until something wakes it.
std::uint64_t PollLoop::park_span_ns() {
  std::uint64_t span_ns = never_ns;
  if (!timers_.empty()) {
    const std::uint64_t now = now_ns();
    const std::uint64_t due = timers_.next_due_ns();
    span_ns = due > now ? due - now : 0;
  }
  if (blind_pollers_ || !watches_.empty() || wake_fd_ < 0) {
    span_ns = std::min(span_ns, blind_park_ns_);
    blind_park_ns_ = std::min(2 * blind_park_ns_, limits::blind_park_longest_ns);
  }
  return span_ns;
}

void PollLoop::sleep(std::uint64_t span_ns) {
  if (sleeping_ != nullptr) {
    sleep_at_sleeper(span_ns);
    return;
  }
  constexpr std::uint64_t second_ns = 1'000'000'000;
  const std::timespec span = {.tv_sec = static_cast<std::time_t>(span_ns / second_ns),
                              .tv_nsec = static_cast<long>(span_ns % second_ns)};
  // A failure (a signal) is no more than an early end of the park.
  const int readable = ::ppoll(descriptors_.data(), descriptors_.size(),
                               span_ns == never_ns ? nullptr : &span, nullptr);
  if (readable < 0) {
    return;
  }
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    if (listed_[i] == nullptr) {
      if (descriptors_[i].revents != 0) {
        take_wakes();
      }
    } else if (descriptors_[i].revents == 0) {
      listed_[i]->nothing_came();
    }
  }
}

void PollLoop::sleep_at_sleeper(std::uint64_t span_ns) {
  if (sleeping_->sleeper()->sleep(span_ns)) {
    take_wakes();
    return;
  }
  for (Poller* poller : listed_) {
    if (poller != nullptr && poller != sleeping_) {
      poller->nothing_came();
    }
  }
}

void PollLoop::take_wakes() {
  std::uint64_t wakes = 0;
  if (::read(wake_fd_, &wakes, sizeof wakes) >= 0 || errno == EAGAIN || errno == EINTR) [[likely]] {
    return;
  }
  // One that cannot be read would wake the loop again and again: a new one gets its number, which
  // other threads know.
  if (const int fresh = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); fresh >= 0) {
    ::dup3(fresh, wake_fd_, O_CLOEXEC);
    ::close(fresh);
    listed_version_ = ~listed_version_;  // sets of descriptors know the old one
  }
}

void PollLoop::list_descriptors() {
  descriptors_.clear();
  listed_.clear();
  sleeping_ = nullptr;
  if (wake_fd_ >= 0) {
    descriptors_.push_back(pollfd{.fd = wake_fd_, .events = POLLIN, .revents = 0});
    listed_.push_back(nullptr);
  }
  blind_pollers_ = false;
  pollers_.for_each([&](Poller& poller) {
    if (poller.wake_fd() >= 0) {
      descriptors_.push_back(pollfd{.fd = poller.wake_fd(), .events = POLLIN, .revents = 0});
      listed_.push_back(&poller);
      if (sleeping_ == nullptr && poller.sleeper() != nullptr) {
        sleeping_ = &poller;
      }
    } else if (!poller.follows()) {
      blind_pollers_ = true;
    }
  });
  if (sleeping_ != nullptr && !list_for_sleeper()) {
    sleeping_ = nullptr;
  }
  listed_version_ = pollers_.version();
}

// A new set each time: descriptors that were closed meanwhile, and their numbers given away, are
// forgotten with the old one.
bool PollLoop::list_for_sleeper() {
  if (others_fd_ >= 0) {
    ::close(others_fd_);
  }
  others_fd_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (others_fd_ < 0) {
    return false;
  }
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    epoll_event event = {};
    event.events = EPOLLIN;
    // Two pollers may have the same one.
    if (listed_[i] != sleeping_ &&
        ::epoll_ctl(others_fd_, EPOLL_CTL_ADD, descriptors_[i].fd, &event) != 0 &&
        errno != EEXIST) {
      return false;
    }
  }
  return sleeping_->sleeper()->watch_also(others_fd_);
}

}  // namespace remora
