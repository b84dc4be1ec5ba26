// Messages lie in pieces of local memory. These functions walk a part of one, each piece checked
// against its key before it is used.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fabric/nic/core/engine.h"
#include "fabric/nic/core/limits.h"
#include "fabric/posting.h"
#include "fabric/work.h"

namespace remora::fabric::nic {

using fabric::total_bytes;

// A part of a message, in memory that may be used.
class Parts {
 public:
  void add(Bytes part) { parts_[count_++] = part; }
  void clear() { count_ = 0; }
  std::span<const Bytes> all() const { return {parts_.data(), count_}; }

 private:
  std::array<Bytes, limits::pieces> parts_;
  std::size_t count_ = 0;
};

// Where [offset, offset + size) of the message lies; the message is at least as long. False when a
// key does not allow it.
bool find_parts(Connection& connection, std::span<const Sge> pieces, std::uint64_t offset,
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

// Copies all parts to `out`, which is as large.
void gather(const Parts& parts, Bytes out);

// Hands `from` to the DMA, part by part; the parts are as large together.
void scatter(Connection& connection, const Parts& parts, ConstBytes from);

}  // namespace remora::fabric::nic
