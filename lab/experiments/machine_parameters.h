// What a figure's parameters say of the machines that are modelled:
//
//   request_cores, background_cores, spread   of the server (lab/run/modelled.h)
//   awaited_versions      that may wait to be made persistent
//   server_sleeps, client_sleeps              true: until an interrupt; else they spin
//   server_share, client_share                of their cores' time; other programs have the rest
//   slice_us              in pieces of this length
//   client_machines       which the clients share; 0: each has its own
//   servers               on one machine
//
// The first four belong together; each of the others may be missing.
#pragma once

#include "lab/experiments/experiment.h"
#include "lab/run/modelled.h"

namespace remora::lab {

// Sets what the parameters say. invalid_argument where they contradict themselves.
Status read_machines(const figures::Parameters& parameters, const FigureRunOptions& options,
                     store_bench::ModelledOptions& modelled);

}  // namespace remora::lab
