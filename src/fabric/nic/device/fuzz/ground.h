// Ground: the memory of a device under a fuzzer. Every kind of right has its plot, a region of its
// own, with canaries around it; and there is a second picture of it all, of what should be there.
// Who may do what is said here once more, in other words than the device has for it.
//
// Bytes that a peer may read, and all that peers write, are below `secret`; all others begin above
// it. So a byte that got out is recognised.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/device.h"
#include "pmem/pmem_testing.h"

namespace remora::fabric::nic::fuzz {

enum Plot : std::size_t {
  plot_open,       // every right
  plot_constant,   // may be read
  plot_written,    // may be written
  plot_counted,    // atomics
  plot_receiving,  // no remote right: here lie the receives
  plot_foreign,    // every right, in another domain
  plot_granted,    // every right, in every second strip: a guard says so
  plot_count,
};

inline constexpr std::size_t plot_bytes = 2560;
inline constexpr std::size_t strip_bytes = 320;
static_assert(plot_bytes % strip_bytes == 0);
inline constexpr std::uint8_t secret = 0x80;
// What a peer may write, so that no sum of the few that there are reaches `secret`.
inline constexpr std::uint8_t written_mask = 0x3f;
inline constexpr std::uint64_t summand_mask = 0x0101'0101'0101'0101;

// Who asks: through a queue pair of which domain, and with which rights.
struct Asker {
  bool foreign = false;
  AccessFlags rights = 0;
};

class Ground {
 public:
  Ground(ProtectionDomain& own, ProtectionDomain& foreign, Granularity medium);

  std::uint64_t address(Plot plot) const;
  RemoteKey key(Plot plot) const { return regions_[plot]->remote_key(); }
  // One that led somewhere once, or never did.
  RemoteKey stale_key() const { return stale_key_; }
  Sge piece(Plot plot, std::size_t offset, std::size_t size_bytes) const {
    return regions_[plot]->piece(offset, size_bytes);
  }

  // The region goes, and another one comes in its place.
  void replace(Plot plot);

  // Whether all of these bytes may be used so.
  bool grants(const Asker& asker, RemoteKey key, std::uint64_t address, std::uint64_t size_bytes,
              AccessFlags needed) const;
  // The same of a region as a whole.
  bool grants_region(const Asker& asker, RemoteKey key, AccessFlags needed) const;
  // Whether anything that this one asks for can change the plot.
  static bool may_change(const Asker& asker, Plot plot);

  // What should be at an address that was granted.
  Bytes expected(std::uint64_t address, std::size_t size_bytes);
  // Here it should be as it is.
  void adopt(std::uint64_t address, std::size_t size_bytes);
  // All is as it should be.
  void check();
  // The same but for these plots, which may be as they like.
  void check_but(const std::array<bool, plot_count>& changed);

 private:
  // Whether the device may let these be used: what the device asks.
  class Strips final : public Guard {
   public:
    bool allows(const RemoteAccess& access) override;
  };

  bool admits(const Asker& asker, std::size_t plot, RemoteKey key, AccessFlags needed) const;

  std::array<ProtectionDomain*, plot_count> domains_;
  FakeRegion medium_;
  std::vector<std::byte> picture_;
  Strips strips_;
  std::array<std::unique_ptr<MemoryRegion>, plot_count> regions_;
  RemoteKey stale_key_ = 0x00100001;
};

}  // namespace remora::fabric::nic::fuzz
