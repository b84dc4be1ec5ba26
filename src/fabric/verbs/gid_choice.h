// Which of a port's addresses a device goes by. A RoCE port has a table of them: one or two per IP
// address, for either version of RoCE; an InfiniBand port has its own, and its LID beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fabric/types.h"

namespace remora::fabric::verbs {

enum class GidKind : std::uint8_t { infiniband, roce_v1, roce_v2 };

struct GidEntry {
  std::uint32_t index = 0;
  GidKind kind = GidKind::roce_v2;
  Gid gid{};
};

// Whether it is ::ffff:a.b.c.d, and whether it is fe80::/10.
bool is_ipv4(const Gid& gid);
bool is_link_local(const Gid& gid);

// "192.168.1.2", or the sixteen bytes as IPv6 text.
std::string to_text(const Gid& gid);

// The best of them: RoCEv2 before InfiniBand's own before RoCEv1; among those IPv4, then global
// IPv6, then link-local; then the lowest index. With an index, that one. Nothing when the table has
// none, or not that one.
std::optional<GidEntry> choose_gid(std::span<const GidEntry> table,
                                   std::optional<std::uint32_t> index = std::nullopt);

// An InfiniBand port is reached by its LID, which what peers tell each other has no room for. In a
// GID with the default subnet prefix, fe80:0:0:0, the bytes 2 and 3 are zero: it travels there.
bool carries_lid(const Gid& gid);
Gid with_lid(Gid gid, std::uint16_t lid);
std::uint16_t lid_of(const Gid& gid);

}  // namespace remora::fabric::verbs
