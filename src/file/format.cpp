#include "file/format.h"

#include "base/crc32c.h"
#include "base/hash.h"

namespace remora::file::format {

std::uint64_t key_of(std::string_view name, std::uint64_t hash_seed) {
  const std::uint64_t hash = hash64(as_bytes(name), hash_seed) >> 1;
  const std::uint64_t key = round_down(hash, names_of_a_hash);
  return key == 0 ? names_of_a_hash : key;
}

std::uint64_t check_of(const Words& words, Offset place) {
  const ConstBytes content = object_bytes(words).first(sizeof words - word_bytes);
  return std::uint64_t{crc32c(object_bytes(place), crc32c(content))} | std::uint64_t{1} << 32;
}

std::uint32_t checksum_of(ConstBytes node) {
  constexpr std::uint32_t nothing = 0;
  const std::uint32_t before = crc32c(node.first(offsetof(NodeHead, checksum)));
  return crc32c(node.subspan(sizeof(NodeHead)), crc32c(object_bytes(nothing), before));
}

}  // namespace remora::file::format
