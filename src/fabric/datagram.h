// Datagrams: what a queue pair without a connection (UD) sends, where it goes and who sent it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/bytes.h"
#include "fabric/types.h"
#include "fabric/work.h"

namespace remora::fabric {

// A datagram is one packet, and no packet of any wire carries more than this for one.
inline constexpr std::uint32_t datagram_bytes_max = 4096;

// What the device puts before the message into the receive of a datagram; the completion counts
// both. Its place is the first piece of the receive, which holds it whole.
struct DatagramHeader {
  QpNumber from_number = 0;
  std::uint32_t reserved = 0;
  Gid from{};
  Gid to{};
};
inline constexpr std::size_t datagram_header_bytes = 40;
static_assert(sizeof(DatagramHeader) == datagram_header_bytes &&
              std::is_trivially_copyable_v<DatagramHeader>);

// The way to a peer device, for datagrams. Made from a domain and used by queue pairs of that
// domain; destroyed when nothing that was posted with it is outstanding.
class AddressHandle {
 public:
  virtual ~AddressHandle() = default;
  // What stands for this way in a RemoteAddress; never 0.
  virtual std::uint32_t number() const = 0;

  // A queue pair there, as SendWork::remote names it.
  RemoteAddress to(QpNumber queue_pair, QueueKey key) const {
    return {std::uint64_t{number()} << 32 | queue_pair, key};
  }
};
// Such a RemoteAddress, in its parts.
constexpr std::uint32_t handle_of(const RemoteAddress& to) {
  return static_cast<std::uint32_t>(to.address >> 32);
}
constexpr QpNumber queue_pair_of(const RemoteAddress& to) {
  return static_cast<QpNumber>(to.address & 0xffffff);
}

}  // namespace remora::fabric
