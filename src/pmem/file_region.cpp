#include "pmem/file_region.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file_size.h"

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
      data_(mapping_->bytes.data()),
      size_(mapping_->bytes.size()),
      watched_(std::in_place, mapping_->bytes),
      descriptor_(descriptor),
      strategy_(std::move(strategy)),
      commit_(mapping_->bytes, [this, pages = std::move(sync)](std::byte* from, std::size_t size) {
        return this->sync(pages, from, size);
      }) {
  ahead_.emplace(descriptor_, mapping_->bytes);
}

FileRegion::~FileRegion() {
  ahead_.reset();
  const bool has_failed = !failure().ok();
  watched_.reset();
  if (has_failed) {
    mapping_.reset();  // pages that are mapped cannot be dropped
    posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
  }
}

// What was written to a part that is gone is gone with it, whatever msync says.
int FileRegion::sync(const FileCommit::Sync& sync_pages, std::byte* from, std::size_t size) const {
  if (const int error = sync_pages(from, size); error != 0) {
    return error;
  }
  if (is_cut_short()) {
    watched_->lose();
  }
  return lost() ? EIO : 0;
}

bool FileRegion::is_cut_short() const {
  const std::optional<std::uint64_t> size = file_size(descriptor_);
  return size.has_value() && *size < size_.load(std::memory_order_acquire);
}

// Others may commit meanwhile. The kernel reads and writes the new pages as it does the others, one
// by one.
Status FileRegion::extend(std::uint64_t size_bytes) {
  REMORA_TRY(failure());
  const std::size_t before = mapping_->bytes.size();
  REMORA_TRY(mapping_->extend(size_bytes));
  const Bytes bytes = mapping_->bytes;
  madvise(bytes.data() + round_down(before, page_bytes),
          size_bytes - round_down(before, page_bytes), MADV_RANDOM);
  watched_->extend(bytes);
  commit_.extend(size_bytes);
  ahead_->extend(size_bytes);
  size_.store(size_bytes, std::memory_order_release);
  return Status();
}

Status FileRegion::wait(Ticket ticket) {
  Status status = commit_.wait(ticket);
  return status.ok() ? status : failure();
}

void FileRegion::copy(std::byte* to, ConstBytes from, Site site) {
  copy_bytes(to, from);
  flush(ConstBytes(to, from.size()), site);
}

}  // namespace remora
