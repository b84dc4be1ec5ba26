// The store beside its limits and its peers.
#include "bench/store/store.h"

#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  using namespace remora;
  bench::StoreBenchOptions options;
  std::string only = "redis,roce,get,recovery,restart";  // what ends in minutes
  std::string where = ".";
  CLI::App app(
      "The store beside Redis and beside bare memory, the time it takes to come back, and its log "
      "under endless updates",
      "store");
  app.add_option(
         "--only", only,
         "redis, roce, get, recovery, restart, verify, several, cleaning, or a list of these")
      ->capture_default_str();
  app.add_option("--match", options.match, "beside Redis: only lines whose name has this in it");
  app.add_option("--rounds", options.rounds, "of which the middle one is shown")
      ->capture_default_str();
  app.add_option("--ops", options.operations, "of one run of ours")->capture_default_str();
  app.add_option("--objects", options.most_objects, "in the largest store")->capture_default_str();
  app.add_option("--bytes", options.cleaning_bytes, "of updates, to see the log cleaned")
      ->capture_default_str();
  app.add_option("--folder", where, "for files; on the disk that is to be measured")
      ->capture_default_str();
  app.footer(
      "Left out unless it is asked for (--only cleaning): the log under updates, since it writes\n"
      "20 GB of them through a pool in memory, which takes minutes; --bytes makes it shorter.\n"
      "docs/measured.md has what long runs have shown.");
  CLI11_PARSE(app, argc, argv);
  options.folder = where + "/store-bench-XXXXXX";
  if (::mkdtemp(options.folder.data()) == nullptr) {
    std::fprintf(stderr, "store: cannot make a folder in %s\n", where.c_str());
    return 3;
  }
  Status status;
  if (only.find("redis") != std::string::npos) {
    status = bench::measure_beside_redis(options);
  }
  if (status.ok() && only.find("roce") != std::string::npos) {
    status = bench::measure_roce_beside_redis(options);
  }
  if (status.ok() && only.find("recovery") != std::string::npos) {
    status = bench::measure_recovery(options);
  }
  if (status.ok() && only.find("restart") != std::string::npos) {
    status = bench::measure_restart(options);
  }
  if (status.ok() && only.find("get") != std::string::npos) {
    status = bench::measure_mapped_get(options);
  }
  if (status.ok() && only.find("verify") != std::string::npos) {
    status = bench::measure_verify(options);
  }
  if (status.ok() && only.find("several") != std::string::npos) {
    status = bench::measure_several(options);
  }
  if (status.ok() && only.find("cleaning") != std::string::npos) {
    status = bench::measure_cleaning(options);
  }
  std::error_code ignored;
  std::filesystem::remove_all(options.folder, ignored);
  if (!status.ok()) {
    std::fprintf(stderr, "store: %s\n", std::string(status.message()).c_str());
    return 3;
  }
  return 0;
}
