// What a process of this host may say about memory that can be mapped: a message by a socket, with
// descriptors. The first byte is how many of them; the rest is the message.
#include "fabric/nic/wire/joined/fuzz/mapped_message_fuzz.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"
#include "fabric/nic/wire/mapped/mapped_message.h"
#include "fabric/nic/wire/ring/handshake.h"
#include "fabric/nic/wire/ring/host_socket.h"
#include "pmem/region.h"

namespace remora::fabric::nic::joined {
namespace {

using mapped::MappedKind;
using mapped::MappedMessage;
using ring::Frame;
using ring::FrameKind;
using ring::HostSocket;

constexpr std::size_t descriptors_at_most = 6;  // some more than the receiver makes room for

// What was understood is what came, and makes sense.
void check_mapped_message(ConstBytes bytes) {
  const std::optional<MappedMessage> message = mapped::parse_mapped(bytes);
  if (!message) {
    return;
  }
  REMORA_CHECK(std::ranges::equal(encode(*message), bytes), "said again it is another");
  REMORA_CHECK(message->kind >= static_cast<std::uint16_t>(MappedKind::ask) &&
                   message->kind <= static_cast<std::uint16_t>(MappedKind::forget),
               "a kind that there is");
  REMORA_CHECK(message->medium <= static_cast<std::uint8_t>(Granularity::page),
               "a medium that there is");
  REMORA_CHECK(message->slot < mapped::limits::grants, "a slot that there is");
  REMORA_CHECK(message->base + message->length >= message->base &&
                   message->offset + message->length >= message->offset,
               "a region that does not wrap");
}

bool send_with(int socket, ConstBytes bytes, std::size_t descriptors) {
  alignas(cmsghdr) char room[CMSG_SPACE(descriptors_at_most * sizeof(int))] = {};
  iovec piece = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (descriptors != 0) {
    header.msg_control = room;
    header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    cmsghdr* const passed = CMSG_FIRSTHDR(&header);
    passed->cmsg_level = SOL_SOCKET;
    passed->cmsg_type = SCM_RIGHTS;
    passed->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    for (std::size_t i = 0; i < descriptors; ++i) {
      std::memcpy(CMSG_DATA(passed) + i * sizeof socket, &socket, sizeof socket);
    }
  }
  return ::sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

void check_message_by_socket(ConstBytes bytes, std::size_t descriptors) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return;
  }
  const Descriptor far(sockets[1]);
  HostSocket near{Descriptor(sockets[0])};
  if (!send_with(far.number(), bytes, descriptors)) {
    return;  // more than the socket holds
  }
  std::array<std::byte, ring::frame_bytes_max> buffer;
  std::size_t size_bytes = 0;
  Descriptor passed;
  const HostSocket::Got got = near.receive(buffer, size_bytes, &passed);
  const bool too_much = descriptors > 1 || bytes.size() > buffer.size();
  REMORA_CHECK((got == HostSocket::Got::too_much) == too_much, "too much is told from the rest");
  if (got != HostSocket::Got::message) {
    REMORA_CHECK(too_much || bytes.empty(), "a message that came is received");
    return;
  }
  REMORA_CHECK(passed.open() == (descriptors == 1), "the descriptor that came with it, or none");
  REMORA_CHECK(std::ranges::equal(bytes, ConstBytes(buffer).first(size_bytes)), "as it was sent");
  const Result<Frame> frame = ring::parse_frame(ConstBytes(buffer).first(size_bytes));
  if (frame.ok() && frame->kind == FrameKind::side) {
    check_mapped_message(frame->payload);
  }
}

int lowest_free_descriptor() {
  return Descriptor(::open("/", O_PATH | O_CLOEXEC)).number();
}

}  // namespace

int fuzz_mapped_message(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const ConstBytes bytes = std::as_bytes(std::span(data, size)).subspan(1);
  check_mapped_message(bytes);
  const int before = lowest_free_descriptor();
  check_message_by_socket(bytes, data[0] % (descriptors_at_most + 1));
  REMORA_CHECK(lowest_free_descriptor() == before, "a descriptor stays open");
  return 0;
}

}  // namespace remora::fabric::nic::joined

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::fabric::nic::joined::fuzz_mapped_message(data, size);
}
#endif
