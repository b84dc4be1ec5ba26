#include "base/file_size.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace remora {

std::optional<std::uint64_t> file_size(int descriptor) {
  struct statx facts = {};
  if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &facts) != 0 ||
      !S_ISREG(facts.stx_mode)) {
    return std::nullopt;
  }
  return facts.stx_size;
}

}  // namespace remora
