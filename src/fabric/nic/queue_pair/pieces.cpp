#include "fabric/nic/queue_pair/pieces.h"

#include <algorithm>

#include "base/racy_copy.h"

namespace remora::fabric::nic {

Whereabouts find_parts(Connection& connection, std::span<const Sge> pieces, std::uint64_t offset,
                       std::uint64_t size_bytes, AccessFlags rights, Parts& out) {
  out.clear();
  for (const Sge& piece : pieces) {
    if (size_bytes == 0) {
      break;
    }
    if (offset >= piece.size_bytes) {
      offset -= piece.size_bytes;
      continue;
    }
    const std::uint64_t here = std::min<std::uint64_t>(piece.size_bytes - offset, size_bytes);
    const Reach reach = reach_of(connection, piece, offset, here, rights);
    std::byte* place = connection.engine.translate(reach);
    if (place == nullptr || !out.add(Bytes(place, here))) [[unlikely]] {
      const Whereabouts answer = connection.engine.locate(reach, out);
      if (answer != Whereabouts::there) {
        return answer;
      }
    }
    size_bytes -= here;
    offset = 0;
  }
  return Whereabouts::there;
}

bool allows_all(const Connection& connection, std::span<const Sge> pieces, AccessFlags rights) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](const Sge& piece) { return allows(connection, piece, rights); });
}

bool allows_all_in_place(const Connection& connection, std::span<const Sge> pieces,
                         AccessFlags rights) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](const Sge& piece) { return allows_in_place(connection, piece, rights); });
}

void gather(const Parts& parts, Bytes out) {
  for (const Bytes part : parts.all()) {
    racy_copy(out, part);
    out = out.subspan(part.size());
  }
}

void scatter(Connection& connection, const Parts& parts, ConstBytes from) {
  for (const Bytes part : parts.all()) {
    connection.engine.dma.write(connection.number, part.data(), from.first(part.size()));
    from = from.subspan(part.size());
  }
}

}  // namespace remora::fabric::nic
