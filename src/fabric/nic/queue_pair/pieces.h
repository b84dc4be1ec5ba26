// Messages lie in pieces of local memory. These functions walk a part of one, each piece checked
// against its key before it is used.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fabric/nic/limits.h"
#include "fabric/nic/queue_pair/engine.h"
#include "fabric/nic/translation/parts.h"
#include "fabric/posting.h"
#include "fabric/work.h"

namespace remora::fabric::nic {

using fabric::total_bytes;

// Where [offset, offset + size) of the message lies; the message is at least as long. Refused when
// a key does not allow it.
Whereabouts find_parts(Connection& connection, std::span<const Sge> pieces, std::uint64_t offset,
                       std::uint64_t size_bytes, AccessFlags rights, Parts& out);

// What a request does to one of its pieces.
inline Reach reach_of(const Connection& connection, const Sge& piece, std::uint64_t offset,
                      std::uint64_t size_bytes, AccessFlags rights) {
  return {.domain = connection.domain,
          .key = piece.key,
          .address = reinterpret_cast<std::uintptr_t>(piece.address) + offset,
          .size_bytes = size_bytes,
          .rights = rights};
}

// Whether this piece, or all of them, may be used with these rights.
inline bool allows(const Connection& connection, const Sge& piece, AccessFlags rights) {
  return piece.size_bytes == 0 ||
         connection.engine.memory.allows(reach_of(connection, piece, 0, piece.size_bytes, rights));
}
bool allows_all(const Connection& connection, std::span<const Sge> pieces, AccessFlags rights);
// The same, and they lie where their addresses say, for whoever does without the device.
inline bool allows_in_place(const Connection& connection, const Sge& piece, AccessFlags rights) {
  return piece.size_bytes == 0 || connection.engine.memory.allows_in_place(
                                      reach_of(connection, piece, 0, piece.size_bytes, rights));
}
bool allows_all_in_place(const Connection& connection, std::span<const Sge> pieces,
                         AccessFlags rights);

// Copies all parts to `out`, which is as large.
void gather(const Parts& parts, Bytes out);

// Hands `from` to the DMA, part by part; the parts are as large together.
void scatter(Connection& connection, const Parts& parts, ConstBytes from);

}  // namespace remora::fabric::nic
