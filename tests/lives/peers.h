// What the processes that a survivor meets do. Each runs in a child, tells `ready` when it listens,
// and `wrong: …` of the first thing that is not as it should be.
#pragma once

#include <string>

#include "fabric/nic/wire/ring/host_link.h"
#include "tests/lives/child.h"
#include "tests/lives/load_plan.h"
#include "tests/lives/stations.h"

namespace remora::fabric::lives {

struct PeerOptions {
  const WireKind& kind;
  nic::ring::HostEnd end;  // whether it connects or listens
  std::string path;
  LoadPlan plan;
};

// Works until its line fails. The blow, if it is by its own hand, falls when the plan of its work
// says so. If it outlives that, it expects its requests to have failed and its link to be down; a
// connector then comes again and tries its old key, which must be worth nothing. It tells `late:
// N`: so many additions it executed for the survivor after it was stopped.
void victim(const Teller& teller, const PeerOptions& options, const Blow& blow);

// Works as far as the limit of its plan, with success, and stays until its line is ended.
void witness(const Teller& teller, const PeerOptions& options);

}  // namespace remora::fabric::lives
