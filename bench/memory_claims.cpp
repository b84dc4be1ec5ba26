#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/size_text.h"
#include "bench/bare_memory.h"
#include "bench/claims.h"
#include "bench/walk.h"
#include "pmem/open_region.h"

namespace remora::bench {
namespace {

constexpr std::array<std::size_t, 4> memory_sizes = {64, 1024, 4096, 65536};
constexpr double memory_target_ratio = 1.1;

// Many times the caches of one core (usually 1 or 2 MiB), so that a target is cold when the walk
// comes round to it again, but for a cache that cores share.
constexpr std::size_t area_bytes = std::size_t{64} << 20;

static_assert(std::has_single_bit(area_bytes) &&
              std::ranges::all_of(memory_sizes,
                                  [](std::size_t size) { return std::has_single_bit(size); }));

struct Source {
  alignas(cache_line_bytes) std::array<std::byte, memory_sizes.back()> bytes;
};

template <typename Operation>
Side along(Walk walk, Bytes area, std::size_t size_bytes, Operation operation) {
  return [=](std::uint64_t iterations) mutable {
    for (; iterations > 0; --iterations) {
      operation(area.data() + walk.next() * size_bytes);
    }
  };
}

// The limit is the quicker of the two most promising bare ways.
constexpr std::size_t bare_candidates = 2;

std::vector<BareWay> candidates(std::vector<BareWay> ways) {
  ways.resize(std::min(ways.size(), bare_candidates));
  return ways;
}

std::size_t quickest(const std::vector<std::vector<double>>& series) {
  const auto less = [](const auto& a, const auto& b) {
    return spread_of(a).median < spread_of(b).median;
  };
  return static_cast<std::size_t>(std::ranges::min_element(series, less) - series.begin());
}

// All sides go the same way through the same memory, at equal distances on the lap, so that each
// finds it as cold as the others do.
template <typename Operation>
Claim against_bare(Wording wording, Bytes area, ConstBytes from, const std::vector<BareWay>& bare,
                   const Plan& plan, Operation operation) {
  const std::size_t places = area.size() / from.size();
  const auto walk = [&](std::size_t side) {
    return Walk(places, places * side / (bare.size() + 1));
  };
  std::vector<Side> sides = {along(walk(0), area, from.size(), operation)};
  for (const BareWay& way : bare) {
    sides.push_back(
        along(walk(sides.size()), area, from.size(),
              [from, run = way.run](std::byte* to) { run(to, from.data(), from.size()); }));
  }
  std::vector<std::vector<double>> series = interleave(sides, plan);
  const std::vector<double> obtained_ns = std::move(series.front());
  series.erase(series.begin());
  const std::size_t best = quickest(series);
  wording.limit = fmt::format("{}, on a walk over {}", bare[best].name, format_size(area.size()));
  Claim claim = compare(std::move(wording), obtained_ns, series[best]);
  for (std::size_t i = 0; i < bare.size(); ++i) {
    claim.beside.emplace_back(fmt::format("{}_ns", bare[i].id), spread_of(series[i]).median);
  }
  return claim;
}

// `operation` brings the source to a place of the region and makes it persistent.
using Operation = void (*)(Region& region, std::byte* to, ConstBytes from);

Result<Claims> measure_sizes(const MicroOptions& options, std::string_view group,
                             std::string_view verb, const std::vector<BareWay>& bare,
                             Operation operation) {
  REMORA_TRY_RESULT(made, make_dram(area_bytes));
  Region& region = **made;
  std::ranges::fill(region.bytes(), std::byte{1});  // no page faults later
  const auto source = std::make_unique<Source>();
  source->bytes.fill(std::byte{0x5a});
  Claims claims;
  for (std::size_t size_bytes : memory_sizes) {
    const ConstBytes from(source->bytes.data(), size_bytes);
    Wording wording{
        fmt::format("{}/{}", group, size_bytes),
        fmt::format("{} {} costs what bare instructions cost", verb, format_size(size_bytes)),
        {},
        memory_target_ratio};
    claims.push_back(
        against_bare(std::move(wording), region.bytes(), from, bare, memory_plan(options),
                     [&region, from, operation](std::byte* to) { operation(region, to, from); }));
  }
  return claims;
}

}  // namespace

Result<Claims> measure_persist(const MicroOptions& options) {
  return measure_sizes(options, "persist", "Region::persist after a memcpy of",
                       candidates(ways_to_persist()),
                       [](Region& region, std::byte* to, ConstBytes from) {
                         std::memcpy(to, from.data(), from.size());
                         static_cast<void>(region.persist(ConstBytes(to, from.size())));
                       });
}

Result<Claims> measure_copy(const MicroOptions& options) {
  return measure_sizes(options, "copy", "Region::copy and drain of", candidates(ways_to_stream()),
                       [](Region& region, std::byte* to, ConstBytes from) {
                         region.copy(to, from);
                         static_cast<void>(region.drain());
                       });
}

}  // namespace remora::bench
