// Cast: the stage and the contenders on it, each started when it is first asked for and kept until
// the end. One that cannot be started says why, every time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "bench/nic/contender.h"
#include "bench/nic/stage.h"
#include "bench/program.h"

namespace remora::bench {

enum class Role : std::uint8_t {
  ring,
  mapped,
  roce,
  ideal,
  udp,
  libfabric_shm,
  libfabric_tcp,
  ucx_posix,
  ucx_cma,
  ucx_tcp,
};

// For people and for identifiers: "libfabric-shm".
std::string_view to_string(Role role);

class Cast {
 public:
  explicit Cast(const RunOptions& options) : options_(options) {}

  // Sets the stage. Fails where there are not two cores.
  Status open();
  Stage& stage() { return *stage_; }
  // The rounds and the slice of every measurement.
  Plan plan() const;

  Result<Contender*> get(Role role);

 private:
  Result<std::unique_ptr<Contender>> start(Role role);

  const RunOptions& options_;
  std::unique_ptr<Stage> stage_;
  std::map<Role, Result<std::unique_ptr<Contender>>> started_;
};

// The groups of claims. A claim whose contender cannot be had is skipped, with the reason.

// ring beside an ideal RNIC between two processes.
Result<Claims> measure_ring(Cast& cast);
// mapped beside what the machine's own instructions can do, and beside UCX posix.
Result<Claims> measure_mapped(Cast& cast);
// roce beside what bare UDP does here, and beside peers over TCP.
Result<Claims> measure_roce(Cast& cast);
// ring and mapped beside peers that check as they do.
Result<Claims> measure_peers(Cast& cast);

}  // namespace remora::bench
