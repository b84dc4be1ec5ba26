// Verbs for durability: FLUSH, and those that the standard does not have. The latter travel between
// devices of Remora alone, which agree on them when a link comes up (docs/formats/ring.md,
// docs/formats/roce.md): a request that a peer has not agreed to is refused when it is posted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace remora::fabric {

// How a device does something that not every device can do.
enum class Support : std::uint8_t { none, emulated, native };

// What is known of bytes whose FLUSH to persistence has completed. The initiating side declares
// it; on most devices what it is worth depends on the peer.
enum class FlushWorth : std::uint8_t {
  // They have left the peer's NIC: persistent where caches survive, or DMA goes past them (DDIO
  // off). It is no more where nobody knows which of these holds.
  pushed,
  // They are persistent, in the sense of the region (P6).
  persistent,
};
constexpr std::string_view to_string(FlushWorth worth) {
  return worth == FlushWorth::persistent ? "persistent" : "pushed out of the NIC";
}

enum class DurableVerb : std::uint8_t {
  wflush,         // FLUSH, behind WRITEs
  sflush,         // behind SENDs, which the responder moves to a log in persistent memory
  rflush,         // the responder makes persistent what arrives, and only then tells the sender
  flush_imm,      // FLUSH with immediate data
  flush_payload,  // FLUSH with a word that is stored behind it
};
inline constexpr std::array durable_verbs = {DurableVerb::wflush, DurableVerb::sflush,
                                             DurableVerb::rflush, DurableVerb::flush_imm,
                                             DurableVerb::flush_payload};
constexpr std::string_view to_string(DurableVerb verb) {
  constexpr std::array<std::string_view, durable_verbs.size()> names = {
      "WFlush", "SFlush", "RFlush", "FLUSH with immediate", "FLUSH with payload"};
  return names[static_cast<std::size_t>(verb)];
}

// A set of those that are Remora's own: one bit for each, the same as in the handshakes.
using VendorVerbs = std::uint32_t;
constexpr VendorVerbs vendor_verb(DurableVerb verb) {
  constexpr std::array<VendorVerbs, durable_verbs.size()> bits = {0, 1 << 2, 1 << 3, 1 << 0,
                                                                  1 << 1};
  return bits[static_cast<std::size_t>(verb)];
}
inline constexpr VendorVerbs all_vendor_verbs = 15;

// What the two sides of a queue pair have agreed on.
struct Agreed {
  VendorVerbs verbs = 0;                            // that this side may post, and the peer too
  FlushWorth flush_worth = FlushWorth::persistent;  // of this side's FLUSHes, at this peer
};

}  // namespace remora::fabric
