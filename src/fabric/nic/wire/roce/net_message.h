// What two devices say to each other over TCP before packets can flow between them, and how
// messages are kept apart there. docs/formats/roce.md has the bytes.
//
//   listener           connector
//   greeting      ->                  my gid, my UDP port, my MTU
//                 <-   reply          yours, and the same MTU
//   ready         ->                  both links are up; control messages may follow
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
#include "fabric/types.h"

namespace remora::fabric::nic {

enum class NetKind : std::uint16_t { greeting = 1, reply = 2, ready = 3, refusal = 4 };

struct NetMessage {
  NetKind kind = NetKind::greeting;
  std::uint32_t mtu_bytes = 0;
  std::uint16_t udp_port = 0;
  Gid gid{};
  Status reason = {};  // of a refusal; one that was heard can be shown on a terminal
};

namespace net_format {

inline constexpr std::array<char, 8> magic = {'R', 'M', 'R', 'A', 'R', 'O', 'C', 'E'};
inline constexpr std::uint16_t version = 1;
inline constexpr std::size_t text_bytes = 152;

struct Message {
  std::array<char, 8> magic;
  std::uint16_t version;  // at the same place in every version
  std::uint16_t kind;
  std::uint32_t mtu_bytes;
  std::uint16_t udp_port;
  std::uint16_t code;  // of a refusal
  Gid gid;
  std::array<char, text_bytes> text;  // reason of a refusal
  std::uint32_t checksum;             // crc32c of all before it
};
static_assert(sizeof(Message) == 192 && offsetof(Message, version) == 8 &&
              offsetof(Message, gid) == 20 && offsetof(Message, checksum) == 188);

// Before every message: its size.
inline constexpr std::size_t head_bytes = 4;
inline constexpr std::size_t message_bytes_max = 4096;

}  // namespace net_format

std::vector<std::byte> encode(const NetMessage& message);
// unsupported when it is of another version, damaged when it is none.
Result<NetMessage> decode_net_message(ConstBytes bytes);

}  // namespace remora::fabric::nic
