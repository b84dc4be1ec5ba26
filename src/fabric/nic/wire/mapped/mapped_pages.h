// MappedPages: pages of a file of the target's in this process. Connections of one thread to one
// target have them in common: each page table entry is made once, and the TLB holds it once.
#pragma once

#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "fabric/nic/wire/ring/descriptor.h"
#include "pmem/region.h"

namespace remora::fabric::nic {

class MappedPages {
 public:
  // Those that this thread has mapped already, or new ones; null where that cannot be done, as of a
  // range that is not in the file. `begin` is the begin of a page. With `populate`, page tables are
  // made at once, unless that would take long (mapped_limits.h).
  static std::shared_ptr<MappedPages> of(const Descriptor& file, std::uint64_t begin,
                                         std::uint64_t size_bytes, bool writable, bool populate);
  MappedPages(const MappedPages&) = delete;
  MappedPages& operator=(const MappedPages&) = delete;
  ~MappedPages();

  Bytes bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  // How they are copied to past the caches and flushed, or null where there is no way. Made when it
  // is first asked for, and one for all: what is mapped once is known to the library behind it
  // once.
  Region* medium();

 private:
  MappedPages(Bytes bytes, bool writable) : bytes_(bytes), writable_(writable) {}

  const Bytes bytes_;
  const bool writable_;
  std::unique_ptr<Region> medium_;
};

}  // namespace remora::fabric::nic
