#include "lab/lives/stamped_value.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/random.h"

namespace remora::lab {

std::string stamped_value(std::string_view key, std::uint64_t version, std::size_t size_bytes) {
  std::string value = fmt::format("{} {} ", key, version);
  Random filler(version);
  while (value.size() + 8 < size_bytes) {
    value += static_cast<char>('a' + filler.below(26));
  }
  return value + fmt::format("{:08x}", crc32c(as_bytes(value)));
}

std::optional<std::uint64_t> stamp_of(std::string_view key, std::string_view value) {
  if (value.size() < key.size() + 10 || !value.starts_with(key) || value[key.size()] != ' ') {
    return std::nullopt;
  }
  const std::string_view body = value.substr(0, value.size() - 8);
  if (value.substr(body.size()) != fmt::format("{:08x}", crc32c(as_bytes(body)))) {
    return std::nullopt;
  }
  return std::stoull(std::string(body.substr(key.size() + 1)));
}

}  // namespace remora::lab
