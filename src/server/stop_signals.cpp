#include "server/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace remora::server {

Result<std::unique_ptr<StopSignals>> StopSignals::create(Runtime& runtime, bool can_reread) {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGHUP);
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

bool StopSignals::serve() {
  signalfd_siginfo info;
  bool some = false;
  while (read(descriptor_, &info, sizeof info) == sizeof info) {
    ++(can_reread_ && info.ssi_signo == SIGHUP ? rereads_ : count_);
    some = true;
  }
  return some;
}

}  // namespace remora::server
