// What a stranger may say by TCP to a device that listens: frames of any size in pieces of any
// size, and messages within them. The first byte is the size of the pieces, less one, and whether
// the checksum of each message is put right, so that chance gets past it.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/printable.h"
#include "fabric/nic/wire/roce/control_stream.h"
#include "fabric/nic/wire/roce/net_message.h"

namespace remora::fabric::nic::roce {
namespace {

using net_format::Message;

constexpr std::uint8_t repair_bit = 0x80;

// What was understood is understood again when it is said again.
void check_net_message(ConstBytes bytes) {
  const Result<NetMessage> message = decode_net_message(bytes);
  if (!message.ok()) {
    return;
  }
  const Result<NetMessage> again = decode_net_message(encode(*message));
  REMORA_CHECK(again.ok() && again->kind == message->kind && again->gid == message->gid &&
                   again->mtu_bytes == message->mtu_bytes && again->udp_port == message->udp_port &&
                   again->reason.code() == message->reason.code() &&
                   again->reason.message() == message->reason.message(),
               "said again it is another");
  REMORA_CHECK(std::ranges::all_of(message->reason.message(), is_printable),
               "a reason that steers a terminal");
}

void check_repaired(ConstBytes bytes) {
  std::vector<std::byte> repaired(bytes.begin(), bytes.end());
  repaired.resize(sizeof(Message));
  std::memcpy(repaired.data(), net_format::magic.data(), net_format::magic.size());
  store(repaired.data() + offsetof(Message, version), net_format::version);
  store(repaired.data() + offsetof(Message, checksum),
        crc32c(ConstBytes(repaired).first(offsetof(Message, checksum))));
  check_net_message(repaired);
  repaired.resize(net_format::padded_bytes);
  check_net_message(repaired);
}

void fuzz_stream(ConstBytes bytes, std::size_t piece_bytes, bool repair) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sockets) != 0) {
    return;
  }
  ControlStream stream{Descriptor(sockets[0])};
  std::size_t framed = 0;
  bool closed = false;
  for (ConstBytes rest = bytes; !closed;) {
    const std::size_t size = std::min(piece_bytes, rest.size());
    if (size == 0) {
      ::shutdown(sockets[1], SHUT_WR);
    } else if (::send(sockets[1], rest.data(), size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
      break;  // more than the socket holds
    }
    rest = rest.subspan(size);
    ConstBytes message;
    ControlStream::Got got = stream.receive(message);
    for (; got == ControlStream::Got::message; got = stream.receive(message)) {
      REMORA_CHECK(!message.empty() && message.size() <= net_format::message_bytes_max,
                   "a message within its bounds");
      REMORA_CHECK(std::ranges::equal(
                       message, bytes.subspan(framed + net_format::head_bytes, message.size())),
                   "a message as it was sent");
      framed += net_format::head_bytes + message.size();
      check_net_message(message);
      if (repair) {
        check_repaired(message);
      }
    }
    closed = got == ControlStream::Got::closed;
    REMORA_CHECK(closed || size != 0, "the end of a stream is heard");
  }
  ::close(sockets[1]);
}

}  // namespace
}  // namespace remora::fabric::nic::roce

#ifdef REMORA_ROCE_CORPUS
#define REMORA_NET_FUZZ_ENTRY net_fuzz_one
int net_fuzz_one(const std::uint8_t* data, std::size_t size);
#else
#define REMORA_NET_FUZZ_ENTRY LLVMFuzzerTestOneInput
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
#endif

int REMORA_NET_FUZZ_ENTRY(const std::uint8_t* data, std::size_t size) {
  using namespace remora;
  using namespace remora::fabric::nic::roce;
  if (size == 0) {
    return 0;
  }
  const ConstBytes bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const bool repair = (data[0] & repair_bit) != 0;
  const std::size_t piece_bytes = 64 * (1u + (data[0] & (repair_bit - 1)));
  fuzz_stream(bytes, piece_bytes, repair);
  return 0;
}
