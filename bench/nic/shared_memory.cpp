#include "bench/nic/shared_memory.h"

#include <sys/mman.h>

#include <cerrno>

namespace remora::bench {

Result<SharedMemory> SharedMemory::create(std::size_t size_bytes) {
  void* at = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    return os_failure("cannot map shared memory", errno);
  }
  return SharedMemory(Bytes(static_cast<std::byte*>(at), size_bytes));
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) {
    munmap(bytes_.data(), bytes_.size());
  }
}

void touch(Bytes bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += page_bytes) {
    auto& byte = reinterpret_cast<volatile std::byte&>(bytes[at]);
    byte = byte;
  }
}

}  // namespace remora::bench
