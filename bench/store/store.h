// What this program measures. Each prints a table, and fails only for what could not be run:
// nothing fails for being slow.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace remora::bench {

struct StoreBenchOptions {
  std::uint32_t rounds = 3;            // of which the middle one is shown
  std::uint64_t operations = 200'000;  // of one run of ours
  std::uint64_t redis_operations = 50'000;
  std::uint64_t most_objects = 4'000'000;
  std::uint64_t cleaning_bytes = 20'000'000'000;  // of updates
  std::string match;                              // beside Redis: only lines whose name has this
  std::string folder;                             // for files; on the disk that is to be measured
};

// GET and SET by native clients over `mapped`, one at a time on 1 and on 8 connections, beside
// redis-benchmark against redis-server; with values of 100 B and 4 KB, in memory and persistent. A
// SET in memory stands beside the least that a put takes here too (bare_put.h).
Status measure_beside_redis(const StoreBenchOptions& options);
// The same by the network: roce beside TCP.
Status measure_roce_beside_redis(const StoreBenchOptions& options);

// The time to open a store of ever more objects of two sizes, beside a sequential read of the bytes
// they take, and to verify all their checksums in the background after that.
Status measure_recovery(const StoreBenchOptions& options);

// `remora serve` with a million objects, killed and started again: until a client has got one.
Status measure_restart(const StoreBenchOptions& options);

// A GET over `mapped` from a second process beside two dependent copies of a cold line, and the CPU
// time that it costs the server.
Status measure_mapped_get(const StoreBenchOptions& options);

// Gets whose checksum is computed beside gets whose is not, by size, for clients on mapped and on
// ring and for the server's own process: where verify_reads = auto may verify.
Status measure_verify(const StoreBenchOptions& options);

// A write of eight keys at once over `mapped`, beside one put and beside eight.
Status measure_several(const StoreBenchOptions& options);

// A small pool under updates that take many times its size (cleaning.h), as it goes along.
Status measure_cleaning(const StoreBenchOptions& options);

}  // namespace remora::bench
