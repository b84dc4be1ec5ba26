// What the wires share that lead to other processes: who is at the other end of a link, whom a wire
// tells about its links, and how large the messages are that its owner sends beside the packets.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/types.h"

namespace remora::fabric::nic {

class Shortcut;

// Bytes of one control message, and of one message of a short cut.
inline constexpr std::size_t control_bytes_max = 4096;

// Who the kernel says the other process was when it connected, or began to listen.
struct HostIdentity {
  uid_t uid = 0;
  gid_t group = 0;
  pid_t pid = 0;
};

// Who is at the other end. The gid is what it says of itself; the rest is from the kernel.
struct HostPeer {
  Gid gid{};
  HostIdentity identity;
  Gid from{};  // the address that it comes from, where that is the network
};

// Whom a wire tells about its links. Its functions are called from the wire's polls, and may call
// the wire, but not destroy it nor call its polls.
class LinkOwner {
 public:
  virtual ~LinkOwner() = default;
  // Whether a peer that has connected to the listener is welcome; it is told the reason if not. May
  // be asked more than once before its link is up.
  virtual Status admit(const HostPeer&) { return {}; }
  virtual void link_up(LinkId, const HostPeer&) {}
  // After the NIC was told. The id is never used again.
  virtual void link_down(LinkId) {}
  // A control message; its bytes are there until this returns, and may be anything.
  virtual void control(LinkId, ConstBytes) {}
  // A process came to the listener and got no link. Of a connector: the listener has refused, after
  // all, the link that it had; link_down follows.
  virtual void refused(const Status&) {}
};

// What a short cut hears beside the packets, of links whose both ends have one. Called from the
// wire's polls and from whatever cuts a link off; may call the wire as a LinkOwner may.
class LinkSide {
 public:
  virtual ~LinkSide() = default;
  virtual const char* wire_name() const = 0;
  virtual Shortcut& shortcut() = 0;
  virtual void side_up(LinkId link, const HostPeer& peer, Descriptor process) = 0;
  // At once, before anybody else is told.
  virtual void side_down(LinkId link) = 0;
  // The bytes are there until this returns, and may be anything, as may the descriptor.
  virtual void side_message(LinkId link, ConstBytes bytes, Descriptor passed) = 0;
};

}  // namespace remora::fabric::nic
