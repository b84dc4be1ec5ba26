#include "fabric/nic/wire/roce/net_message.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "base/printable.h"

namespace remora::fabric::nic::roce {
namespace {

std::size_t bytes_of(NetKind kind) {
  return kind == NetKind::greeting || kind == NetKind::reply ? net_format::padded_bytes
                                                             : sizeof(net_format::Message);
}

}  // namespace

std::vector<std::byte> encode(const NetMessage& message) {
  net_format::Message raw{};
  raw.magic = net_format::magic;
  raw.version = net_format::version;
  raw.kind = static_cast<std::uint16_t>(message.kind);
  raw.mtu_bytes = message.mtu_bytes;
  raw.udp_port = message.udp_port;
  raw.code = static_cast<std::uint16_t>(message.reason.code());
  raw.gid = message.gid;
  raw.verbs = message.agreed.verbs;
  raw.flush_worth = message.agreed.flush_worth == FlushWorth::persistent ? 2 : 1;
  const std::string_view text = message.reason.message().substr(0, raw.text.size());
  std::ranges::copy(text, raw.text.begin());
  std::vector<std::byte> bytes(bytes_of(message.kind));
  std::memcpy(bytes.data(), &raw, sizeof raw);
  store(bytes.data() + offsetof(net_format::Message, checksum),
        crc32c(ConstBytes(bytes).first(offsetof(net_format::Message, checksum))));
  return bytes;
}

Result<NetMessage> decode_net_message(ConstBytes bytes) {
  const Status damaged(Code::damaged, "this is not a message of a Remora RoCE device");
  net_format::Message raw{};
  if (bytes.size() < offsetof(net_format::Message, kind)) {
    return damaged;
  }
  std::memcpy(&raw, bytes.data(), std::min(bytes.size(), sizeof raw));
  if (raw.magic != net_format::magic) {
    return damaged;
  }
  if (raw.version != net_format::version) {
    return Status(Code::unsupported, "the peer speaks version " + std::to_string(raw.version) +
                                         " of this protocol, and this program version " +
                                         std::to_string(net_format::version) +
                                         "; use the same release on both sides");
  }
  if (bytes.size() != bytes_of(static_cast<NetKind>(raw.kind)) ||
      crc32c(bytes.first(offsetof(net_format::Message, checksum))) != raw.checksum ||
      (raw.flush_worth != 1 && raw.flush_worth != 2) ||
      !std::ranges::all_of(bytes.subspan(sizeof raw),
                           [](std::byte padding) { return padding == std::byte{0}; })) {
    return damaged;
  }
  NetMessage message{
      .kind = static_cast<NetKind>(raw.kind),
      .mtu_bytes = raw.mtu_bytes,
      .udp_port = raw.udp_port,
      .gid = raw.gid,
      .agreed = {raw.verbs, raw.flush_worth == 2 ? FlushWorth::persistent : FlushWorth::pushed}};
  switch (message.kind) {
    case NetKind::greeting:
    case NetKind::reply:
      return message.udp_port != 0 ? Result<NetMessage>(message) : Result<NetMessage>(damaged);
    case NetKind::ready:
    case NetKind::settled:
      return message;
    case NetKind::refusal: {
      const std::size_t length = strnlen(raw.text.data(), raw.text.size());
      const bool known = raw.code != 0 && raw.code <= static_cast<std::uint16_t>(Code::conflict);
      message.reason = Status(known ? static_cast<Code>(raw.code) : Code::closed,
                              printable({raw.text.data(), length}));
      return message;
    }
  }
  return damaged;
}

}  // namespace remora::fabric::nic::roce
