// What two ends of a link say to each other about memory that one may map (docs/formats/mapped.md).
// Each is the payload of one side frame of the ring's socket, 64 bytes, little-endian.
//
//    0  u16  kind                       24  u64  region: the target's number for what is mapped
//    2  u16  0                          32  u64  base: address of its first byte at the target
//    4  u32  key                        40  u64  length in bytes
//    8  u32  initiator's queue pair     48  u64  offset of its first byte in the file
//   12  u32  target's queue pair        56  u32  rights (Access of fabric/types.h)
//   16  u64  grant                      60  u16  slot: which word of the gate is this grant's
//                                       62  u8   medium (Granularity of pmem/region.h)
//                                       63  u8   0
//
// Any thread; no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"

namespace remora::fabric::nic::mapped {

enum class MappedKind : std::uint16_t {
  ask = 1,     // initiator: what is this key worth? The first one brings the epoch page.
  gate = 2,    // target: brings the words that say which grants are alive
  grant = 3,   // target: this much; brings the file
  deny = 4,    // target: nothing that could be mapped
  forget = 5,  // target: the region is gone, unmap it
};

struct MappedMessage {
  std::uint16_t kind = 0;
  std::uint16_t zero = 0;
  std::uint32_t key = 0;
  std::uint32_t initiator_qp = 0;
  std::uint32_t target_qp = 0;
  std::uint64_t grant = 0;
  std::uint64_t region = 0;
  std::uint64_t base = 0;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;
  std::uint32_t rights = 0;
  std::uint16_t slot = 0;
  std::uint8_t medium = 0;
  std::uint8_t zero_too = 0;
};
inline constexpr std::size_t mapped_message_bytes = 64;
static_assert(sizeof(MappedMessage) == mapped_message_bytes);
static_assert(offsetof(MappedMessage, key) == 4 && offsetof(MappedMessage, initiator_qp) == 8 &&
              offsetof(MappedMessage, target_qp) == 12 && offsetof(MappedMessage, grant) == 16 &&
              offsetof(MappedMessage, region) == 24 && offsetof(MappedMessage, base) == 32 &&
              offsetof(MappedMessage, length) == 40 && offsetof(MappedMessage, offset) == 48 &&
              offsetof(MappedMessage, rights) == 56 && offsetof(MappedMessage, slot) == 60 &&
              offsetof(MappedMessage, medium) == 62);

inline ConstBytes encode(const MappedMessage& message) {
  return object_bytes(message);
}

// The message, if these bytes are exactly one that can be: a known kind, a known medium, a slot
// that there is, a region that does not wrap.
std::optional<MappedMessage> parse_mapped(ConstBytes bytes);

}  // namespace remora::fabric::nic::mapped
