#include "pmem/file_region.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace remora {
namespace {

// libpmem2's own persist function returns nothing; here the caller learns that msync failed.
int sync_pages(std::byte* from, std::size_t size) {
  while (msync(from, size, MS_SYNC) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

FileRegion::FileRegion(Mapping mapping, int descriptor, Strategy strategy)
    : FileRegion(std::move(mapping), descriptor, std::move(strategy), sync_pages) {}

FileRegion::FileRegion(Mapping mapping, int descriptor, Strategy strategy, FileCommit::Sync sync)
    : mapping_(std::move(mapping)),
      descriptor_(descriptor),
      strategy_(std::move(strategy)),
      commit_(mapping_->bytes, std::move(sync)) {
  ahead_.emplace(descriptor_, mapping_->bytes);
}

FileRegion::~FileRegion() {
  ahead_.reset();
  if (!commit_.failure().ok()) {
    mapping_.reset();  // pages that are mapped cannot be dropped
    posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
  }
}

void FileRegion::copy(std::byte* to, ConstBytes from, Site site) {
  copy_bytes(to, from);
  flush(ConstBytes(to, from.size()), site);
}

}  // namespace remora
