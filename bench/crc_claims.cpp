#include <fmt/format.h>
#include <isa-l/crc.h>

#include <array>
#include <vector>

#include "base/crc32c.h"
#include "base/size_text.h"
#include "bench/claims.h"

namespace remora::bench {
namespace {

constexpr std::array<std::size_t, 6> crc_sizes = {64, 256, 1024, 4096, 16384, 65536};
constexpr double crc_target_ratio = 1.05;
constexpr std::size_t target_from_bytes = 4096;

// Each checksum is the seed of the next, so that none can begin before the one ahead of it is
// known.
Claim measure_size(std::vector<std::byte>& buffer, std::size_t size_bytes, const Plan& plan) {
  std::uint32_t ours = 0;
  std::uint32_t bare = 0;
  const ConstBytes bytes(buffer.data(), size_bytes);
  auto* from = reinterpret_cast<unsigned char*>(buffer.data());
  const Side sides[] = {[&](std::uint64_t iterations) {
                          for (; iterations > 0; --iterations) {
                            ours = crc32c(bytes, ours);
                          }
                        },
                        [&](std::uint64_t iterations) {
                          for (; iterations > 0; --iterations) {
                            bare = crc32_iscsi(from, static_cast<int>(size_bytes), bare);
                          }
                        }};
  const auto series = interleave(sides, plan);
  Claim claim =
      compare({fmt::format("crc/{}", size_bytes),
               fmt::format("crc32c of {} costs what ISA-L costs", format_size(size_bytes)),
               "ISA-L's crc32_iscsi", std::nullopt},
              series[0], series[1]);
  if (size_bytes >= target_from_bytes) {
    claim.wording.target_ratio = crc_target_ratio;
  }
  claim.beside.emplace_back("gb_per_s", static_cast<double>(size_bytes) / claim.obtained_ns.median);
  return claim;
}

}  // namespace

Result<Claims> measure_crc(const MicroOptions& options) {
  std::vector<std::byte> buffer(crc_sizes.back());
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    buffer[i] = static_cast<std::byte>(i * 131 >> 3);
  }
  Claims claims;
  for (std::size_t size_bytes : crc_sizes) {
    claims.push_back(measure_size(buffer, size_bytes, memory_plan(options)));
  }
  return claims;
}

}  // namespace remora::bench
