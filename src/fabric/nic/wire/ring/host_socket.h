// Sockets between processes of one host: they find each other by a path, learn who the other is
// from the kernel, and pass descriptors. Packets are kept apart and in order (SOCK_SEQPACKET).
//
// One thread. Nothing blocks.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/link_owner.h"

namespace remora::fabric::nic::ring {

class HostSocket {
 public:
  explicit HostSocket(Descriptor socket) : socket_(std::move(socket)) {}

  // Connects to a listener: not_found when nobody listens at the path, no_space when too many wait
  // there already.
  static Result<HostSocket> connect(const std::string& path);

  int descriptor() const { return socket_.number(); }
  Result<HostIdentity> identity() const;
  // A handle on that process (a pidfd), which never comes to mean another one; closed when there is
  // none to be had.
  Descriptor process() const;

  // One message, with a descriptor if it is not -1; the caller keeps it. no_space when the peer has
  // too many unread: nothing was sent.
  Status send(ConstBytes bytes, int passed_descriptor = -1);

  enum class Got : std::uint8_t {
    message,
    nothing,   // none is there at the moment
    too_much,  // a message that was too long, or had more descriptors than one
    closed,    // the peer is gone, or sent an empty message
  };
  // The next message: its bytes go to `buffer`, their count to `size_bytes`. `passed` gets the
  // descriptor that came with it; without it, descriptors are dropped. All others are closed.
  Got receive(Bytes buffer, std::size_t& size_bytes, Descriptor* passed = nullptr);

  // Neither side hears of the other from here on, and both find out.
  void shut_down();

 private:
  Descriptor socket_;
};

class HostListener {
 public:
  // Listens at the path; the socket file has this mode. One that a dead process left is replaced;
  // in_use when somebody listens there, already_exists when it is something else than a socket,
  // invalid_argument when the path is too long for a socket.
  static Result<HostListener> open(const std::string& path, mode_t mode = 0600);

  HostListener(HostListener&&) noexcept = default;
  HostListener& operator=(HostListener&&) = delete;
  // Removes the socket file, if it is still its own.
  ~HostListener();

  int descriptor() const { return socket_.number(); }
  const std::string& path() const { return path_; }

  // The next process that wants in, if there is one.
  Result<std::optional<HostSocket>> accept();

 private:
  HostListener(Descriptor socket, std::string path, dev_t device, ino_t inode)
      : socket_(std::move(socket)), path_(std::move(path)), device_(device), inode_(inode) {}

  Descriptor socket_;
  std::string path_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace remora::fabric::nic::ring
