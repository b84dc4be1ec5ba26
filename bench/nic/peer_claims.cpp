#include <fmt/format.h>

#include <map>

#include "base/size_text.h"
#include "bench/nic/cast.h"

namespace remora::bench {
namespace {

constexpr std::size_t peer_sizes[] = {64, 4096, 65536};
constexpr Role ours[] = {Role::ring, Role::mapped};
constexpr Role theirs[] = {Role::libfabric_shm, Role::ucx_cma};

struct PeerAspect {
  const char* name;
  std::size_t depth;
};
constexpr PeerAspect peer_aspects[] = {{"latency", 1}, {"rate", most_depth}};

// Ahead: not slower.
Wording wording_of(Role our, Role their, Verb verb, std::size_t size_bytes,
                   const PeerAspect& aspect) {
  const bool write = verb == Verb::write;
  return {fmt::format("{}-{}-{}-beside-{}/{}", to_string(our), write ? "write" : "read",
                      aspect.name, to_string(their), size_bytes),
          fmt::format("{} is ahead of {} in the {} of {} of {}", to_string(our), to_string(their),
                      aspect.name, write ? "WRITEs" : "READs", format_size(size_bytes)),
          fmt::format("{} between the same two processes, {} in flight", to_string(their),
                      aspect.depth),
          1.0};
}

// Those who are here, each with the place of its side, and why the others are not.
struct Attendance {
  std::vector<Side> sides;
  std::map<Role, std::size_t> place;
  std::map<Role, std::string> missing;
};

Attendance gather(Cast& cast, const Shape& shape) {
  Attendance attendance;
  for (const Role role : {Role::ring, Role::mapped, Role::libfabric_shm, Role::ucx_cma}) {
    Result<Contender*> contender = cast.get(role);
    if (contender.ok()) {
      attendance.place[role] = attendance.sides.size();
      attendance.sides.push_back(cast.stage().side(**contender, shape));
    } else {
      attendance.missing[role] = contender.status().message();
    }
  }
  return attendance;
}

Status measure_aspect(Cast& cast, Verb verb, std::size_t size_bytes, const PeerAspect& aspect,
                      Claims& claims) {
  const Attendance attendance = gather(cast, {verb, size_bytes, aspect.depth, false});
  REMORA_TRY_RESULT(series, cast.stage().measure(attendance.sides, cast.plan()));
  for (const Role our : ours) {
    for (const Role their : theirs) {
      Wording wording = wording_of(our, their, verb, size_bytes, aspect);
      const Role absent = attendance.missing.contains(our) ? our : their;
      if (attendance.missing.contains(absent)) {
        claims.push_back(skip(std::move(wording), attendance.missing.at(absent)));
      } else {
        claims.push_back(compare(std::move(wording), *series, attendance.place.at(our),
                                 attendance.place.at(their)));
      }
    }
  }
  return Status();
}

}  // namespace

Result<Claims> measure_peers(Cast& cast) {
  REMORA_TRY_RESULT(ring, cast.get(Role::ring));
  Claims claims;
  for (const Verb verb : {Verb::write, Verb::read}) {
    for (const std::size_t size_bytes : peer_sizes) {
      for (const PeerAspect& aspect : peer_aspects) {
        REMORA_TRY(measure_aspect(cast, verb, size_bytes, aspect, claims));
      }
    }
  }
  return claims;
}

}  // namespace remora::bench
