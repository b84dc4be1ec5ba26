#include "front/resp/socket_events.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

namespace remora::resp {
namespace {

std::timespec time_span(std::uint64_t span_ns) {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  return {.tv_sec = static_cast<std::time_t>(span_ns / second_ns),
          .tv_nsec = static_cast<long>(span_ns % second_ns)};
}

}  // namespace

SocketEvents::~SocketEvents() {
  if (epoll_ >= 0) {
    ::close(epoll_);
  }
}

Status SocketEvents::open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  return epoll_ >= 0 ? Status() : os_failure("cannot watch the socket for Redis clients", errno);
}

bool SocketEvents::add(int socket, std::uint32_t events, void* owner) {
  epoll_event event = {};
  event.events = events | EPOLLET;
  event.data.ptr = owner;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0;
}

bool SocketEvents::tell_again(int socket, std::uint32_t events, void* owner) {
  epoll_event event = {};
  event.events = events | EPOLLET;
  event.data.ptr = owner;
  return ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) == 0;
}

// The rest of what a sleep found will not be told again.
void SocketEvents::forget(const void* owner) {
  if (slept_) {
    for (epoll_event& event : std::span(events_).first(static_cast<std::size_t>(*slept_))) {
      if (event.data.ptr == owner) {
        event.data.ptr = this;
      }
    }
  }
}

std::span<const epoll_event> SocketEvents::take() {
  if (!slept_ && !look_ && ++turns_ < limits::turns_per_look) {
    return {};
  }
  turns_ = 0;
  const int count =
      slept_ ? *slept_ : ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, 0);
  slept_.reset();
  look_ = count == limits::events_per_turn;
  return std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
}

// --- Sleep ---

bool SocketEvents::watch_also(int others) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.ptr = this;
  others_ = others;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, others, &event) == 0;
}

bool SocketEvents::sleep(std::uint64_t span_ns) {
  slept_ = std::max(look_and_sleep(span_ns), 0);
  return std::exchange(others_came_, false) ||
         std::ranges::any_of(std::span(events_).first(static_cast<std::size_t>(*slept_)),
                             [this](const epoll_event& event) { return is_for_others(event); });
}

int SocketEvents::look_and_sleep(std::uint64_t span_ns) {
  const std::uint64_t begun_ns = runtime_.now_ns();
  if (clients_wait_()) {
    return sleep_for(span_ns);
  }
  if (!short_waits_.expected()) {
    const int count = sleep_for(span_ns);
    runtime_.now_ns() - begun_ns < limits::short_sleep_ns ? short_waits_.came()
                                                          : short_waits_.slept_long();
    return count;
  }
  if (gathering_.span_ns() != 0) {
    const int count = gather(span_ns);
    const std::uint64_t napped_ns = runtime_.now_ns() - begun_ns;
    return count > 0 || napped_ns >= span_ns
               ? count
               : sleep_for(span_ns == never_ns ? never_ns : span_ns - napped_ns);
  }
  const std::uint64_t end_ns = begun_ns + std::min(span_ns, limits::look_before_sleep_ns);
  int count = 0;
  do {
    count = ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, 0);
  } while (count == 0 && runtime_.now_ns() < end_ns);
  count > 0 ? short_waits_.came() : short_waits_.looked_in_vain();
  if (count <= 0) {
    return sleep_for(span_ns);
  }
  gathering_.found(static_cast<std::size_t>(count));
  return count;
}

// Deaf to clients, not to the others of the loop. The kernel would add its usual slack, as long as
// the nap, to it.
int SocketEvents::gather(std::uint64_t span_ns) {
  const bool is_whole = span_ns >= gathering_.span_ns();
  const std::timespec span = time_span(std::min(span_ns, gathering_.span_ns()));
  pollfd others = {.fd = others_, .events = POLLIN, .revents = 0};
  const int slack_ns = ::prctl(PR_GET_TIMERSLACK);
  (void)::prctl(PR_SET_TIMERSLACK, 1'000);
  const int cut_short = ::ppoll(&others, 1, &span, nullptr);
  others_came_ = cut_short > 0;  // their event need not be among those that are asked for
  if (slack_ns > 0) {
    (void)::prctl(PR_SET_TIMERSLACK, slack_ns);
  }
  const int count = ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, 0);
  if (is_whole && cut_short == 0) {
    gathering_.gathered(static_cast<std::size_t>(std::max(count, 0)))
        ? short_waits_.came()
        : short_waits_.looked_in_vain();
  }
  return count;
}

int SocketEvents::sleep_for(std::uint64_t span_ns) {
  const std::timespec span = time_span(span_ns);
  const int count = ::epoll_pwait2(epoll_, events_.data(), limits::events_per_turn,
                                   span_ns == never_ns ? nullptr : &span, nullptr);
  if (count >= 0 || errno == EINTR) {
    return count;
  }
  // The kernel is older than this call, or somebody forbids it.
  const std::uint64_t span_ms = std::min<std::uint64_t>(span_ns / 1'000'000 + 1, 1'000);
  return ::epoll_wait(epoll_, events_.data(), limits::events_per_turn, static_cast<int>(span_ms));
}

}  // namespace remora::resp
