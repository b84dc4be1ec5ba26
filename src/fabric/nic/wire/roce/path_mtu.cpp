#include "fabric/nic/wire/roce/path_mtu.h"

#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"
#include "fabric/nic/wire/roce/roce_limits.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr std::size_t v4_begin = 12;

// Whether the interface's network holds the address. Only loopback answers to all of its network.
bool answers_to(const ifaddrs& entry, const Gid& wanted) {
  if (entry.ifa_addr == nullptr) {
    return false;
  }
  sockaddr_storage storage{};
  const int family = entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) {
    return false;
  }
  std::memcpy(&storage, entry.ifa_addr,
              family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  if (endpoint_of(storage).address == wanted) {
    return true;
  }
  const bool is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  return is_loopback && family == AF_INET && IpEndpoint{wanted}.is_v4() && wanted[v4_begin] == 127;
}

Result<std::uint32_t> mtu_of(const char* interface_name) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface_name, IFNAMSIZ - 1);
  if (!socket.open() || ioctl(socket.number(), SIOCGIFMTU, &request) != 0) {
    return os_failure(fmt::format("cannot ask for the MTU of {}", interface_name), errno);
  }
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

// 0 when the socket has no such option, or no peer.
std::uint32_t ask_mtu(int socket, int level, int option) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  return getsockopt(socket, level, option, &bytes, &size) == 0 ? static_cast<std::uint32_t>(bytes)
                                                               : 0;
}

}  // namespace

bool is_roce_mtu(std::uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes >= limits::mtu_bytes_min &&
         bytes <= limits::mtu_bytes_max;
}

std::uint32_t roce_mtu(std::uint32_t ip_mtu_bytes) {
  for (std::uint32_t mtu = limits::mtu_bytes_max; mtu >= limits::mtu_bytes_min; mtu /= 2) {
    if (ip_mtu_bytes >= mtu + limits::around_bytes) {
      return mtu;
    }
  }
  return 0;
}

Result<std::uint32_t> interface_mtu_of(const Gid& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return os_failure("cannot list the network interfaces", errno);
  }
  std::string name;
  for (const ifaddrs* entry = list; entry != nullptr && name.empty(); entry = entry->ifa_next) {
    if (answers_to(*entry, address)) {
      name = entry->ifa_name;
    }
  }
  freeifaddrs(list);
  if (name.empty()) {
    return Status(Code::not_found,
                  fmt::format("no network interface of this machine has the address "
                              "{}; `ip address` lists those that there are",
                              address_text(address)));
  }
  REMORA_TRY_RESULT(interface_mtu, mtu_of(name.c_str()));
  const std::uint32_t mtu = roce_mtu(*interface_mtu);
  if (mtu == 0) {
    return Status(Code::unsupported, fmt::format("the MTU of {}, {} bytes, is too small for RoCE",
                                                 name, *interface_mtu));
  }
  return mtu;
}

Result<std::uint32_t> path_mtu_of(int socket) {
  const std::uint32_t v4_bytes = ask_mtu(socket, IPPROTO_IP, IP_MTU);
  const std::uint32_t bytes = v4_bytes != 0 ? v4_bytes : ask_mtu(socket, IPPROTO_IPV6, IPV6_MTU);
  if (bytes == 0) {
    return limits::mtu_bytes_max;
  }
  if (roce_mtu(bytes) == 0) {
    return Status(Code::unsupported,
                  fmt::format("the way between the two machines carries packets of at most {} "
                              "bytes, and RoCE needs {}; look at the MTU of interfaces and routes",
                              bytes, limits::mtu_bytes_min + limits::around_bytes));
  }
  return roce_mtu(bytes);
}

Result<std::uint32_t> agreed_mtu(std::uint32_t own_bytes, std::uint32_t said_bytes) {
  if (!is_roce_mtu(said_bytes)) {
    return Status(
        Code::invalid_argument,
        fmt::format("the peer names an MTU of {} bytes, which RoCE does not have", said_bytes));
  }
  return std::min(own_bytes, said_bytes);
}

}  // namespace remora::fabric::nic::roce
