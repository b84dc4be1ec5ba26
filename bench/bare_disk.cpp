#include "bench/bare_disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/system_random.h"

namespace remora::bench {
namespace {

Status write_every_page(const FileHandle& file, std::uint64_t size_bytes) {
  const std::array<std::byte, page_bytes> page = {};
  for (std::uint64_t at = 0; at < size_bytes; at += page_bytes) {
    if (pwrite(file.descriptor(), page.data(), page.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(page.size())) {
      return os_failure("cannot write " + file.path(), errno);
    }
  }
  return fsync(file.descriptor()) == 0 ? Status() : os_failure("cannot sync " + file.path(), errno);
}

}  // namespace

void FirstFailure::note(Status status) {
  std::lock_guard lock(mutex_);
  if (status_.ok()) {
    status_ = std::move(status);
  }
}

Status FirstFailure::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

Result<FileHandle> make_unnamed_file(const std::string& folder, std::uint64_t size_bytes) {
  const std::string path = folder + "/.remora-micro-" + std::to_string(random_word());
  Result<FileHandle> file = FileHandle::create(path, size_bytes);
  if (!file.ok()) {
    return file;
  }
  unlink(path.c_str());
  if (file->in_memory()) {
    return Status(Code::unsupported,
                  folder +
                      " is in memory (tmpfs), where a sync costs nothing and says nothing "
                      "about a disk; choose a folder on a disk with --path");
  }
  REMORA_TRY(write_every_page(*file, size_bytes));
  return file;
}

BareWriter::BareWriter(const FileHandle& file, std::uint64_t size_bytes)
    : descriptor_(file.descriptor()), pages_(size_bytes / page_bytes) {}

void BareWriter::write(std::uint64_t records, FirstFailure& failure) {
  std::array<std::byte, record_bytes> record;
  record.fill(std::byte{0x5a});
  for (; records > 0; --records) {
    store(record.data(), records);
    const auto at = static_cast<off_t>(random_.below(pages_) * page_bytes);
    if (pwrite(descriptor_, record.data(), record.size(), at) !=
            static_cast<ssize_t>(record.size()) ||
        fdatasync(descriptor_) != 0) {
      return failure.note(os_failure("cannot write to the disk", errno));
    }
  }
}

Result<BareMapping> BareMapping::map(const FileHandle& file, std::uint64_t size_bytes) {
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_RANDOM);
  void* address =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (address == MAP_FAILED) {
    return os_failure("cannot map " + file.path(), errno);
  }
  madvise(address, size_bytes, MADV_RANDOM);
  return BareMapping(Bytes(static_cast<std::byte*>(address), size_bytes));
}

BareMapping::BareMapping(BareMapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), random_(other.random_) {}

BareMapping::~BareMapping() {
  if (!bytes_.empty()) {
    munmap(bytes_.data(), bytes_.size());
  }
}

void BareMapping::write(std::uint64_t times, std::uint64_t records, FirstFailure& failure) {
  std::array<std::byte, record_bytes> record;
  record.fill(std::byte{0x5a});
  for (; times > 0; --times) {
    store(record.data(), times);
    std::uint64_t first = bytes_.size();
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < records; ++i) {
      const std::uint64_t at = random_.below(bytes_.size() / page_bytes) * page_bytes;
      std::memcpy(bytes_.data() + at, record.data(), record.size());
      first = std::min(first, at);
      last = std::max(last, at);
    }
    if (msync(bytes_.data() + first, last - first + page_bytes, MS_SYNC) != 0) {
      return failure.note(os_failure("cannot sync a mapping to the disk", errno));
    }
  }
}

}  // namespace remora::bench
