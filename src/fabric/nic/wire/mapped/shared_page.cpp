#include "fabric/nic/wire/mapped/shared_page.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace remora::fabric::nic::mapped {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

Result<Bytes> map(int descriptor, std::size_t size_bytes, int protection) {
  void* base = ::mmap(nullptr, size_bytes, protection, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  if (base == MAP_FAILED) {
    return os_failure("cannot map shared pages", errno);
  }
  ::madvise(base, size_bytes, MADV_DONTFORK);
  return Bytes(static_cast<std::byte*>(base), size_bytes);
}

}  // namespace

Result<SharedPages> SharedPages::create(std::size_t size_bytes) {
  Descriptor memory(::memfd_create("remora-mapped", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.open() || ::ftruncate(memory.number(), static_cast<off_t>(size_bytes)) != 0) {
    return os_failure("cannot make shared pages", errno);
  }
  REMORA_TRY_RESULT(bytes, map(memory.number(), size_bytes, PROT_READ | PROT_WRITE));
  SharedPages pages(std::move(memory), *bytes);
  // The mapping that is there stays writable; none that is made after this is.
  const int seals = size_seals | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE;
  if (::fcntl(pages.descriptor(), F_ADD_SEALS, seals) != 0) {
    return os_failure("cannot seal shared pages", errno);
  }
  return pages;
}

Result<SharedPages> SharedPages::adopt(Descriptor memory, std::size_t size_bytes) {
  const int seals = ::fcntl(memory.number(), F_GET_SEALS);
  struct statfs file_system = {};
  struct stat facts = {};
  if (seals < 0 || (seals & size_seals) != size_seals ||
      ::fstatfs(memory.number(), &file_system) != 0 || file_system.f_type != TMPFS_MAGIC ||
      ::fstat(memory.number(), &facts) != 0 || facts.st_size != static_cast<off_t>(size_bytes)) {
    return Status(Code::invalid_argument,
                  "the peer's shared pages have another size, or could be cut short while in use");
  }
  REMORA_TRY_RESULT(bytes, map(memory.number(), size_bytes, PROT_READ));
  return SharedPages({}, *bytes);
}

SharedPages::~SharedPages() {
  if (bytes_.data() != nullptr) {
    ::munmap(bytes_.data(), bytes_.size());
  }
}

}  // namespace remora::fabric::nic::mapped
