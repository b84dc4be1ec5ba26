#include "runtime/door.h"

#include <sys/epoll.h>

#include <cerrno>

namespace remora {
namespace {

bool watch(int set, int how, int listener, std::uint64_t data, bool listens) {
  epoll_event event = {};
  event.events = listens ? static_cast<std::uint32_t>(EPOLLIN) : 0;
  event.data.u64 = data;
  return ::epoll_ctl(set, how, listener, &event) == 0;
}

}  // namespace

Status Door::open(int set, int listener, std::uint64_t data) {
  if (!watch(set, EPOLL_CTL_ADD, listener, data, true)) {
    return os_failure("cannot watch a socket", errno);
  }
  set_ = set;
  listener_ = listener;
  data_ = data;
  is_shut_ = false;
  return {};
}

bool Door::listen(bool listens) const {
  return watch(set_, EPOLL_CTL_MOD, listener_, data_, listens);
}

void Door::shut() {
  if (listener_ >= 0 && !is_shut_) {
    is_shut_ = listen(false);
  }
}

void Door::rest() {
  shut();
  if (is_shut_) {
    scheduler_.arm(*this, scheduler_.after(rest_ns));
  }
}

void Door::open_again() {
  if (!is_shut_) {
    return;
  }
  is_shut_ = !listen(true);
  if (is_shut_) {
    scheduler_.arm(*this, scheduler_.after(rest_ns));
  } else {
    disarm();
  }
}

void Door::forget() {
  disarm();
  listener_ = -1;
  is_shut_ = false;
}

bool Door::is_want(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace remora
