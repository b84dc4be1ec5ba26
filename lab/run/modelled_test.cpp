#include "lab/run/modelled.h"

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
  options.steady.limit = 0;  // whether it stands still matters to few of the tests
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

// --- Cores ---

// Gets that the server answers, with the clients that keep its cores busy.
ModelledOptions busy_options(std::string_view engine, std::string_view workload) {
  ModelledOptions options = options_of(engine, workload);
  options.plan.clients = 32;
  options.plan.operations = 1600;
  options.steady = {.window = 512, .limit = 20'000};
  return options;
}

TEST(Modelled, twice_the_request_cores_double_what_they_bound) {
  ModelledOptions options = busy_options("rpc", "c");
  for (const Spread spread : {Spread::by_client, Spread::any}) {
    options.cores = {.request = 2, .background = 1, .spread = spread};
    const ModelledReport two = run(options);
    EXPECT_TRUE(two.steady);
    EXPECT_GT(two.server_core_load, 0.95) << to_text(options.cores);
    options.cores.request = 4;
    const ModelledReport four = run(options);
    EXPECT_NEAR(four.ops_per_s / two.ops_per_s, 2, 0.1) << to_text(options.cores);
  }
}

TEST(Modelled, request_cores_do_nothing_for_gets_that_read_by_themselves) {
  ModelledOptions options = busy_options("imm", "c");
  const double one = run(options).ops_per_s;
  options.cores.request = 8;
  EXPECT_NEAR(run(options).ops_per_s / one, 1, 0.01);
}

// A dispatcher has to touch every request, and is the limit in the end.
TEST(Modelled, a_dispatcher_bounds_what_its_workers_can_do) {
  ModelledOptions options = busy_options("rpc", "c");
  options.plan.clients = 64;
  options.plan.operations = 3200;
  options.cores = {.request = 16, .background = 1, .spread = Spread::any};
  const double together = run(options).ops_per_s;
  options.cores.spread = Spread::dispatched;
  EXPECT_LT(run(options).ops_per_s, 0.9 * together);
}

// What waits for a core is taken with one poll. Where nothing waits there is nothing to gain.
TEST(Modelled, batches_save_polls_where_requests_wait) {
  ModelledOptions options = busy_options("ca", "update-only");
  const double by_one = run(options).ops_per_s;
  options.server.batch = 32;
  const double by_many = run(options).ops_per_s;
  EXPECT_GT(by_many, 1.03 * by_one);
  options.cores.request = 32;
  const double unhurried = run(options).ops_per_s;
  options.server.batch = 1;
  EXPECT_NEAR(run(options).ops_per_s / unhurried, 1, 0.01);
}

// A version is incomplete until its value comes, however many requests wait for the core.
TEST(Modelled, a_request_takes_effect_when_a_core_takes_it) {
  ModelledOptions options = busy_options("forca", "a");
  options.plan.values = workload::ValueSizes(4096);
  options.check_values = true;
  const ModelledReport report = run(options);
  EXPECT_EQ(report.all.failures, 0u) << report.first_failure.message();
  // A get costs a checksum, and so does the put of each value at its client: an incomplete version
  // would cost a second one.
  const double checksum_ns = 4 * 1100;
  const double gets = static_cast<double>(report.of(Kind::read).count);
  EXPECT_LT(static_cast<double>(report.server_cpu.crc_ns), 1.1 * gets * checksum_ns);
}

TEST(Modelled, background_work_competes_where_it_has_no_core_of_its_own) {
  ModelledOptions options = busy_options("efactory", "update-only");
  options.server.awaited_versions = 512;
  const double with_its_own = run(options).ops_per_s;
  options.cores.background = 0;
  EXPECT_LT(run(options).ops_per_s, 0.95 * with_its_own);
}

// --- Steady state ---

TEST(Modelled, what_piles_up_work_is_a_burst_until_its_bound_is_reached) {
  ModelledOptions options = busy_options("efactory", "update-only");
  options.plan.values = workload::ValueSizes(4096);
  options.cores.request = 8;
  options.steady.limit = 3'000;
  const ModelledReport burst = run(options);
  EXPECT_FALSE(burst.steady);
  EXPECT_LT(burst.persistent_share, 0.6);
  options.steady.limit = 50'000;
  options.server.awaited_versions = 1024;
  const ModelledReport steady = run(options);
  EXPECT_TRUE(steady.steady);
  EXPECT_LT(steady.ops_per_s, 0.6 * burst.ops_per_s);
  EXPECT_GT(steady.persistent_share, burst.persistent_share);
  options.server.awaited_versions = 2048;
  EXPECT_NEAR(run(options).ops_per_s / steady.ops_per_s, 1, 0.1) << "whatever the bound";
}

TEST(Modelled, tells_what_share_of_the_puts_is_persistent) {
  EXPECT_EQ(run(options_of("imm", "update-only")).persistent_share, 1);
  EXPECT_EQ(run(options_of("erda", "update-only")).persistent_share, 0);
  EXPECT_GT(run(options_of("efactory", "b")).persistent_share, 0.5);
}

TEST(Modelled, a_rate_and_a_latency_that_contradict_each_other_fail_the_run) {
  ClosedLoop loop{.in_flight = 8, .span_ns = 1000, .ended_ns = 8000};
  EXPECT_TRUE(check_littles_law(loop).ok());
  loop.in_flight = 9;
  EXPECT_EQ(check_littles_law(loop).code(), Code::damaged);
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
  options.cores.request = 0;
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
