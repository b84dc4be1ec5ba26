// micro: the claims about the foundation, measured beside their bare limits.
#include <CLI/CLI.hpp>

#include "bench/claims.h"
#include "bench/program.h"

int main(int argc, char** argv) {
  using namespace remora;
  bench::MicroOptions options;
  bench::Program program(
      "micro", "The claims about Remora's foundation, each measured beside its bare limit",
      options);
  program.add_group("persist", [&] { return measure_persist(options); });
  program.add_group("copy", [&] { return measure_copy(options); });
  program.add_group("crc", [&] { return measure_crc(options); });
  program.add_group("commit", [&] { return measure_commit(options); });
  program.add_group("recovery", [&] { return measure_recovery(options); });
  program.app()
      .add_option("--path", options.path, "A folder on the disk to measure commits on")
      ->capture_default_str();
  program.require([&] { return program.wants("commit") ? check_commit(options) : Status(); });
  return program.run(argc, argv);
}
