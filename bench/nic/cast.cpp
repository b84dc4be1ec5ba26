#include "bench/nic/cast.h"

#include <utility>

#include "bench/nic/ideal.h"
#include "bench/nic/peers/peers.h"
#include "bench/nic/udp_ideal.h"
#include "bench/nic/wires.h"

namespace remora::bench {

std::string_view to_string(Role role) {
  switch (role) {
    case Role::ring:
      return "ring";
    case Role::mapped:
      return "mapped";
    case Role::roce:
      return "roce";
    case Role::ideal:
      return "ideal";
    case Role::udp:
      return "udp";
    case Role::libfabric_tcp:
      return "libfabric-tcp";
    case Role::libfabric_shm:
      return "libfabric-shm";
    case Role::ucx_posix:
      return "ucx-posix";
    case Role::ucx_cma:
      return "ucx-cma";
    case Role::ucx_tcp:
      return "ucx-tcp";
  }
  return "unknown";
}

Status Cast::open() {
  Result<std::unique_ptr<Stage>> stage = Stage::create();
  if (stage.ok()) {
    stage_ = std::move(stage).value();
  }
  return stage.status();
}

// Each side has a slice of its own, since their costs differ by far.
Plan Cast::plan() const {
  const std::uint64_t rounds = options_.rounds != 0 ? options_.rounds : options_.quick ? 3 : 101;
  return {rounds, options_.quick ? std::uint64_t{100'000} : 2'000'000, Work::own};
}

Result<std::unique_ptr<Contender>> Cast::start(Role role) {
  const int near_core = stage_->near_core();
  const int far_core = stage_->far_core();
  switch (role) {
    case Role::ring:
      return start_ring(near_core, far_core);
    case Role::mapped:
      return start_mapped(near_core, far_core);
    case Role::roce:
      return start_roce(near_core, far_core);
    case Role::ideal:
      return start_ideal(far_core);
    case Role::udp:
      return start_udp(far_core);
    case Role::libfabric_tcp:
      return start_libfabric_tcp(far_core);
    case Role::libfabric_shm:
      return start_libfabric_shm(far_core);
    case Role::ucx_posix:
      return start_ucx_posix(far_core);
    case Role::ucx_cma:
      return start_ucx_cma(far_core);
    case Role::ucx_tcp:
      return start_ucx_tcp(far_core);
  }
  return Status(Code::invalid_argument, "no such contender");
}

// Nobody else polls on the far core while one starts there.
Result<Contender*> Cast::get(Role role) {
  auto found = started_.find(role);
  if (found == started_.end()) {
    stage_->clear();
    Result<std::unique_ptr<Contender>> contender = start(role);
    if (contender.ok()) {
      if (Status status = stage_->admit(**contender); !status.ok()) {
        contender = status;
      }
    }
    found = started_.emplace(role, std::move(contender)).first;
  }
  REMORA_TRY(found->second.status());
  return found->second->get();
}

}  // namespace remora::bench
