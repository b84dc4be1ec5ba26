// Records: Forca's layer of object metadata in persistent memory (record_format.h). A record is
// named by its offset in the pool.
//
// append() flushes; a record is there after a cut when a ticket that was drawn behind it is
// persistent. A chunk is linked, and that is persistent, before the first record in it is handed
// out. One thread; host and pool outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "kv/rivals/forca/record_format.h"
#include "pmem/pool.h"

namespace remora::kv::forca {

class Records {
 public:
  static Result<std::unique_ptr<Records>> create(const Host& host, Pool& pool);
  // Those that are there; not_found when there are none.
  static Result<std::unique_ptr<Records>> open(const Host& host, Pool& pool);

  // The checksum is computed here. no_space when the pool is full.
  Result<Offset> append(const Record& record, Site site = Site::current());
  // Requires an offset that append() or visit_backwards() gave.
  const Record& at(Offset offset) const {
    return *reinterpret_cast<const Record*>(pool_.region().data() + offset);
  }

  // Whether a record that a link leads to is there: a cut may have taken it.
  bool is_whole(Offset offset) const {
    return at(offset).object != 0 && at(offset).checksum == checksum_of(at(offset));
  }

  // All that are whole, from the last to the first: visit(Offset, const Record&).
  template <typename Visit>
  void visit_backwards(const Visit& visit) const {
    for (auto chunk = chunks_.rbegin(); chunk != chunks_.rend(); ++chunk) {
      for (std::uint64_t i = chunk->capacity; i-- > 0;) {
        const Offset offset = place(*chunk, i);
        if (is_whole(offset)) {
          visit(offset, at(offset));
        }
      }
    }
  }

 private:
  struct Chunk {
    Offset offset = 0;
    std::uint64_t capacity = 0;  // in records
    std::uint64_t used = 0;
  };

  Records(const Host& host, Pool& pool) : host_(host), pool_(pool) {}
  static Offset place(const Chunk& chunk, std::uint64_t index) {
    return chunk.offset + sizeof(ChunkHead) + index * sizeof(Record);
  }
  Status add_chunk();
  Status take_chunk(Offset offset);

  const Host host_;
  Pool& pool_;
  std::vector<Chunk> chunks_;
};

}  // namespace remora::kv::forca
