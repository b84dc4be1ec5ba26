// A benchmark of the fabric's operations between two devices, in the manner of perftest: one side
// initiates, the other is the target. On real wires the target is a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace remora::lab {

struct NicBenchOptions {
  std::string wire = "ring";  // ring, mapped, roce, sim, or verbs with or without a device's name
  std::string operation = "write";
  std::uint64_t size_bytes = 64;
  std::uint64_t depth = 1;       // requests in flight
  std::uint64_t operations = 0;  // 0: as many as take about a second
  std::uint64_t walk_bytes = 0;  // of the target's memory, which is gone through; 0: all of it
  std::uint64_t seed = 1;        // of the simulated world
  std::string profile = "connectx-5";
  std::string memory_profile = "optane";
  // verbs, between two machines: where the target waits for an initiator, and where an initiator
  // finds it. With neither, the target is a process of this machine.
  std::string listen = {};
  std::string target = {};
};

struct NicBenchReport {
  std::uint64_t operations = 0;
  double ops_per_s = 0;
  double bytes_per_s = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
  // Of all requests, warming up included: how many this side executed itself, and how many it sent.
  std::uint64_t requests_short_cut = 0;
  std::uint64_t requests_by_wire = 0;
  // What the device does in a way of its own, or cannot do, as people should know.
  std::vector<std::string> remarks = {};
  bool modelled = false;  // virtual time, by a hardware profile; else measured
};

// The names that `operation` may have, and the same as one text.
const std::vector<std::string>& nic_bench_operations();
std::string list_of_operations();
// Whether the operation has no size of its own but works on 8 bytes.
bool works_on_a_word(const std::string& operation);

// Whether the wire is an RDMA device.
bool is_verbs(const std::string& wire);

// Is the target on an RDMA device for one initiator, which says the rest, until it has gone.
Status run_nic_target(const NicBenchOptions& options);

// Runs it. Progress and output are the caller's business; nothing is printed.
Result<NicBenchReport> run_nic_bench(const NicBenchOptions& options);

}  // namespace remora::lab
