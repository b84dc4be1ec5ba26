// MappedPages: pages of a file of the target's in this process. Connections of one thread to one
// target have them in common: each page table entry is made once, and the TLB holds it once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/lost_memory.h"
#include "fabric/nic/wire/descriptor.h"
#include "pmem/region.h"

namespace remora::fabric::nic::mapped {

class MappedPages {
 public:
  // Those that this thread has mapped already, or new ones; null where that cannot be done, as of a
  // range that is not in the file. `begin` is the begin of a page. Page tables are made at once,
  // unless that would take long (mapped_limits.h), or `is_committed`: the target writes the pages
  // to a disk.
  static std::shared_ptr<MappedPages> of(const Descriptor& file, std::uint64_t begin,
                                         std::uint64_t size_bytes, bool writable,
                                         bool is_committed);
  MappedPages(const MappedPages&) = delete;
  MappedPages& operator=(const MappedPages&) = delete;
  ~MappedPages();

  Bytes bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  // Whether a part of the file is gone.
  bool lost() const { return watched_->lost(); }
  // Writes by the file, and not through the mapping: false where there is no such way, or where it
  // failed, and any of the bytes may be as they were. A page that is stored to through the mapping
  // has to be taken from this process, processor by processor, whenever the target commits it: that
  // takes longer than the write. In no order, but after whatever was written before.
  bool write(std::uint64_t offset, ConstBytes from) const;
  // How they are copied to past the caches and flushed, or null where there is no way. Made when it
  // is first asked for, and one for all.
  Region* medium();

 private:
  MappedPages(Bytes bytes, bool writable, Descriptor file, std::uint64_t begin)
      : bytes_(bytes),
        watched_(std::in_place, bytes),
        writable_(writable),
        file_(std::move(file)),
        begin_(begin) {}

  bool is_cut_short() const;

  const Bytes bytes_;
  std::optional<WatchedMemory> watched_;  // until they are unmapped
  const bool writable_;
  const Descriptor file_;  // to write by, if that is of use
  const std::uint64_t begin_;
  std::unique_ptr<Region> medium_;
};

}  // namespace remora::fabric::nic::mapped
