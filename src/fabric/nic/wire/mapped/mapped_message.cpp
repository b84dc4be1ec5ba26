#include "fabric/nic/wire/mapped/mapped_message.h"

#include <cstring>

#include "fabric/nic/wire/mapped/mapped_limits.h"
#include "pmem/region.h"

namespace remora::fabric::nic::mapped {

std::optional<MappedMessage> parse_mapped(ConstBytes bytes) {
  if (bytes.size() != mapped_message_bytes) {
    return std::nullopt;
  }
  MappedMessage message;
  std::memcpy(&message, bytes.data(), sizeof message);
  const bool known = message.kind >= static_cast<std::uint16_t>(MappedKind::ask) &&
                     message.kind <= static_cast<std::uint16_t>(MappedKind::forget) &&
                     message.medium <= static_cast<std::uint8_t>(Granularity::page) &&
                     message.zero == 0 && message.zero_too == 0;
  const bool possible = message.slot < limits::grants && message.length <= ~message.base &&
                        message.length <= ~message.offset;
  return known && possible ? std::optional(message) : std::nullopt;
}

}  // namespace remora::fabric::nic::mapped
