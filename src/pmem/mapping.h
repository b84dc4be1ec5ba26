// Mapping: bytes of a file, or of nothing, at addresses of this process. One that Remora made
// itself may have room behind it: addresses that are kept for it, so that it can become longer
// where it lies, while others use it.
//
// Not for several threads, but that they may use its bytes.
#pragma once

#include <libpmem2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "pmem/region.h"

namespace remora {

struct MapDeleter {
  void operator()(pmem2_map* map) const;
};
using MapHandle = std::unique_ptr<pmem2_map, MapDeleter>;

// libpmem2's view of what is mapped or, when Remora made the mapping itself, its bytes.
struct Mapping {
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  // Maps more of the file, behind its bytes, to that size, of which the file is. Fails with
  // `unsupported` where it is not Remora's, and with no_space where there is no room for it;
  // nothing changes then.
  Status extend(std::uint64_t size_bytes);

  Bytes bytes;
  MapHandle map;
  bool unmap_bytes = false;       // Remora mapped the bytes: it unmaps them too
  int descriptor = -1;            // of the file that is mapped, shared; -1 where there is none
  bool close_descriptor = false;  // it is the mapping's own
  int flags = 0;                  // of mmap, for what has room
  std::size_t room_bytes = 0;     // from its first byte on; 0: it stays as long as it is
};

std::optional<Backing> backing_of(const Mapping& mapping);

// Maps the first `size_bytes` of a file; `what` is for the message.
Result<Bytes> map_bytes(int descriptor, std::uint64_t size_bytes, int flags,
                        const std::string& what);
// The same with room behind it, as far as the process has addresses for that.
Result<Mapping> map_with_room(int descriptor, std::uint64_t size_bytes, int flags,
                              const std::string& what);

}  // namespace remora
