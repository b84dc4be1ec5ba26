// UdpSocket: a socket of the roce wire. It is not connected and forbids fragments, so that IPv4's
// identification is 0 and the segments of one call count up from there (see icrc.h). One call sends
// many datagrams of one size (UDP_SEGMENT), and brings many of one sender (UDP_GRO): a datagram
// that takes a call of its own costs some microseconds.
//
// One thread. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"

namespace remora::fabric::nic::roce {

class UdpSocket {
 public:
  // Port 0 takes one that is free. in_use when another process has it.
  static Result<UdpSocket> open(const IpEndpoint& local);

  int descriptor() const { return socket_.number(); }
  const IpEndpoint& local() const { return local_; }
  // What the kernel lets wait here, its own overhead included.
  std::uint32_t receive_buffer_bytes() const { return receive_buffer_bytes_; }

  enum class Sent : std::uint8_t {
    yes,
    later,         // the socket is full
    not_segments,  // the way there cannot do that: send one at a time
    lost,          // the system refused it
  };
  // Datagrams of `segment_bytes` each, of which the last may be shorter.
  Sent send(const SocketAddress& to, ConstBytes bytes, std::size_t segment_bytes);

  struct Arrived {
    ConstBytes bytes;               // within the buffer
    std::size_t segment_bytes = 0;  // of each datagram in them, but the last
    IpEndpoint from;
  };
  // The next ones, of one sender; false when none is there.
  bool receive(Bytes buffer, Arrived& arrived);

 private:
  UdpSocket(Descriptor socket, const IpEndpoint& local, std::uint32_t receive_buffer_bytes)
      : socket_(std::move(socket)), local_(local), receive_buffer_bytes_(receive_buffer_bytes) {}

  Descriptor socket_;
  IpEndpoint local_;
  std::uint32_t receive_buffer_bytes_;
};

}  // namespace remora::fabric::nic::roce
