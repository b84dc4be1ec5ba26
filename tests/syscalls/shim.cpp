// Preloaded into the server by syscalls_test, and used by nothing else: the n-th call of one kind
// fails. REMORA_FAIL says which: "msync:3" fails the third call alone, "msync:3+" that and every
// later one. A kind is several functions that do the same. Where REMORA_FAIL_FROM names a file,
// calls count from the moment when there is such a file. Where REMORA_FAIL_TOLD names one, it is
// made when the first call fails.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

struct Plan {
  char kind[32] = {};
  long first = 0;  // 0: nothing fails
  bool and_later = false;
};

const Plan& plan() {
  static const Plan made = [] {
    Plan read;
    const char* text = std::getenv("REMORA_FAIL");
    const char* colon = text == nullptr ? nullptr : std::strchr(text, ':');
    if (colon != nullptr && static_cast<std::size_t>(colon - text) < sizeof read.kind) {
      std::memcpy(read.kind, text, static_cast<std::size_t>(colon - text));
      char* end = nullptr;
      read.first = std::strtol(colon + 1, &end, 10);
      read.and_later = *end == '+';
    }
    return read;
  }();
  return made;
}

std::atomic<long> calls = 0;  // of the kind that is to fail

bool has_begun() {
  static const char* const file = std::getenv("REMORA_FAIL_FROM");
  static std::atomic<bool> begun = file == nullptr;
  if (!begun.load(std::memory_order_relaxed) && access(file, F_OK) == 0) {
    begun = true;
  }
  return begun;
}

void tell() {
  static const char* const file = std::getenv("REMORA_FAIL_TOLD");
  static std::atomic<bool> told = file == nullptr;
  if (!told.exchange(true)) {
    (void)syscall(SYS_close, syscall(SYS_open, file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
}

// About half, in no rhythm: one that keeps step with a loop's calls would fail the same one for
// ever.
bool is_odd(long call) {
  return (static_cast<unsigned long>(call) * 0x9e3779b97f4a7c15ul >> 61 & 1) != 0;
}

// A signal interrupts many waits, and not all of them: else nobody is ever told of anything.
bool is_among_later(const char* kind, long call) {
  const long after = call - plan().first;
  return plan().and_later && after > 0 && (is_odd(after) || std::strcmp(kind, "epoll_wait") != 0);
}

// Whether this call is to fail, and errno if so.
bool fails(const char* kind, int error) {
  if (plan().first == 0 || std::strcmp(plan().kind, kind) != 0) {
    return false;
  }
  const int before = errno;
  if (!has_begun()) {
    errno = before;
    return false;
  }
  const long call = ++calls;
  if (call != plan().first && !is_among_later(kind, call)) {
    errno = before;
    return false;
  }
  tell();
  errno = error;
  return true;
}

// One for each function: `Name` is a type of its own.
template <typename Function, typename Name>
Function* real(Name) {
  static Function* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, Name::text()));
  return found;
}

}  // namespace

#define SHIM(result, failed, kind, error, name, parameters, arguments)              \
  extern "C" result name parameters {                                               \
    struct Name {                                                                   \
      static const char* text() { return #name; }                                   \
    };                                                                              \
    return fails(kind, error) ? failed : real<result parameters>(Name()) arguments; \
  }

SHIM(int, -1, "msync", EIO, msync, (void* at, size_t size, int flags), (at, size, flags))
SHIM(int, -1, "fdatasync", EIO, fdatasync, (int file), (file))
SHIM(int, -1, "fdatasync", EIO, fsync, (int file), (file))
SHIM(int, ENOSPC, "fallocate", ENOSPC, posix_fallocate, (int file, off_t from, off_t size),
     (file, from, size))
SHIM(int, ENOSPC, "fallocate", ENOSPC, posix_fallocate64, (int file, off64_t from, off64_t size),
     (file, from, size))
SHIM(void*, MAP_FAILED, "mmap", ENOMEM, mmap,
     (void* at, size_t size, int protection, int flags, int file, off_t from),
     (at, size, protection, flags, file, from))
SHIM(void*, MAP_FAILED, "mmap", ENOMEM, mmap64,
     (void* at, size_t size, int protection, int flags, int file, off64_t from),
     (at, size, protection, flags, file, from))
SHIM(int, -1, "ftruncate", EIO, ftruncate, (int file, off_t size), (file, size))
SHIM(int, -1, "ftruncate", EIO, ftruncate64, (int file, off64_t size), (file, size))
SHIM(int, -1, "memfd_create", EMFILE, memfd_create, (const char* name, unsigned flags),
     (name, flags))
SHIM(int, -1, "socket", EMFILE, socket, (int domain, int type, int protocol),
     (domain, type, protocol))
SHIM(int, -1, "socket", EMFILE, socketpair, (int domain, int type, int protocol, int* pair),
     (domain, type, protocol, pair))
SHIM(int, -1, "connect", ECONNREFUSED, connect,
     (int socket, const sockaddr* address, socklen_t size), (socket, address, size))
SHIM(int, -1, "accept", EMFILE, accept4,
     (int listener, sockaddr* address, socklen_t* size, int flags),
     (listener, address, size, flags))
SHIM(int, -1, "accept", EMFILE, accept, (int listener, sockaddr* address, socklen_t* size),
     (listener, address, size))
SHIM(ssize_t, -1, "recv", ENOMEM, recv, (int socket, void* to, size_t size, int flags),
     (socket, to, size, flags))
SHIM(ssize_t, -1, "recv", ENOMEM, recvmsg, (int socket, msghdr* message, int flags),
     (socket, message, flags))
SHIM(ssize_t, -1, "send", ENOBUFS, send, (int socket, const void* from, size_t size, int flags),
     (socket, from, size, flags))
SHIM(ssize_t, -1, "send", ENOBUFS, sendmsg, (int socket, const msghdr* message, int flags),
     (socket, message, flags))
// A wait for events has one way to fail in a program without mistakes.
SHIM(int, -1, "epoll_wait", EINTR, epoll_wait,
     (int set, epoll_event* events, int most, int timeout_ms), (set, events, most, timeout_ms))
SHIM(int, -1, "epoll_wait", EINTR, epoll_pwait2,
     (int set, epoll_event* events, int most, const timespec* timeout, const sigset_t* mask),
     (set, events, most, timeout, mask))
SHIM(int, -1, "epoll_ctl", ENOMEM, epoll_ctl,
     (int set, int operation, int file, epoll_event* event), (set, operation, file, event))
SHIM(int, -1, "epoll_create", EMFILE, epoll_create1, (int flags), (flags))
SHIM(int, -1, "eventfd", EMFILE, eventfd, (unsigned count, int flags), (count, flags))
SHIM(ssize_t, -1, "read", EIO, read, (int file, void* to, size_t size), (file, to, size))
SHIM(ssize_t, -1, "read", EIO, pread, (int file, void* to, size_t size, off_t from),
     (file, to, size, from))
SHIM(ssize_t, -1, "read", EIO, pread64, (int file, void* to, size_t size, off64_t from),
     (file, to, size, from))
SHIM(ssize_t, -1, "write", EIO, write, (int file, const void* from, size_t size),
     (file, from, size))
SHIM(ssize_t, -1, "write", EIO, pwrite, (int file, const void* from, size_t size, off_t to),
     (file, from, size, to))
SHIM(ssize_t, -1, "write", EIO, pwrite64, (int file, const void* from, size_t size, off64_t to),
     (file, from, size, to))
SHIM(int, -1, "signalfd", EMFILE, signalfd, (int file, const sigset_t* mask, int flags),
     (file, mask, flags))
SHIM(pid_t, -1, "fork", EAGAIN, fork, (), ())
SHIM(int, EAGAIN, "thread", EAGAIN, pthread_create,
     (pthread_t * thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument),
     (thread, attributes, work, argument))
