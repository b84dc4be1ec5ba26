#include <fmt/format.h>

#include "base/size_text.h"
#include "bench/nic/cast.h"

namespace remora::bench {
namespace {

struct RoceAspect {
  const char* name;
  const char* says;
  std::size_t size_bytes;
  std::size_t depth;
  double target_ratio;
};
constexpr RoceAspect roce_aspects[] = {
    {"latency", "A WRITE of {} on roce takes at most 1.5 polled UDP round trips", 64, 1, 1.5},
    {"rate", "With 32 in flight, WRITEs of {} on roce reach a sixth of the bare rate", 64, 32, 6.0},
    {"bandwidth", "With 32 in flight, WRITEs of {} on roce reach half of the bare rate", 65'536, 32,
     2.0},
};

constexpr std::size_t tcp_sizes[] = {64, 4096, 65'536};

Status measure_beside(Cast& cast, Contender& roce, Role their, Claims& claims) {
  for (const std::size_t size_bytes : tcp_sizes) {
    for (const std::size_t depth : {std::size_t{1}, most_depth}) {
      const char* aspect = depth == 1 ? "latency" : "rate";
      Wording wording{
          fmt::format("roce-write-{}-beside-{}/{}", aspect, to_string(their), size_bytes),
          fmt::format("roce is ahead of {} in the {} of WRITEs of {}", to_string(their), aspect,
                      format_size(size_bytes)),
          fmt::format("{} between the same two processes, {} in flight", to_string(their), depth),
          1.0};
      Result<Contender*> peer = cast.get(their);
      if (!peer.ok()) {
        claims.push_back(skip(std::move(wording), std::string(peer.status().message())));
        continue;
      }
      const Shape shape{Verb::write, size_bytes, depth, false};
      REMORA_TRY_RESULT(series, cast.stage().measure({cast.stage().side(roce, shape),
                                                      cast.stage().side(**peer, shape)},
                                                     cast.plan()));
      claims.push_back(compare(std::move(wording), *series, 0, 1));
    }
  }
  return Status();
}

}  // namespace

Result<Claims> measure_roce(Cast& cast) {
  Result<Contender*> roce = cast.get(Role::roce);
  Result<Contender*> bare = cast.get(Role::udp);
  if (!roce.ok() || !bare.ok()) {
    return roce.ok() ? bare.status() : roce.status();
  }
  Claims claims;
  for (const RoceAspect& aspect : roce_aspects) {
    const Shape shape{Verb::write, aspect.size_bytes, aspect.depth, false};
    REMORA_TRY_RESULT(series, cast.stage().measure({cast.stage().side(**roce, shape),
                                                    cast.stage().side(**bare, shape)},
                                                   cast.plan()));
    Wording wording{fmt::format("roce-{}/{}", aspect.name, aspect.size_bytes),
                    fmt::format(fmt::runtime(aspect.says), format_size(aspect.size_bytes)),
                    "datagrams by UDP_SEGMENT and UDP_GRO, a process that polls and copies, a "
                    "count back",
                    aspect.target_ratio};
    claims.push_back(compare(std::move(wording), *series, 0, 1));
  }
  for (const Role their : {Role::libfabric_tcp, Role::ucx_tcp}) {
    REMORA_TRY(measure_beside(cast, **roce, their, claims));
  }
  return claims;
}

}  // namespace remora::bench
