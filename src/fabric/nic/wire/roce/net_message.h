// What two devices say to each other over TCP before packets can flow between them, and how
// messages are kept apart there. docs/formats/roce.md has the bytes.
//
//   listener           connector
//   greeting      ->                  my gid, my UDP port, the MTU that I can send to you
//                 <-   reply          the same of mine
//   ready         ->                  you are let in; the MTU that is left
//                 <-   settled        the MTU of the link; control messages may follow
//
// The first two are padded: when they have arrived, packets as large as any that a link may carry
// have found their way, or routers have told the system what size does. So the listener knows its
// way when it is replied to, and the connector its own when it hears `ready`.
//
// In place of any of them either side may say a refusal, with the reason, and hang up. All of it
// comes from outside and may be anything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/durable.h"
#include "fabric/nic/wire/roce/roce_limits.h"
#include "fabric/types.h"

namespace remora::fabric::nic::roce {

enum class NetKind : std::uint16_t { greeting = 1, reply = 2, ready = 3, refusal = 4, settled = 5 };

struct NetMessage {
  NetKind kind = NetKind::greeting;
  std::uint32_t mtu_bytes = 0;
  std::uint16_t udp_port = 0;
  Gid gid{};
  Agreed agreed = {};  // of a greeting, what the listener offers; of a reply, what both can do
  Status reason = {};  // of a refusal; one that was heard can be shown on a terminal
};

namespace net_format {

inline constexpr std::array<char, 8> magic = {'R', 'M', 'R', 'A', 'R', 'O', 'C', 'E'};
inline constexpr std::uint16_t version = 4;
inline constexpr std::size_t text_bytes = 144;

struct Message {
  std::array<char, 8> magic;
  std::uint16_t version;  // at the same place in every version
  std::uint16_t kind;
  std::uint32_t mtu_bytes;
  std::uint16_t udp_port;
  std::uint16_t code;  // of a refusal
  Gid gid;
  std::uint32_t verbs;                // features: fabric/durable.h has the bits
  std::uint32_t flush_worth;          // at the sender: 1 pushed, 2 persistent
  std::array<char, text_bytes> text;  // reason of a refusal
  std::uint32_t checksum;             // crc32c of all before it
};
static_assert(sizeof(Message) == 192 && offsetof(Message, version) == 8 &&
              offsetof(Message, gid) == 20 && offsetof(Message, verbs) == 36 &&
              offsetof(Message, text) == 44 && offsetof(Message, checksum) == 188);

// Before every message: its size.
inline constexpr std::size_t head_bytes = 4;
// Of a greeting and a reply, zeros behind the message included: with the least that IP and TCP put
// before it, the IP packet of the largest MTU.
inline constexpr std::size_t least_ip_and_tcp_bytes = 20 + 20;
inline constexpr std::size_t padded_bytes =
    limits::mtu_bytes_max + limits::around_bytes - least_ip_and_tcp_bytes - head_bytes;
static_assert(padded_bytes == 4168);
inline constexpr std::size_t message_bytes_max = padded_bytes;

}  // namespace net_format

std::vector<std::byte> encode(const NetMessage& message);
// unsupported when it is of another version, damaged when it is none.
Result<NetMessage> decode_net_message(ConstBytes bytes);

}  // namespace remora::fabric::nic::roce
