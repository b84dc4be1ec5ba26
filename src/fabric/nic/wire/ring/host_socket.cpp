#include "fabric/nic/wire/ring/host_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fabric/nic/wire/ring/ring_limits.h"

namespace remora::fabric::nic::ring {
namespace {

struct Address {
  sockaddr_un name = {};
  socklen_t size_bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Result<Address> address_of(const std::string& path) {
  Address address;
  if (path.empty() || path.find('\0') != path.npos || path.size() >= sizeof address.name.sun_path) {
    return Status(Code::invalid_argument,
                  "\"" + path + "\" cannot be the path of a socket: it takes 1 to " +
                      std::to_string(sizeof address.name.sun_path - 1) + " bytes");
  }
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, path.data(), path.size());
  address.size_bytes = sizeof address.name;
  return address;
}

Descriptor new_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// While this is there no other process makes a listener at the same path, so that nobody takes a
// socket that is bound but does not listen yet for one that a dead process left. It is a lock on a
// file beside the socket, of this user alone: a name that any process could take would let any
// process keep this one from listening.
class PathLock {
 public:
  explicit PathLock(const std::string& path) : name_(path + ".lock") {}
  PathLock(const PathLock&) = delete;
  PathLock& operator=(const PathLock&) = delete;
  ~PathLock() {
    if (file_.open()) {
      ::unlink(name_.c_str());  // while it is locked: it is this one's
    }
  }

  Status take() {
    constexpr int most_tries = 16;
    for (int i = 0; i < most_tries; ++i) {
      Descriptor file(
          ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
      struct stat locked = {};
      if (!file.open() || ::fstat(file.number(), &locked) != 0) {
        return os_failure("cannot make the file " + name_, errno);
      }
      if (locked.st_uid != ::geteuid()) {
        return Status(Code::permission_denied,
                      name_ + " belongs to another user: remove it, or choose another path");
      }
      if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
        return Status(Code::in_use, "another process begins to listen there: it has " + name_);
      }
      struct stat named = {};
      if (::lstat(name_.c_str(), &named) == 0 && named.st_dev == locked.st_dev &&
          named.st_ino == locked.st_ino) {
        file_ = std::move(file);
        return {};
      }
      // Its last owner has removed it meanwhile.
    }
    return Status(Code::in_use, "other processes begin to listen there again and again");
  }

 private:
  std::string name_;
  Descriptor file_;
};

// Removes what a dead listener left at the path; does nothing where there is nothing.
Status remove_stale(const std::string& path, const Address& address) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0) {
    return errno == ENOENT ? Status() : os_failure("cannot look at " + path, errno);
  }
  if (!S_ISSOCK(facts.st_mode)) {
    return Status(Code::already_exists, path + " exists and is not a socket: choose another path");
  }
  const Descriptor probe = new_socket();
  if (!probe.open()) {
    return os_failure("cannot make a socket", errno);
  }
  if (::connect(probe.number(), address.get(), address.size_bytes) == 0 || errno != ECONNREFUSED) {
    return Status(Code::in_use, "a process listens at " + path + " already");
  }
  return ::unlink(path.c_str()) == 0 ? Status() : os_failure("cannot remove " + path, errno);
}

// Takes every descriptor that came with a message: none may leak, however many there are.
void take_descriptors(msghdr& header, Descriptor* first, std::size_t& count) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t held = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < held; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(item) + i * sizeof(int), sizeof number);
      Descriptor descriptor(number);
      if (count++ == 0) {
        *first = std::move(descriptor);
      }
    }
  }
}

}  // namespace

Result<HostSocket> HostSocket::connect(const std::string& path) {
  REMORA_TRY_RESULT(address, address_of(path));
  Descriptor socket = new_socket();
  if (!socket.open()) {
    return os_failure("cannot make a socket", errno);
  }
  if (::connect(socket.number(), address->get(), address->size_bytes) != 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) {
      return Status(Code::not_found, "nobody listens at " + path + ": start the server first");
    }
    if (errno == EAGAIN) {
      return Status(Code::no_space, "too many processes are connecting to " + path + ": try again");
    }
    return os_failure("cannot connect to " + path, errno);
  }
  return HostSocket(std::move(socket));
}

Result<HostIdentity> HostSocket::identity() const {
  ucred credentials = {};
  socklen_t size_bytes = sizeof credentials;
  if (::getsockopt(descriptor(), SOL_SOCKET, SO_PEERCRED, &credentials, &size_bytes) != 0) {
    return os_failure("cannot learn who the peer is", errno);
  }
  return HostIdentity{credentials.uid, credentials.gid, credentials.pid};
}

Descriptor HostSocket::process() const {
  // The system's own number for it; older headers do not have the name.
  constexpr int peer_pidfd = 77;
  int number = -1;
  socklen_t size_bytes = sizeof number;
  if (::getsockopt(descriptor(), SOL_SOCKET, peer_pidfd, &number, &size_bytes) == 0) {
    return Descriptor(number);
  }
  // An older kernel: by the number, which may mean another process if that one has just ended.
  const Result<HostIdentity> who = identity();
  return Descriptor(who.ok() ? static_cast<int>(::syscall(SYS_pidfd_open, who->pid, 0)) : -1);
}

Status HostSocket::send(ConstBytes bytes, int passed_descriptor) {
  iovec piece = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (passed_descriptor >= 0) {
    header.msg_control = room;
    header.msg_controllen = sizeof room;
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &passed_descriptor, sizeof(int));
  }
  if (::sendmsg(descriptor(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
    return {};
  }
  if (errno == EAGAIN || errno == ENOBUFS) {
    return Status(Code::no_space, "the peer has too many unread messages: try again later");
  }
  if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) {
    return Status(Code::closed, "the peer is gone");
  }
  return os_failure("cannot send to the peer", errno);
}

HostSocket::Got HostSocket::receive(Bytes buffer, std::size_t& size_bytes, Descriptor* passed) {
  iovec piece = {buffer.data(), buffer.size()};
  alignas(cmsghdr) char room[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (passed != nullptr) {
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  ssize_t got = ::recvmsg(descriptor(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && errno == ECONNRESET) {
    // Said once, when the peer went with messages unread; what it sent before can still be had.
    got = ::recvmsg(descriptor(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  }
  if (got < 0) {
    return errno == EAGAIN || errno == EINTR ? Got::nothing : Got::closed;
  }
  std::size_t descriptors = 0;
  if (passed != nullptr) {
    take_descriptors(header, passed, descriptors);
  }
  // Descriptors that were cut off though none came: this process has no more to give, which is not
  // the peer's fault. The message has none then.
  if ((header.msg_flags & MSG_TRUNC) != 0 || descriptors > 1 ||
      (descriptors != 0 && (header.msg_flags & MSG_CTRUNC) != 0)) {
    return Got::too_much;
  }
  size_bytes = static_cast<std::size_t>(got);
  return got == 0 ? Got::closed : Got::message;
}

void HostSocket::shut_down() {
  ::shutdown(descriptor(), SHUT_RDWR);
}

Result<HostListener> HostListener::open(const std::string& path, mode_t mode) {
  REMORA_TRY_RESULT(address, address_of(path));
  PathLock lock(path);
  REMORA_TRY(lock.take());
  REMORA_TRY(remove_stale(path, *address));
  Descriptor socket = new_socket();
  // The mode goes before the name, so that nobody slips in between; the umask narrows it, hence the
  // second time.
  if (!socket.open() || ::fchmod(socket.number(), mode) != 0 ||
      ::bind(socket.number(), address->get(), address->size_bytes) != 0) {
    return os_failure("cannot listen at " + path, errno);
  }
  struct stat facts = {};
  if (::chmod(path.c_str(), mode) != 0 || ::lstat(path.c_str(), &facts) != 0 ||
      ::listen(socket.number(), limits::listen_backlog) != 0) {
    const int error_number = errno;
    ::unlink(path.c_str());
    return os_failure("cannot listen at " + path, error_number);
  }
  return HostListener(std::move(socket), path, facts.st_dev, facts.st_ino);
}

HostListener::~HostListener() {
  struct stat facts = {};
  if (socket_.open() && ::lstat(path_.c_str(), &facts) == 0 && facts.st_dev == device_ &&
      facts.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

Result<std::optional<HostSocket>> HostListener::accept() {
  Descriptor socket(::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.open()) {
    return std::optional<HostSocket>(HostSocket(std::move(socket)));
  }
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) {
    return std::optional<HostSocket>();
  }
  return os_failure("cannot let a process in at " + path_, errno);
}

}  // namespace remora::fabric::nic::ring
