#include "pmem/read_ahead.h"

#include <sys/mman.h>

#include <algorithm>

namespace remora {
namespace {

// Of one call the kernel fetches no more than its own window for reading ahead, and silently leaves
// the rest. This is no more than that wherever the window has its usual size or a larger one.
constexpr std::size_t read_piece_bytes = 128 << 10;

}  // namespace

void read_ahead(ConstBytes range) {
  if (range.empty()) {
    return;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(range.data());
  const std::uintptr_t end = first + range.size();
  for (std::uintptr_t at = round_down(first, std::uintptr_t{page_bytes}); at < end;
       at += read_piece_bytes) {
    (void)::madvise(reinterpret_cast<void*>(at), std::min(read_piece_bytes, std::size_t{end - at}),
                    MADV_WILLNEED);
  }
}

}  // namespace remora
