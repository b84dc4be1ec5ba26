#include "pmem/dax_region.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace remora {
namespace {

// MOVDIR64B. ThreadSanitizer sees nothing of what it stores.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
const bool has_line_stores = [] {
  constexpr unsigned movdir64b_bit = 1U << 28;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & movdir64b_bit) != 0;
}();

void store_line(std::byte* to, const std::byte* from) {
  struct Line {
    std::byte bytes[cache_line_bytes];
  };
  // The instruction itself, since the intrinsic is inline only in code for such processors.
  __asm__ volatile("movdir64b %1, %2"
                   : "=m"(*reinterpret_cast<Line*>(to))
                   : "m"(*reinterpret_cast<const Line*>(from)), "r"(to));
}
#else
constexpr bool has_line_stores = false;
void store_line(std::byte*, const std::byte*) {}
#endif

}  // namespace

void touch_pages(Bytes memory, std::chrono::milliseconds most) {
  constexpr std::size_t step_bytes = 4 << 20;
  const auto end = std::chrono::steady_clock::now() + most;
  while (!memory.empty() && std::chrono::steady_clock::now() < end) {
    const Bytes step = memory.first(std::min(step_bytes, memory.size()));
    if (madvise(step.data(), step.size(), MADV_POPULATE_WRITE) != 0) {
      return;  // an older kernel, or too little memory: who stores there first will be told
    }
    memory = memory.subspan(step.size());
  }
}

DaxRegion::DaxRegion(Mapping mapping, Strategy strategy, pmem2_map* functions)
    : mapping_(std::move(mapping)),
      data_(mapping_.bytes.data()),
      size_(mapping_.bytes.size()),
      watched_(mapping_.bytes),
      strategy_(std::move(strategy)),
      flush_(pmem2_get_flush_fn(functions)),
      drain_(pmem2_get_drain_fn(functions)),
      persist_(pmem2_get_persist_fn(functions)),
      copy_(pmem2_get_memcpy_fn(functions)) {}

Status DaxRegion::extend(std::uint64_t size_bytes) {
  REMORA_TRY(failure());
  REMORA_TRY(mapping_.extend(size_bytes));
  watched_.extend(mapping_.bytes);
  size_.store(size_bytes, std::memory_order_release);
  return Status();
}

void DaxRegion::flush(ConstBytes range, Site) {
  flush_(range.data(), range.size());
}

Ticket DaxRegion::drain(Site) {
  drain_();
  return ticket();
}

// One call where flush and drain would be two: a tenth of the cost of persisting one line.
Ticket DaxRegion::persist(ConstBytes range, Site) {
  persist_(range.data(), range.size());
  return ticket();
}

void DaxRegion::copy(std::byte* to, ConstBytes from, Site) {
  copy_(to, from.data(), from.size(), PMEM2_F_MEM_NODRAIN | PMEM2_F_MEM_NONTEMPORAL);
}

bool DaxRegion::copies_lines() const {
  return has_line_stores;
}

void DaxRegion::copy_line(std::byte* to, const std::byte* from, Site) {
  store_line(to, from);
}

}  // namespace remora
