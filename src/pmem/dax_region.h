// DaxRegion: memory whose lines the CPU itself makes persistent: a DAX mapping, memory inside the
// persistence domain (eADR), or plain memory treated the same way (`dram`). A ticket is persistent
// when drain returns, or never will be, where memory was lost; nothing here blocks, allocates or
// calls the kernel after creation.
#pragma once

#include <libpmem2.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "base/lost_memory.h"
#include "pmem/mapping.h"
#include "pmem/region.h"

namespace remora {

// Has the kernel find the pages of new memory now, from its beginning, as far as it gets in that
// time, and not one by one when they are first stored to. No byte changes.
void touch_pages(Bytes memory, std::chrono::milliseconds most);

class DaxRegion final : public Region {
 public:
  // With the functions that libpmem2 has for a mapping: this one, or one of the same granularity.
  DaxRegion(Mapping mapping, Strategy strategy, pmem2_map* functions);

  Bytes bytes() override { return Bytes(data_, size_.load(std::memory_order_acquire)); }
  const Strategy& strategy() const override { return strategy_; }
  std::optional<Backing> backing() const override { return backing_of(mapping_); }
  void flush(ConstBytes range, Site site = Site::current()) override;
  [[nodiscard]] Ticket drain(Site site = Site::current()) override;
  [[nodiscard]] Ticket persist(ConstBytes range, Site site = Site::current()) override;
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) override;
  bool copies_lines() const override;
  void copy_line(std::byte* to, const std::byte* from, Site site = Site::current()) override;
  bool persistent(Ticket ticket) const override { return ticket.commit == 0; }
  [[nodiscard]] Status wait(Ticket ticket) override {
    return ticket.commit == 0 ? Status() : failure();
  }
  void request(Ticket) override {}
  [[nodiscard]] Status extend(std::uint64_t size_bytes) override;
  Status failure() const override { return lost() ? lost_memory_failure() : Status(); }
  bool lost() const override { return watched_.lost(); }

 private:
  // One that never will be persistent, where memory was lost.
  Ticket ticket() const { return Ticket{lost() ? 1U : 0U}; }

  Mapping mapping_;
  std::byte* const data_;
  std::atomic<std::size_t> size_;
  WatchedMemory watched_;
  Strategy strategy_;
  pmem2_flush_fn flush_;
  pmem2_drain_fn drain_;
  pmem2_persist_fn persist_;
  pmem2_memcpy_fn copy_;
};

}  // namespace remora
