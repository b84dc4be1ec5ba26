#include <fmt/format.h>

#include "base/size_text.h"
#include "bench/nic/cast.h"

namespace remora::bench {
namespace {

constexpr std::size_t ring_sizes[] = {64, 4096};

struct RingAspect {
  const char* name;
  const char* says;
  std::size_t depth;
  double target_ratio;
};
constexpr RingAspect ring_aspects[] = {
    {"latency", "A WRITE of {} on ring takes at most twice the ideal round trip", 1, 2.0},
    {"rate", "With 32 in flight, WRITEs of {} on ring reach a fifth of the ideal rate", 32, 5.0},
};

}  // namespace

Result<Claims> measure_ring(Cast& cast) {
  Result<Contender*> ring = cast.get(Role::ring);
  Result<Contender*> ideal = cast.get(Role::ideal);
  if (!ring.ok() || !ideal.ok()) {
    return ring.ok() ? ideal.status() : ring.status();
  }
  Claims claims;
  for (const std::size_t size_bytes : ring_sizes) {
    for (const RingAspect& aspect : ring_aspects) {
      const Shape shape{Verb::write, size_bytes, aspect.depth, false};
      REMORA_TRY_RESULT(series, cast.stage().measure({cast.stage().side(**ring, shape),
                                                      cast.stage().side(**ideal, shape)},
                                                     cast.plan()));
      Wording wording{
          fmt::format("ring-{}/{}", aspect.name, size_bytes),
          fmt::format(fmt::runtime(aspect.says), format_size(size_bytes)),
          "a work entry of 64 B in shared memory, a process that polls and copies, a count back",
          aspect.target_ratio};
      claims.push_back(compare(std::move(wording), *series, 0, 1));
    }
  }
  return claims;
}

}  // namespace remora::bench
