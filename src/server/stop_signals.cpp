#include "server/stop_signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace remora::server {
namespace {

sigset_t stop_signals() {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGHUP);
  return stops;
}

// The number of one that is there, where the descriptor cannot be read; 0 if there is none. A
// server that is told to stop stops.
int take_pending() {
  const sigset_t stops = stop_signals();
  const timespec now = {};
  const int signal = sigtimedwait(&stops, nullptr, &now);
  return signal > 0 ? signal : 0;
}

}  // namespace

Result<std::unique_ptr<StopSignals>> StopSignals::create(Runtime& runtime, bool can_reread) {
  const sigset_t stops = stop_signals();
  sigset_t before;
  if (pthread_sigmask(SIG_BLOCK, &stops, &before) != 0) {
    return os_failure("cannot wait for signals", errno);
  }
  const int descriptor = signalfd(-1, &stops, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0) {
    const int error_number = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return os_failure("cannot wait for signals", error_number);
  }
  std::unique_ptr<StopSignals> signals(new StopSignals(descriptor, before, can_reread));
  runtime.add_poller(*signals);
  return signals;
}

StopSignals::~StopSignals() {
  close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignals::ignore() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    (void)::signal(signal, SIG_IGN);
  }
}

void StopSignals::took(int signal) {
  ++(can_reread_ && signal == SIGHUP ? rereads_ : count_);
}

bool StopSignals::serve() {
  signalfd_siginfo info;
  bool some = false;
  while (read(descriptor_, &info, sizeof info) == sizeof info) {
    took(static_cast<int>(info.ssi_signo));
    some = true;
  }
  if (errno != EAGAIN && errno != EINTR) [[unlikely]] {
    for (int signal = take_pending(); signal != 0; signal = take_pending()) {
      took(signal);
      some = true;
    }
  }
  return some;
}

}  // namespace remora::server
