#include "lab/run/plain_region.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace remora::store_bench {

PlainRegion::PlainRegion(Bytes bytes)
    : bytes_(bytes),
      strategy_{.granularity = Granularity::cache_line,
                .survives_power_cut = false,
                .method = "none",
                .reason = "a model of persistent memory, without power cuts"} {}

Result<std::unique_ptr<PlainRegion>> PlainRegion::create(std::uint64_t size_bytes) {
  void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return os_failure("cannot get memory for the modelled pool", errno);
  }
  return std::unique_ptr<PlainRegion>(
      new PlainRegion(Bytes(static_cast<std::byte*>(memory), size_bytes)));
}

PlainRegion::~PlainRegion() {
  munmap(bytes_.data(), bytes_.size());
}

void PlainRegion::copy(std::byte* to, ConstBytes from, Site) {
  if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());
  }
}

}  // namespace remora::store_bench
