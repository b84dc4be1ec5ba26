// redis-benchmark against Redis and against our front end, in turn: rates, and what an operation
// costs the server in CPU time. Nothing here fails for being slow.
#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/resp/contender.h"

namespace remora::bench {
namespace {

struct Options {
  std::uint64_t requests = 0;  // of each run; 0: as many as are enough
  std::uint32_t clients = 50;
  std::uint32_t rounds = 3;
  std::vector<std::uint32_t> pipelines = {1, 16};
  std::vector<std::string> commands = {"set", "get", "multi"};
  std::vector<std::string> keepings = {"none", "soon", "always"};
  std::string folder = ".";
  bool apart = false;
};

Keeping keeping_of(const std::string& name) {
  return name == "none" ? Keeping::none : name == "soon" ? Keeping::soon : Keeping::always;
}

// The middle one, and how far the others are from it.
std::string ratio_text(const std::vector<double>& ratios) {
  const Spread spread = spread_of(ratios);
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", spread.median, spread.low, spread.high);
}

// What waits for the disk is less, and what comes sixteen at a time is more, unless a number is
// given.
std::uint64_t requests_of(const Options& options, const std::string& keeping,
                          const std::string& command, std::uint32_t pipeline) {
  if (options.requests != 0) {
    return options.requests;
  }
  constexpr std::uint64_t usual = 200'000;
  const bool is_read = command == "get";
  const std::uint64_t requests = keeping == "always" && !is_read ? usual / 10 : usual;
  return pipeline > 1 ? 4 * requests : requests;
}

Status compare(const Options& options, const std::string& keeping, const std::string& folder) {
  std::array<std::unique_ptr<Contender>, 2> sides;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::string own = folder + (i == 0 ? "/redis" : "/remora");
    std::filesystem::create_directories(own);
    const Cores cores = options.apart ? Cores::apart : Cores::any;
    REMORA_TRY_RESULT(side, i == 0 ? Contender::redis(keeping_of(keeping), own, cores)
                                   : Contender::remora(keeping_of(keeping), own, cores));
    sides[i] = std::move(side).value();
  }
  for (const std::uint32_t pipeline : options.pipelines) {
    for (const std::string& command : options.commands) {
      std::array<std::vector<double>, 2> rates;
      std::array<std::vector<double>, 2> costs;
      std::vector<double> ratios;
      std::vector<double> faster;
      for (std::uint32_t round = 0; round < options.rounds; ++round) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
          REMORA_TRY_RESULT(result,
                            sides[i]->run(command, requests_of(options, keeping, command, pipeline),
                                          options.clients, pipeline));
          rates[i].push_back(result->per_second);
          costs[i].push_back(result->cpu_us);
        }
        ratios.push_back(costs[1].back() / costs[0].back());
        faster.push_back(rates[1].back() / rates[0].back());
      }
      std::printf(
          "%-6s  %-3s  -P %-2u  redis %8.0f/s %6.2f us   remora %8.0f/s %6.2f us   rate x %s   "
          "CPU x %s\n",
          keeping.c_str(), command.c_str(), pipeline, spread_of(rates[0]).median,
          spread_of(costs[0]).median, spread_of(rates[1]).median, spread_of(costs[1]).median,
          ratio_text(faster).c_str(), ratio_text(ratios).c_str());
      std::fflush(stdout);
    }
  }
  return {};
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("CPU time of one operation: Redis and the Redis front end of Remora", "resp");
  app.add_option("--requests", options.requests, "of each run; 0: as many as are enough");
  app.add_option("--clients", options.clients, "connections");
  app.add_option("--rounds", options.rounds, "of which the middle one is shown");
  app.add_option("--pipeline", options.pipelines, "requests in flight on a connection")
      ->delimiter(',');
  app.add_option("--commands", options.commands,
                 "of redis-benchmark, and multi: MULTI, eight SETs, EXEC")
      ->delimiter(',');
  app.add_option("--keeping", options.keepings,
                 "none: memory; soon: everysec and asynchronous; always: before the reply")
      ->delimiter(',')
      ->check(CLI::IsMember({"none", "soon", "always"}));
  app.add_option("--folder", options.folder, "for their files; on the disk that is to be measured");
  app.add_flag("--apart", options.apart,
               "server and redis-benchmark on a core each, so that both servers have the same");
  CLI11_PARSE(app, argc, argv);
  std::string folder = options.folder + "/resp-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "resp: cannot make a folder in %s\n", options.folder.c_str());
    return 1;
  }
  Status status;
  for (const std::string& keeping : options.keepings) {
    status = compare(options, keeping, folder + "/" + keeping);
    if (!status.ok()) {
      std::fprintf(stderr, "resp: %s\n", std::string(status.message()).c_str());
      break;
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace remora::bench

int main(int argc, char** argv) {
  return remora::bench::run(argc, argv);
}
