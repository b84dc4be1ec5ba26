#include "runtime/system_random.h"

#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <span>

#include "base/check.h"

namespace remora {

void fill_random(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    REMORA_CHECK(got >= 0 || errno == EINTR, "the system gives no random bytes");
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  }
}

std::uint64_t random_word() {
  std::uint64_t word = 0;
  fill_random(std::as_writable_bytes(std::span(&word, 1)));
  return word;
}

}  // namespace remora
