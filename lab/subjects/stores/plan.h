// StorePlan: all that a run of a store in the crash world follows from, drawn from its seed. Few
// keys, so that clients collide; a pool so small that its log is cleaned often; and now and then a
// hard life: many keys, so that the index grows; little patience, so that values come too late; a
// network that loses, repeats, reorders and delays; large values, so that cleaning never rests.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "kv/store.h"
#include "lab/crash/subject.h"

namespace remora::lab {

struct StorePlan {
  const kv::Engine* engine = nullptr;
  Platform platform;
  Faults faults;
  std::size_t pool_bytes = 0;
  kv::ServerOptions server;
  kv::ClientOptions client;
  HostCosts costs;
  std::uint64_t longest_read_ns = 6'000;  // that a READ takes lines for

  // What the clients do.
  std::uint32_t clients = 1;  // nodes
  std::uint32_t streams = 1;  // operations that each has in flight
  std::uint32_t keys = 1;
  std::uint64_t operations = 0;  // of all together
  std::uint64_t longest_pause_ns = 0;
  bool changes_here = false;  // the server's own process puts and deletes too
  std::uint32_t put_percent = 50;
  std::uint32_t del_percent = 5;
  std::uint32_t persistent_percent = 20;  // of the puts
  std::uint32_t clear_percent = 0;        // of the changes here; all keys go
  std::uint64_t usual_value_bytes = 0;    // at most
  std::uint64_t large_value_bytes = 0;    // at most
  std::uint64_t smallest_large_bytes = 0;
  std::uint32_t large_percent = 0;  // of the puts
  std::uint64_t longest_work_ns = 8'000'000;

  // Harder lives (hard_plan.h).
  bool is_hard = false;
  std::uint64_t hard_seed = 0;
  std::uint32_t scan_percent = 0;      // of the operations
  std::uint32_t tide_operations = 0;   // so many, and puts are dels, and puts again; 0: never
  std::uint32_t timed_keys = 0;        // which the server's own process changes
  std::uint64_t worker_ns = 0;         // at most, for half a piece of work; 0: there is no worker
  std::uint32_t kills = 0;             // at most
  std::uint32_t cuts_in_cleaning = 0;  // at most

  // The pool grows to that while it is served, in one step or two; see one_in_grows. 0: it stays.
  std::size_t grown_bytes = 0;
  std::uint64_t longest_before_growth_ns = 0;
  std::uint64_t cut_growth_one_in = 1;    // memory events of a growth
  std::uint64_t probe_growth_one_in = 1;  // the same

  // Several keys at once; see one_in_writes_together.
  std::uint32_t together_percent = 0;  // of the operations
  std::uint32_t together_keys = 0;     // at most

  // What happens to them.
  std::uint64_t trouble_every_ns = 0;  // a partition, a dead client, a bad network; 0: never
  std::uint64_t longest_trouble_ns = 0;
  fabric::nic::sim::SimFaults bad_network;
  bool bad_from_start = false;

  // Power cuts of the server.
  std::uint32_t cuts = 0;        // at most; the world goes on after each
  std::uint32_t probes = 0;      // at most: moments from which several images are recovered
  std::uint64_t cut_one_in = 1;  // memory events
  std::uint64_t probe_one_in = 1;
};

// One run in so many writes several keys at once. The others have the plans that they would have
// without.
inline constexpr std::uint64_t one_in_writes_together = 5;

// The same of runs in which the pool grows; in one of ten of these every event of a growth is a
// probe.
inline constexpr std::uint64_t one_in_grows = 14;
inline constexpr std::uint64_t one_growth_is_probed = 10;

// Whether users have it: held to more than its promise, such as that there is room for a put.
bool is_of_the_product(const kv::Engine& engine);

StorePlan draw_plan(const kv::Engine& engine, const CrashRun& run, Random& random);

// The key with this number; some are long.
std::string key_text(std::uint32_t number);

// The machines of every run. Nothing in them depends on where in the address space memory lies: a
// run must replay in another process.
const fabric::nic::sim::NicProfile& nic_of_the_crash_world();
const fabric::nic::sim::MemoryProfile& memory_of_the_crash_world();

}  // namespace remora::lab
