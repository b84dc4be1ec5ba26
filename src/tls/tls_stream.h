// TlsStream: TLS over a connected socket that does not block and stays its owner's. `receive` and
// `send` are what recv and send are on the socket itself, so that an owner with both kinds of
// connections has one way for them.
//
// Nothing that has come is kept back here: `receive` takes whole records, so that a socket with
// nothing to read has nothing for the owner, whatever tells it of events.
//
// One thread. Nothing blocks. A first handshake takes up to some milliseconds of processor time:
// owners bound how many are under way, and for how long.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tls/tls_context.h"

struct ssl_st;

namespace remora {

class TlsStream {
 public:
  // The most that a record has, and the least room that `receive` takes.
  static constexpr std::size_t record_bytes = 16 * 1024;

  // The side of a server's context.
  static Result<std::unique_ptr<TlsStream>> accept(const TlsContext& context, int socket);
  // The side of a client's: the certificate must be of this host, a name or an address.
  static Result<std::unique_ptr<TlsStream>> connect(const TlsContext& context, int socket,
                                                    const std::string& host);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream();

  enum class Step : std::uint8_t {
    ready,        // both sides know each other
    wants_input,  // from the peer
    wants_room,   // in the socket
    failed,       // why() tells
  };
  Step handshake();
  bool is_up() const { return is_up_; }

  // As recv: a count, 0 at the end, -1 and errno. Does the handshake first. The room must be at
  // least record_bytes; it is filled as long as so much of it is left.
  ssize_t receive(std::span<char> room);
  // As send. After EAGAIN the same bytes must come again, wherever they lie then, and more may
  // follow them.
  ssize_t send(std::string_view bytes);
  // The peer has sent its last byte, or something failed: `receive` has nothing more.
  bool ended() const { return ended_; }
  // Tells the peer that nothing follows, as far as the socket takes that at once.
  void say_goodbye();

  // What has failed, for people; empty: nothing, or the connection itself.
  const std::string& why() const { return why_; }

  // Whether the first byte of what a peer sends begins TLS.
  static bool is_tls(char first) { return first == 0x16; }

 private:
  explicit TlsStream(ssl_st* stream);
  static Result<std::unique_ptr<TlsStream>> make(const TlsContext& context, int socket);
  Step judge(int returned);

  struct Free {
    void operator()(ssl_st* stream) const;
  };
  const std::unique_ptr<ssl_st, Free> stream_;
  bool is_up_ = false;
  bool ended_ = false;
  bool failed_ = false;
  std::string why_;
};

}  // namespace remora
