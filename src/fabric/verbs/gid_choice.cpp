#include "fabric/verbs/gid_choice.h"

#include <arpa/inet.h>

#include <algorithm>
#include <tuple>

namespace remora::fabric::verbs {
namespace {

constexpr std::size_t ipv4_offset = 12;
constexpr std::size_t lid_offset = 2;
constexpr std::size_t prefix_bytes = 8;

int rank_of_kind(GidKind kind) {
  switch (kind) {
    case GidKind::roce_v2:
      return 0;
    case GidKind::infiniband:
      return 1;
    case GidKind::roce_v1:
      return 2;
  }
  return 3;
}

int rank_of_address(const Gid& gid) {
  return is_ipv4(gid) ? 0 : is_link_local(gid) ? 2 : 1;
}

bool is_empty(const Gid& gid) {
  return std::ranges::all_of(gid, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

bool is_ipv4(const Gid& gid) {
  return std::all_of(gid.begin(), gid.begin() + 10, [](std::uint8_t byte) { return byte == 0; }) &&
         gid[10] == 0xff && gid[11] == 0xff;
}

bool is_link_local(const Gid& gid) {
  return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

std::string to_text(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_ipv4(gid)) {
    inet_ntop(AF_INET, gid.data() + ipv4_offset, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.data(), text, sizeof text);
  }
  return text;
}

std::optional<GidEntry> choose_gid(std::span<const GidEntry> table,
                                   std::optional<std::uint32_t> index) {
  std::optional<GidEntry> best;
  const auto rank = [](const GidEntry& entry) {
    return std::tuple(rank_of_kind(entry.kind), rank_of_address(entry.gid), entry.index);
  };
  for (const GidEntry& entry : table) {
    const bool may_be = index ? entry.index == *index : !is_empty(entry.gid);
    if (may_be && (!best || rank(entry) < rank(*best))) {
      best = entry;
    }
  }
  return best;
}

bool carries_lid(const Gid& gid) {
  return gid[0] == 0xfe && gid[1] == 0x80 &&
         std::all_of(gid.begin() + lid_offset + 2, gid.begin() + prefix_bytes,
                     [](std::uint8_t byte) { return byte == 0; });
}

Gid with_lid(Gid gid, std::uint16_t lid) {
  gid[lid_offset] = static_cast<std::uint8_t>(lid >> 8);
  gid[lid_offset + 1] = static_cast<std::uint8_t>(lid & 0xff);
  return gid;
}

std::uint16_t lid_of(const Gid& gid) {
  return static_cast<std::uint16_t>(gid[lid_offset] << 8 | gid[lid_offset + 1]);
}

}  // namespace remora::fabric::verbs
