#include "pmem/read_ahead.h"

#include <sys/mman.h>

namespace remora {

void read_ahead(ConstBytes range) {
  if (range.empty()) {
    return;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(range.data());
  const std::uintptr_t begin = round_down(first, std::uintptr_t{page_bytes});
  (void)::madvise(reinterpret_cast<void*>(begin), first + range.size() - begin, MADV_WILLNEED);
}

}  // namespace remora
