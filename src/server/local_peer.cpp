#include "server/local_peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/socket_address.h"

namespace remora::server {
namespace {

struct Question {
  nlmsghdr header = {};
  inet_diag_req_v2 request = {};
};

// An address as the kernel's tables have it. A peer that came by IPv4 to a socket of IPv6 is there
// under IPv4.
struct End {
  unsigned char family = AF_INET;
  __be16 port = 0;
  std::array<__be32, 4> address = {};
};

End end_of(const SocketAddress& address) {
  End end;
  end.port = htons(address.port());
  if (address.family() == AF_INET) {
    sockaddr_in four;
    std::memcpy(&four, &address.storage, sizeof four);
    end.address[0] = four.sin_addr.s_addr;
    return end;
  }
  sockaddr_in6 six;
  std::memcpy(&six, &address.storage, sizeof six);
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    std::memcpy(end.address.data(), six.sin6_addr.s6_addr + 12, 4);
    return end;
  }
  end.family = AF_INET6;
  std::memcpy(end.address.data(), six.sin6_addr.s6_addr, 16);
  return end;
}

Question question_about(const End& peer, const End& own) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = peer.family;
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = 1u << TCP_ESTABLISHED | 1u << TCP_FIN_WAIT1 | 1u << TCP_FIN_WAIT2;
  inet_diag_sockid& id = question.request.id;
  id.idiag_sport = peer.port;
  id.idiag_dport = own.port;
  std::memcpy(id.idiag_src, peer.address.data(), sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, own.address.data(), sizeof id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

// A peer that sends no more (shutdown) may still read, and is somebody as long as a process has it.
bool is_connected(unsigned state) {
  return state == TCP_ESTABLISHED || state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2;
}

// The kernel may answer with a socket that listens at the peer's port; and one that its process has
// closed belongs to nobody, which it says as user 0.
bool answers(const inet_diag_msg& answer, const inet_diag_sockid& asked) {
  return is_connected(answer.idiag_state) && answer.idiag_inode != 0 &&
         answer.id.idiag_sport == asked.idiag_sport && answer.id.idiag_dport == asked.idiag_dport &&
         std::memcmp(answer.id.idiag_src, asked.idiag_src, sizeof asked.idiag_src) == 0 &&
         std::memcmp(answer.id.idiag_dst, asked.idiag_dst, sizeof asked.idiag_dst) == 0;
}

// Whom the kernel's answer names.
std::optional<uid_t> user_in(ConstBytes bytes, const Question& question) {
  nlmsghdr header;
  inet_diag_msg answer;
  if (bytes.size() < sizeof header + sizeof answer) {
    return std::nullopt;
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memcpy(&answer, bytes.data() + sizeof header, sizeof answer);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || !answers(answer, question.request.id)) {
    return std::nullopt;
  }
  return answer.idiag_uid;
}

}  // namespace

// A question that was not answered leaves its answer behind, and who asks next would take it for
// the own: so a socket is for questions that are answered, and the next one is asked on a new one.
std::optional<uid_t> LocalPeer::user_of(int descriptor) {
  SocketAddress own;
  SocketAddress peer;
  if (::getsockname(descriptor, own.plain(), &own.size_bytes) != 0 ||
      ::getpeername(descriptor, peer.plain(), &peer.size_bytes) != 0) {
    return std::nullopt;
  }
  const Question question = question_about(end_of(peer), end_of(own));
  constexpr int tries = 2;
  for (int i = 0; i < tries; ++i) {
    if (!kernel_.open()) {
      kernel_ = fabric::nic::Descriptor(
          ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
    }
    // The kernel has answered when `send` returns.
    alignas(nlmsghdr) std::array<std::byte, 4096> bytes;
    if (::send(kernel_.number(), &question, sizeof question, 0) == sizeof question) {
      const ssize_t size = ::recv(kernel_.number(), bytes.data(), bytes.size(), 0);
      if (size >= 0) {
        return user_in(ConstBytes(bytes).first(static_cast<std::size_t>(size)), question);
      }
    }
    kernel_.close();
  }
  return std::nullopt;
}

}  // namespace remora::server
