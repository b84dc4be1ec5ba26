// The memory of an index that peers READ: aligned to a cache line, all zero.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "kv/index/index_format.h"
#include "pmem/open_region.h"
#include "pmem/region.h"

namespace remora::kv {

struct IndexMemory {
  std::unique_ptr<Region> region;        // of memory that a wire of one host can share; or
  std::unique_ptr<std::byte[]> storage;  // of a few pages, for which that is too much
  Bytes bytes;

  static constexpr std::size_t worth_sharing_bytes = 16 * page_bytes;

  static IndexMemory make(const IndexGeometry& geometry) {
    const std::size_t size = geometry.table_bytes();
    if (size >= worth_sharing_bytes) {
      if (Result<std::unique_ptr<Region>> dram = make_dram(size); dram.ok()) {
        const Bytes all = (*dram)->bytes();
        return {std::move(dram).value(), {}, all.first(size)};
      }
    }
    IndexMemory memory{{}, std::make_unique<std::byte[]>(size + cache_line_bytes), {}};
    const std::size_t skip =
        (cache_line_bytes - reinterpret_cast<std::uintptr_t>(memory.storage.get())) %
        cache_line_bytes;
    memory.bytes = {memory.storage.get() + skip, size};
    return memory;
  }

  // Gives the system back up to about so many bytes of it, for one that nobody READs any more: a
  // large one would hold the thread up. Whether some is left.
  bool give_back(std::size_t most_bytes) {
    const std::size_t left = region != nullptr && bytes.size() > most_bytes
                                 ? (bytes.size() - most_bytes) / page_bytes * page_bytes
                                 : 0;
    if (region != nullptr) {
      remora::give_back(bytes.subspan(left));
    }
    bytes = bytes.first(left);
    return left != 0;
  }

  // Every entry is free from here on: who still READs this table misses, and asks the server.
  void retire() const {
    auto* entries = reinterpret_cast<IndexEntry*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(IndexEntry); ++i) {
      std::atomic_ref(entries[i].tag).store(0, std::memory_order_release);
    }
  }
};

}  // namespace remora::kv
