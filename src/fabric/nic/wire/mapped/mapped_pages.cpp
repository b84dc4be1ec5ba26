#include "fabric/nic/wire/mapped/mapped_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <tuple>
#include <utility>

#include "base/file_size.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"
#include "pmem/open_region.h"

namespace remora::fabric::nic::mapped {
namespace {

// Which pages they are, of which file. A process that was forked has none of its parent's.
using Name = std::tuple<pid_t, dev_t, ino_t, std::uint64_t, std::uint64_t, bool>;

std::map<Name, std::weak_ptr<MappedPages>>& known_pages() {
  thread_local std::map<Name, std::weak_ptr<MappedPages>> known;
  return known;
}

// The file opened once more, for as long as the mapping, or nothing where that is not allowed. Not
// what was received itself: that marks the file as mapped (mapped_target.h), and a forked process
// would keep it. Who writes beyond the limit on file sizes is ended by a signal, which a store is
// not.
Descriptor for_writing(const Descriptor& file, std::uint64_t end) {
  rlimit most = {};
  if (::getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < end) {
    return {};
  }
  return open_anew(file.number(), O_RDWR);
}

}  // namespace

std::shared_ptr<MappedPages> MappedPages::of(const Descriptor& file, std::uint64_t begin,
                                             std::uint64_t size_bytes, bool writable,
                                             bool is_committed) {
  struct stat facts = {};
  if (::fstat(file.number(), &facts) != 0 ||
      !within(begin, size_bytes, static_cast<std::uint64_t>(facts.st_size))) {
    return nullptr;
  }
  auto& known = known_pages();
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<MappedPages>& place =
      known[Name(::getpid(), facts.st_dev, facts.st_ino, begin, size_bytes, writable)];
  if (std::shared_ptr<MappedPages> there = place.lock()) {
    return there;
  }
  const bool at_once = !is_committed && size_bytes <= limits::populated_bytes;
  void* base =
      ::mmap(nullptr, size_bytes, PROT_READ | (writable ? PROT_WRITE : 0),
             MAP_SHARED | (at_once ? MAP_POPULATE : 0), file.number(), static_cast<off_t>(begin));
  if (base == MAP_FAILED) {
    return nullptr;
  }
  ::madvise(base, size_bytes, MADV_DONTFORK);
  std::shared_ptr<MappedPages> pages(new MappedPages(
      Bytes(static_cast<std::byte*>(base), size_bytes), writable,
      is_committed && writable ? for_writing(file, begin + size_bytes) : Descriptor(), begin));
  place = pages;
  return pages;
}

// A write behind the end would make a file longer again that was cut short, and nobody would see
// that it was.
bool MappedPages::is_cut_short() const {
  return file_size(file_.number()).value_or(0) < begin_ + bytes_.size();
}

bool MappedPages::write(std::uint64_t offset, ConstBytes from) const {
  return file_.open() && !is_cut_short() &&
         ::pwrite(file_.number(), from.data(), from.size(), static_cast<off_t>(begin_ + offset)) ==
             static_cast<ssize_t>(from.size());
}

Region* MappedPages::medium() {
  if (medium_ == nullptr) {
    Result<std::unique_ptr<Region>> medium = adopt_mapping(bytes_);
    medium_ = medium.ok() ? std::move(*medium) : nullptr;
  }
  return medium_.get();
}

MappedPages::~MappedPages() {
  medium_.reset();
  watched_.reset();
  ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace remora::fabric::nic::mapped
