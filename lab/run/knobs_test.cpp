// Turning a knob of the model moves what it should, and nothing else. Each test turns one, and
// looks at designs that it is for and at designs that it is not for.
#include <gtest/gtest.h>

#include <string>

#include "lab/run/modelled.h"

namespace remora::store_bench {
namespace {

// eFactory's machines, with a core for each client.
ModelledOptions knob_options(std::string_view engine, std::string_view workload,
                             std::uint32_t bytes) {
  ModelledOptions options;
  options.engine = engine;
  options.plan.workload = workload::parse_workload(workload).value();
  options.plan.values = workload::ValueSizes(bytes);
  options.plan.records = 200;
  options.plan.operations = 1600;
  options.plan.clients = 8;
  options.cores.request = 8;
  options.steady = {.window = 512, .limit = 20'000};
  options.server.awaited_versions = 256;
  options.profile = {.memory = "dram-clflush"};
  return options;
}

double rate(const ModelledOptions& options) {
  const Result<ModelledReport> report = run_modelled(options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? report->ops_per_s : 0;
}

// The rate with the number set so, over the rate without.
double moved(ModelledOptions options, const char* key, std::uint64_t value) {
  const double before = rate(options);
  options.numbers.emplace_back(key, value);
  return rate(options) / before;
}

// The latency of a put with the number set so, over the latency without.
double put_slowed(ModelledOptions options, const char* key, std::uint64_t value) {
  const auto latency_ns = [&] {
    const Result<ModelledReport> report = run_modelled(options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? report->of(workload::Kind::update).mean_ns : 0;
  };
  const double before_ns = latency_ns();
  options.numbers.emplace_back(key, value);
  return latency_ns() / before_ns;
}

// Forca as the papers describe it: the server verifies a version at every get.
std::string verifying_forca() {
  return kv::find_engine("forca-verify-always").ok() ? "forca-verify-always" : "forca";
}

// What is left then is a message in place of the first READ, and the core that answers it.
TEST(Knobs, without_the_cost_of_checksums_forca_is_as_fast_as_those_that_read_twice) {
  ModelledOptions forca = knob_options(verifying_forca(), "c", 4096);
  const ModelledOptions imm = knob_options("imm", "c", 4096);
  forca.numbers = {{"memory.flush_clean_line_ns", 1}};  // it also looks whether lines are clean
  const double read_twice = rate(imm);
  EXPECT_LT(rate(forca) / read_twice, 0.65);
  EXPECT_DOUBLE_EQ(moved(imm, "cpu.crc_ns_per_kb", 0), 1) << "their gets have no checksum";
  forca.numbers.emplace_back("cpu.crc_ns_per_kb", 0);
  EXPECT_NEAR(rate(forca) / read_twice, 1, 0.2);
}

TEST(Knobs, twice_the_cost_of_a_line_slows_those_who_wait_for_it) {
  for (const char* engine : {"imm", "saw", "rpc"}) {
    EXPECT_GT(put_slowed(knob_options(engine, "b", 4096), "memory.flush_line_ns", 114), 1.25)
        << engine;
  }
  for (const char* engine : {"ca", "erda", "efactory"}) {
    EXPECT_NEAR(put_slowed(knob_options(engine, "b", 4096), "memory.flush_line_ns", 114), 1, 0.04)
        << engine;
  }
}

TEST(Knobs, a_slow_medium_slows_those_who_wait_for_it_and_no_get) {
  for (const char* engine : {"imm", "saw"}) {
    EXPECT_LT(
        moved(knob_options(engine, "update-only", 4096), "memory.write_bytes_per_s", 2'000'000'000),
        0.6)
        << engine;
    EXPECT_NEAR(moved(knob_options(engine, "c", 4096), "memory.write_bytes_per_s", 2'000'000'000),
                1, 0.01)
        << engine;
  }
  EXPECT_NEAR(
      moved(knob_options("ca", "update-only", 4096), "memory.write_bytes_per_s", 2'000'000'000), 1,
      0.001)
      << "nobody waits for what it has written";
}

TEST(Knobs, ten_times_the_bandwidth_changes_nothing_for_small_values) {
  for (const char* engine : {"imm", "saw", "rpc", "erda", "forca", "efactory"}) {
    const ModelledOptions options = knob_options(engine, "a", 64);
    EXPECT_NEAR(moved(options, "nic.bandwidth_bits_per_s", 1'000'000'000'000), 1, 0.01) << engine;
    EXPECT_NEAR(moved(options, "memory.write_bytes_per_s", 800'000'000'000), 1, 0.01) << engine;
  }
}

// eFactory has them, and its rivals do not.
TEST(Knobs, without_multiple_receive_regions_goes_what_batching_gave) {
  const auto without = [](const char* engine, std::uint32_t cores) {
    ModelledOptions options = knob_options(engine, "update-only", 64);
    options.plan.clients = 32;
    options.cores.request = cores;
    const double with_them = rate(options);
    options.server.batch = 1;
    return rate(options) / with_them;
  };
  EXPECT_LT(without("efactory", 1), 0.97);
  EXPECT_NEAR(without("efactory", 32), 1, 0.005) << "nothing waits, and there is nothing to batch";
  EXPECT_DOUBLE_EQ(without("rpc", 1), 1);
}

// --- How processors are used ---

TEST(Knobs, a_server_that_sleeps_answers_late_where_it_has_little_to_do) {
  ModelledOptions options = knob_options("rpc", "c", 64);
  options.plan.clients = 1;
  const double spinning = rate(options);
  options.cores.use.sleeps = true;
  const double sleeping = rate(options);
  EXPECT_NEAR(1e9 / sleeping - 1e9 / spinning, 4000, 200) << "an interrupt for each request";
  ModelledOptions reads = knob_options("imm", "c", 64);
  const double before = rate(reads);
  reads.cores.use.sleeps = true;
  EXPECT_DOUBLE_EQ(rate(reads), before) << "its server has no part in gets";
}

TEST(Knobs, a_shared_core_gives_the_share_that_it_has) {
  ModelledOptions options = knob_options("rpc", "c", 64);
  options.plan.clients = 16;
  options.plan.operations = 8000;
  options.cores.request = 1;
  const double alone = rate(options);
  options.cores.use = {.share = 0.5, .slice_ns = 100'000};
  EXPECT_NEAR(rate(options) / alone, 0.5, 0.05);
}

TEST(Knobs, clients_on_one_machine_share_its_nic) {
  ModelledOptions options = knob_options("imm", "c", 64);
  options.plan.clients = 16;
  const double apart = rate(options);
  options.client_machines = 16;
  EXPECT_DOUBLE_EQ(rate(options), apart);
  options.numbers = {{"nic.work_request_ns", 400}};  // of which a get has two
  options.client_machines = 1;
  EXPECT_NEAR(rate(options), 1e9 / 800, 0.05 * 1e9 / 800);
  options.client_machines = 2;
  EXPECT_NEAR(rate(options), 2e9 / 800, 0.05 * 2e9 / 800);
}

// Each has cores of its own, and the NIC is one.
TEST(Knobs, servers_on_one_machine_share_its_nic) {
  ModelledOptions core_bound = knob_options("rpc", "c", 64);
  core_bound.plan.clients = 16;
  core_bound.cores.request = 1;
  core_bound.numbers = {{"cpu.request_ns", 2'000}};
  const double one = rate(core_bound);
  core_bound.servers = 2;
  EXPECT_NEAR(rate(core_bound) / one, 2, 0.1);

  ModelledOptions wire_bound = knob_options("imm", "c", 4096);
  wire_bound.plan.clients = 16;
  wire_bound.numbers = {{"nic.bandwidth_bits_per_s", 8'000'000'000}};
  const double narrow = rate(wire_bound);
  wire_bound.servers = 4;
  EXPECT_NEAR(rate(wire_bound) / narrow, 1, 0.05);
}

TEST(Knobs, a_server_without_a_client_is_refused) {
  ModelledOptions options = knob_options("imm", "c", 64);
  for (const std::uint32_t servers : {0u, options.plan.clients + 1}) {
    options.servers = servers;
    EXPECT_EQ(run_modelled(options).code(), Code::invalid_argument);
  }
}

}  // namespace
}  // namespace remora::store_bench
