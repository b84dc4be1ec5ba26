// How much memory a run needs, so that whoever starts one need not think about it.
#pragma once

#include <cstdint>

#include "kv/store.h"
#include "lab/workload/plan.h"

namespace remora::store_bench {

// A pool that holds every version that the plan writes, so that no log is cleaned; with an upper
// limit, from where on an engine has to clean.
std::uint64_t pool_bytes_for(const workload::Plan& plan);

// How many operations of one client are in flight in the load phase: several, unless values are
// large.
std::uint32_t load_depth_for(const workload::Plan& plan, std::uint32_t depth);

// For a client that has `depth` operations of the plan in flight.
kv::ClientOptions client_options_for(const workload::Plan& plan, std::uint32_t depth);

// For the server of the plan's clients, in a pool that is new.
kv::ServerOptions server_options_for(const workload::Plan& plan, kv::ServerOptions options);

}  // namespace remora::store_bench
