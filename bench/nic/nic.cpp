// nic: the wires of the software RNIC, measured beside their limits and their peers.
#include "bench/nic/cast.h"
#include "bench/program.h"

int main(int argc, char** argv) {
  using namespace remora;
  bench::RunOptions options;
  bench::Cast cast(options);
  bench::Program program(
      "nic", "The wires of Remora's software RNIC, each measured beside its limits and its peers",
      options);
  program.require([&] { return cast.open(); });
  program.add_fact("core_round_trip_ns", [&] {
    const Result<bench::Spread> spread = cast.stage().round_trip_ns();
    return spread.ok() ? spread->median : 0;
  });
  program.add_group("ring", [&] { return measure_ring(cast); });
  program.add_group("mapped", [&] { return measure_mapped(cast); });
  program.add_group("roce", [&] { return measure_roce(cast); });
  program.add_group("peers", [&] { return measure_peers(cast); });
  return program.run(argc, argv);
}
