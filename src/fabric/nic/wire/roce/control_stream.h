// ControlStream: messages over a TCP connection, in clear or by TLS, whole and in order. What the
// peer leaves unread is kept up to a bound; what it sends is taken up to a bound.
//
// One thread. Nothing blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"
#include "tls/tls_stream.h"

namespace remora::fabric::nic::roce {

class ControlStream {
 public:
  // A connected socket; it must not block.
  explicit ControlStream(Descriptor socket);
  // The side of who was connected to, or who connected to that host, by TLS from now on. Messages
  // wait for the handshake, which goes on as the peer is listened to.
  Status accept_tls(const TlsContext& context);
  Status connect_tls(const TlsContext& context, const std::string& host);
  // The handshake is under way, and the peer has said something: to go on takes processor time.
  bool is_next_of_handshake() const;

  int descriptor() const { return socket_.number(); }
  IpEndpoint local() const;
  IpEndpoint peer() const;

  // One message of at most net_format::message_bytes_max: no_space when the peer leaves too many
  // unread, closed when it is gone.
  Status send(ConstBytes message);
  // Sends on what the socket had no room for.
  void push();

  enum class Got : std::uint8_t { message, nothing, closed };
  // The next message. It is there until the next call.
  Got receive(ConstBytes& message);
  // Why it closed, for people.
  Status why_closed() const;

 private:
  Status have(Result<std::unique_ptr<TlsStream>> tls);
  ssize_t take(std::size_t room_bytes);

  Descriptor socket_;
  std::unique_ptr<TlsStream> tls_;  // null: in clear
  std::vector<std::byte> in_;
  std::size_t in_bytes_ = 0;  // of in_, that came
  std::size_t taken_ = 0;     // of them, that the last message took
  std::vector<std::byte> out_;
  bool gone_ = false;
  bool has_heard_ = false;  // a message
};

// Connects, which takes as long as the network does, but some seconds at most.
Result<ControlStream> connect_stream(const IpEndpoint& to);

}  // namespace remora::fabric::nic::roce
