#include "fabric/nic/wire/roce/udp_socket.h"

#include <fmt/core.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "fabric/nic/wire/roce/roce_limits.h"

namespace remora::fabric::nic::roce {
namespace {

bool set_option(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// As much as may be had: root may go beyond the system's limit.
void ask_for_buffer(int socket, int forced, int asked) {
  if (!set_option(socket, SOL_SOCKET, forced, limits::socket_buffer_bytes)) {
    set_option(socket, SOL_SOCKET, asked, limits::socket_buffer_bytes);
  }
}

std::uint32_t receive_buffer_of(int socket) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size);
  return static_cast<std::uint32_t>(bytes);
}

Status set_up(int socket, bool is_v4) {
  const bool no_fragments =
      is_v4 ? set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
            : set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
                  set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (!no_fragments) {
    return os_failure("cannot forbid fragments on a UDP socket", errno);
  }
  // Without it every packet arrives by itself: slower, and nothing else.
  set_option(socket, IPPROTO_UDP, UDP_GRO, 1);
  ask_for_buffer(socket, SO_RCVBUFFORCE, SO_RCVBUF);
  ask_for_buffer(socket, SO_SNDBUFFORCE, SO_SNDBUF);
  return {};
}

union alignas(cmsghdr) Ancillary {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Result<UdpSocket> UdpSocket::open(const IpEndpoint& local) {
  const int family = local.is_v4() ? AF_INET : AF_INET6;
  Descriptor socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.open()) {
    return os_failure("cannot make a UDP socket", errno);
  }
  REMORA_TRY(set_up(socket.number(), local.is_v4()));
  const SocketAddress address = socket_address(local);
  if (bind(socket.number(), address.plain(), address.size_bytes) != 0) {
    if (errno == EADDRINUSE) {
      return Status(
          Code::in_use,
          fmt::format("another process uses UDP {}; end it, or choose another port or address",
                      to_string(local)));
    }
    return os_failure(fmt::format("cannot take UDP {}", to_string(local)), errno);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket.number(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return os_failure("cannot ask a UDP socket for its address", errno);
  }
  const std::uint32_t buffer_bytes = receive_buffer_of(socket.number());
  return UdpSocket(std::move(socket), endpoint_of(bound), buffer_bytes);
}

UdpSocket::Sent UdpSocket::send(const SocketAddress& to, ConstBytes bytes,
                                std::size_t segment_bytes) {
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_name = const_cast<sockaddr*>(to.plain());
  message.msg_namelen = to.size_bytes;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  Ancillary ancillary;
  const bool in_segments = segment_bytes < bytes.size();
  if (in_segments) {
    message.msg_control = ancillary.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(std::uint16_t));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
    const auto size = static_cast<std::uint16_t>(segment_bytes);
    std::memcpy(CMSG_DATA(header), &size, sizeof size);
  }
  if (sendmsg(socket_.number(), &message, MSG_NOSIGNAL) >= 0) [[likely]] {
    return Sent::yes;
  }
  switch (errno) {
    case EAGAIN:
    case ENOBUFS:
    case EINTR:
      return Sent::later;
    case EIO:
    case EINVAL:
    case EOPNOTSUPP:
      return in_segments ? Sent::not_segments : Sent::lost;
    default:
      return Sent::lost;
  }
}

bool UdpSocket::receive(Bytes buffer, Arrived& arrived) {
  iovec piece{buffer.data(), buffer.size()};
  sockaddr_storage from;
  from.ss_family = AF_UNSPEC;
  Ancillary ancillary;
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.bytes;
  message.msg_controllen = sizeof ancillary.bytes;
  const ssize_t size = recvmsg(socket_.number(), &message, 0);
  if (size < 0) {
    return false;
  }
  arrived.bytes = buffer.first(static_cast<std::size_t>(size));
  arrived.segment_bytes = arrived.bytes.size();
  arrived.from = endpoint_of(from);
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_UDP && header->cmsg_type == UDP_GRO) {
      int segment = 0;
      std::memcpy(&segment, CMSG_DATA(header), sizeof segment);
      arrived.segment_bytes = static_cast<std::size_t>(segment);
    }
  }
  return true;
}

}  // namespace remora::fabric::nic::roce
