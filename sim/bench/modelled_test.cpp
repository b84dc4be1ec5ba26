#include "sim/bench/modelled.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace remora::store_bench {
namespace {

using workload::Kind;

ModelledOptions options_of(std::string_view engine, std::string_view workload) {
  ModelledOptions options;
  options.engine = engine;
  options.plan.workload = workload::parse_workload(workload).value();
  options.plan.values = workload::ValueSizes(100);
  options.plan.records = 200;
  options.plan.operations = 400;
  options.plan.warm_up = 40;
  options.plan.clients = 3;
  // A get of ca may find a value that has not come yet: that is the point of it.
  options.check_values = engine != "ca";
  return options;
}

ModelledReport run(const ModelledOptions& options) {
  Result<ModelledReport> report = run_modelled(options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? std::move(report).value() : ModelledReport();
}

// Of all of the log, or of a part.
std::uint64_t cleanings_of(const ModelledReport& report) {
  std::uint64_t cleanings = 0;
  for (const auto& [name, value] : report.counters) {
    cleanings += name == "cleanings" || name == "cleaned_parts" ? value : 0;
  }
  return cleanings;
}

// Every engine with every workload that has a name.
class EveryEngine : public testing::TestWithParam<const kv::Engine*> {};
INSTANTIATE_TEST_SUITE_P(engines, EveryEngine, testing::ValuesIn(kv::engines()),
                         [](const testing::TestParamInfo<const kv::Engine*>& param) {
                           std::string name(param.param->name());
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryEngine, runs_every_workload) {
  for (const workload::Description& known : workload::known_workloads()) {
    const ModelledReport report = run(options_of(GetParam()->name(), known.name));
    EXPECT_EQ(report.all.count, 400u) << known.name;
    EXPECT_EQ(report.all.failures, 0u) << known.name << ": " << report.first_failure.message();
    EXPECT_EQ(report.all.missing, 0u) << known.name;
    EXPECT_GT(report.ops_per_s, 0) << known.name;
    EXPECT_GT(report.all.mean_ns, 0) << known.name;
  }
}

TEST_P(EveryEngine, deletes) {
  const ModelledReport report = run(options_of(GetParam()->name(), "read:50,update:30,delete:20"));
  EXPECT_EQ(report.all.failures, 0u) << report.first_failure.message();
  EXPECT_GT(report.of(Kind::read).missing, 0u);
}

TEST_P(EveryEngine, replays_exactly_by_seed) {
  ModelledOptions options = options_of(GetParam()->name(), "a");
  const ModelledReport first = run(options);
  const ModelledReport second = run(options);
  EXPECT_EQ(first.trace_hash, second.trace_hash);
  EXPECT_EQ(first.events, second.events);
  EXPECT_EQ(first.span_ns, second.span_ns);
  EXPECT_EQ(first.all.mean_ns, second.all.mean_ns);
  EXPECT_EQ(first.counters, second.counters);
  options.plan.seed = 2;
  EXPECT_NE(run(options).trace_hash, first.trace_hash);
}

TEST_P(EveryEngine, takes_more_operations_in_flight) {
  ModelledOptions options = options_of(GetParam()->name(), "b");
  const double alone = run(options).ops_per_s;
  options.depth = 4;
  EXPECT_GT(run(options).ops_per_s, alone);
}

TEST(Modelled, large_values_take_longer) {
  ModelledOptions options = options_of("efactory", "update-only");
  const double small_ns = run(options).all.mean_ns;
  options.plan.values = workload::ValueSizes(4096);
  const ModelledReport large = run(options);
  EXPECT_GT(large.all.mean_ns, small_ns);
  EXPECT_GT(large.server_cpu.crc_ns + large.client_cpu.crc_ns, 0u);
  EXPECT_GT(large.server_core_load, 0);
  EXPECT_LE(large.server_core_load, 1);
}

TEST(Modelled, cleans_when_the_pool_is_small) {
  ModelledOptions options = options_of("efactory", "update-only");
  options.plan.operations = 20'000;
  options.pool_bytes = 1 << 20;
  const ModelledReport report = run(options);
  EXPECT_EQ(report.all.failures, 0u) << report.first_failure.message();
  EXPECT_GT(cleanings_of(report), 0u);
}

// However fast they come, puts have their share while the log is cleaned: each waits a little,
// where all would wait until the end.
TEST(Modelled, puts_do_not_all_wait_until_a_cleaning_ends) {
  ModelledOptions options = options_of("efactory", "update-only");
  options.pool_bytes = 32 << 20;
  options.plan.clients = 32;
  options.plan.records = 2000;
  options.plan.values = workload::ValueSizes(1024);
  options.plan.operations = 60'000;
  for (const kv::Cleaning cleaning : {kv::Cleaning::whole, kv::Cleaning::cheapest}) {
    options.server.cleaning = cleaning;
    const ModelledReport report = run(options);
    EXPECT_EQ(report.all.failures, 0u) << report.first_failure.message();
    EXPECT_GT(cleanings_of(report), 0u);
    EXPECT_LT(report.all.p999_ns, 100 * report.all.p50_ns);
  }
}

TEST(Modelled, tells_how_far_it_is) {
  ModelledOptions options = options_of("efactory", "c");
  std::uint64_t last = 0;
  options.progress = [&](std::uint64_t performed, std::uint64_t planned) {
    EXPECT_GE(performed, last);
    EXPECT_EQ(planned, 640u);
    last = performed;
  };
  run(options);
  EXPECT_EQ(last, 640u);
}

TEST(Modelled, refuses_what_makes_no_sense) {
  ModelledOptions options = options_of("efactory", "a");
  options.engine = "steam";
  EXPECT_EQ(run_modelled(options).code(), Code::invalid_argument);
  options = options_of("efactory", "a");
  options.depth = 0;
  EXPECT_EQ(run_modelled(options).code(), Code::invalid_argument);
  options = options_of("efactory", "a");
  options.plan.clients = 0;
  EXPECT_EQ(run_modelled(options).code(), Code::invalid_argument);
  options = options_of("efactory", "a");
  options.profile.nic = "abacus";
  EXPECT_FALSE(run_modelled(options).ok());
}

TEST(Modelled, a_pool_that_is_too_small_for_the_records_fails_the_run) {
  ModelledOptions options = options_of("efactory", "c");
  options.plan.records = 20'000;
  options.pool_bytes = 1 << 20;
  EXPECT_FALSE(run_modelled(options).ok());
}

}  // namespace
}  // namespace remora::store_bench
