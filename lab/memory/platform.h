// Platform: what kind of machine the persistent memory sits in, as far as a power cut can tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pmem/region.h"

namespace remora {

// The persistence domain: how far a byte must have come to survive a power cut.
enum class Domain : std::uint8_t {
  dmp,  // the memory controller (ADR); CPU caches are lost
  mhp,  // the CPU caches too (eADR)
  wsp,  // the whole system, NIC included
};

// What the device does for an RDMA FLUSH to persistence.
enum class FlushMeaning : std::uint8_t {
  platform,  // the FLUSH of the standard: persistent, wherever DDIO put the bytes
  pcie,      // the papers' read-after-write: it pushes the bytes out of the NIC, and no further
};

struct Platform {
  Domain domain = Domain::dmp;
  bool ddio = true;  // inbound DMA lands in the CPU cache
  FlushMeaning flush = FlushMeaning::platform;
  // A target CPU sees the bytes of one WRITE appear in ascending order.
  bool ascending = true;
  // What the region tells the protocol. It does not follow the domain, so that a protocol behaves
  // alike on every domain; `page` is an ordinary file.
  Granularity granularity = Granularity::cache_line;

  bool operator==(const Platform&) const = default;
};

// The platform by whose rules memory is lost. Page media keep what is visible in the page cache,
// which is DRAM: neither the domain nor DDIO nor an RDMA FLUSH helps there, only a commit.
Platform in_force(Platform platform);

std::string_view to_string(Domain domain);
std::string_view to_string(FlushMeaning flush);

// "dmp,ddio=on,flush=platform", and then, only where it is not the default, "order=any" and
// "media=byte" or "media=page".
std::string to_string(const Platform& platform);

// The reverse of to_string. What is left out keeps its default; the order is free. An unknown word
// is an invalid_argument that lists the known ones.
Result<Domain> parse_domain(std::string_view text);
Result<bool> parse_switch(std::string_view text);  // "on", "off"
Result<FlushMeaning> parse_flush_meaning(std::string_view text);
Result<Platform> parse_platform(std::string_view text);

// Every domain with DDIO on and off and both meanings of FLUSH: 12 cache-line platforms.
std::vector<Platform> all_platforms();

}  // namespace remora
