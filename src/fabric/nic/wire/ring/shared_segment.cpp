#include "fabric/nic/wire/ring/shared_segment.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <string>

namespace remora::fabric::nic::ring {
namespace {

constexpr int wanted_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Huge pages may run out in use.
bool is_of_small_pages(int memory) {
  struct statfs file_system = {};
  return ::fstatfs(memory, &file_system) == 0 && file_system.f_type == TMPFS_MAGIC;
}

Status check_foreign(int memory, std::size_t size_bytes) {
  // Only memory files have seals at all.
  const int seals = ::fcntl(memory, F_GET_SEALS);
  if (seals < 0 || (seals & wanted_seals) != wanted_seals) {
    return Status(Code::permission_denied,
                  "the peer's shared memory is not sealed: it could be cut short while in use");
  }
  // A seal against writing would make the mapping fail later.
  if ((seals & ~wanted_seals) != 0 || !is_of_small_pages(memory)) {
    return Status(Code::invalid_argument,
                  "the peer's shared memory is not of the kind that this version maps");
  }
  struct stat facts = {};
  if (::fstat(memory, &facts) != 0) {
    return os_failure("cannot look at the peer's shared memory", errno);
  }
  if (facts.st_size < 0 || static_cast<std::uint64_t>(facts.st_size) != size_bytes) {
    return Status(Code::invalid_argument, "the peer's shared memory has " +
                                              std::to_string(facts.st_size) + " bytes, not the " +
                                              std::to_string(size_bytes) + " that it announced");
  }
  return {};
}

}  // namespace

bool is_sealed_memory(int descriptor) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && is_of_small_pages(descriptor);
}

Result<SharedSegment> SharedSegment::create(std::uint32_t ring_bytes) {
  Descriptor memory(::memfd_create("remora-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.open()) {
    return os_failure("cannot make shared memory for a link", errno);
  }
  if (::ftruncate(memory.number(), static_cast<off_t>(size_bytes(ring_bytes))) != 0 ||
      ::fcntl(memory.number(), F_ADD_SEALS, wanted_seals) != 0) {
    return os_failure("cannot size and seal the shared memory of a link", errno);
  }
  return map(std::move(memory), ring_bytes);
}

Result<SharedSegment> SharedSegment::adopt(Descriptor memory, std::uint32_t ring_bytes) {
  REMORA_TRY(check_foreign(memory.number(), size_bytes(ring_bytes)));
  return map(std::move(memory), ring_bytes);
}

Result<SharedSegment> SharedSegment::map(Descriptor memory, std::uint32_t ring_bytes) {
  void* base = ::mmap(nullptr, size_bytes(ring_bytes), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, memory.number(), 0);
  if (base == MAP_FAILED) {
    return os_failure("cannot map the shared memory of a link", errno);
  }
  return SharedSegment(std::move(memory), static_cast<std::byte*>(base), ring_bytes);
}

SharedSegment::~SharedSegment() {
  if (base_ != nullptr) {
    ::munmap(base_, size_bytes(ring_bytes_));
  }
}

}  // namespace remora::fabric::nic::ring
