#include "lab/subjects/stores/plan.h"

#include "lab/subjects/stores/hard_plan.h"

namespace remora::lab {
namespace {

// What the CPUs of a run cost: nothing, so that all is done at once, or what a profile says, so
// that background work takes its time and others come in between.
HostCosts draw_costs(Random& random) {
  if (random.chance(1, 3)) {
    return {};
  }
  static const fabric::nic::sim::CpuProfile cpu =
      fabric::nic::sim::load_cpu_profile("xeon").value();
  const std::uint64_t slower = random.between(1, 2);
  return {.crc_ns_per_kb = cpu.crc_ns_per_kb * slower,
          .copy_ns_per_kb = cpu.copy_ns_per_kb * slower,
          .request_ns = cpu.request_ns,
          .post_ns = cpu.post_ns,
          .poll_ns = cpu.poll_ns,
          .allocate_ns = cpu.allocate_ns,
          .index_ns = cpu.index_ns * slower,
          .flush_line_ns = 0,  // lines are counted by address
          .fence_ns = 100};
}

Platform draw_platform(const CrashSettings& settings, Random& random) {
  const Granularity drawn = random.chance(1, 4) ? Granularity::page : Granularity::cache_line;
  Platform platform;
  platform.domain = settings.domain;
  platform.ddio = settings.ddio;
  platform.flush = settings.flush;
  platform.granularity = settings.granularity.value_or(drawn);
  return platform;
}

void draw_keys(StorePlan& plan, Random& random) {
  const bool many = random.chance(1, 8);
  plan.keys = static_cast<std::uint32_t>(many ? random.between(20, 36) : random.between(1, 5));
  plan.server.expected_keys = many ? 1 : 8;
  plan.operations = random.between(40, 160);
  plan.put_percent = static_cast<std::uint32_t>(random.between(30, 70));
  plan.del_percent = random.chance(1, 2) ? 0 : static_cast<std::uint32_t>(random.between(2, 15));
  plan.persistent_percent = random.chance(1, 4) ? 0 : 25;
  plan.usual_value_bytes = random.chance(1, 3) ? 200 : 1'500;
  plan.large_value_bytes = random.chance(1, 3) ? 12'000 : 4'000;
  plan.large_percent = static_cast<std::uint32_t>(random.below(50));
}

// Large values of few keys, one after another: the log is cleaned all the time, and what was freed
// is used again while somebody READs, which takes long.
void churn(StorePlan& plan, Random& random) {
  plan.keys = static_cast<std::uint32_t>(random.between(1, 3));
  plan.operations = random.between(150, 300);
  plan.longest_read_ns = 60'000;
  plan.large_value_bytes = 6'000;
  plan.large_percent = 90;
  plan.server.clean_at_percent = 5;
  plan.clients = 3;
  plan.streams = 2;
  plan.client.in_flight = 3;
  plan.longest_pause_ns = 1'000;
  plan.trouble_every_ns = random.chance(1, 2) ? 0 : 200'000;
  plan.longest_trouble_ns = 150'000;
  // Nobody is taken for dead because its READs wait for each other.
  plan.server.connect.timeout_ns = plan.client.connect.timeout_ns = 150'000;
  plan.server.client_timeout_ns = 2'000'000;
  plan.client.timeout_ns = 4'000'000;
}

void draw_patience(StorePlan& plan, Random& random) {
  const bool impatient = random.chance(1, 3);
  plan.server.put_timeout_ns = impatient ? random.between(20'000, 60'000) : 10'000'000;
  plan.server.client_timeout_ns = impatient ? 300'000 : 1'000'000;
  plan.client.timeout_ns = impatient ? 1'500'000 : 3'000'000;
  const fabric::ConnectOptions connect = {
      .timeout_ns = 30'000, .retry_count = 7, .rnr_delay_ns = 10'000};
  plan.server.connect = connect;
  plan.client.connect = connect;
}

void draw_troubles(StorePlan& plan, Random& random) {
  if (random.chance(1, 3)) {
    return;
  }
  plan.trouble_every_ns = random.between(60'000, 300'000);
  plan.longest_trouble_ns = random.chance(1, 4) ? 400'000 : 200'000;
  plan.bad_network = {.loss_ppm = random.chance(1, 2) ? 10'000u : 0u,
                      .duplicate_ppm = random.chance(1, 3) ? 10'000u : 0u,
                      .reorder_ppm = random.chance(1, 3) ? 20'000u : 0u,
                      .spike_ppm = random.chance(2, 3) ? 40'000u : 0u,
                      .reorder_ns = 5'000,
                      .spike_ns = random.between(10'000, 200'000)};
  plan.bad_from_start = random.chance(1, 4);
}

void write_together(StorePlan& plan, std::uint64_t seed) {
  Random random(mix(seed ^ 0x746f676574686572));
  plan.together_percent = static_cast<std::uint32_t>(random.between(15, 50));
  plan.together_keys = static_cast<std::uint32_t>(random.chance(1, 4) ? 12 : 4);
  plan.keys = std::max(plan.keys, static_cast<std::uint32_t>(random.between(2, 6)));
  plan.changes_here = plan.changes_here || random.chance(1, 2);
}

void grow(StorePlan& plan, std::uint64_t seed) {
  Random random(mix(seed ^ 0x67726f77696e6721));
  const bool is_probed = seed / one_in_grows % one_growth_is_probed == 0;
  plan.grown_bytes = plan.pool_bytes + (random.chance(1, 2) ? plan.pool_bytes : 96 << 10);
  plan.longest_before_growth_ns = random.chance(1, 2) ? 60'000 : 400'000;
  plan.cut_growth_one_in = random.chance(1, 2) ? 12 : 40;
  plan.probe_growth_one_in = is_probed ? 1 : 15;
  plan.cuts = is_probed ? 0 : plan.cuts + 2;
  plan.kills = !is_probed && random.chance(1, 2) ? 1 : 0;
}

}  // namespace

bool is_of_the_product(const kv::Engine& engine) {
  return !engine.descriptor().is_rival;
}

StorePlan draw_plan(const kv::Engine& engine, const CrashRun& run, Random& random) {
  StorePlan plan;
  plan.engine = &engine;
  plan.platform = draw_platform(run.settings, random);
  plan.faults = run.faults;
  plan.pool_bytes = 256 << 10;
  plan.costs = draw_costs(random);
  plan.server.most_clients = 16;
  constexpr std::uint32_t percents[] = {5, 15, 60};
  plan.server.clean_at_percent = percents[random.below(3)];
  plan.clients = static_cast<std::uint32_t>(random.between(1, 3));
  plan.streams = static_cast<std::uint32_t>(random.between(1, 2));
  plan.client.in_flight = plan.streams + 1;
  plan.client.buffer_bytes = 64 << 10;
  plan.longest_pause_ns = random.chance(1, 2) ? 1'000 : 20'000;
  draw_keys(plan, random);
  draw_patience(plan, random);
  draw_troubles(plan, random);
  if (random.chance(1, 6)) {
    churn(plan, random);
  }
  plan.cuts = static_cast<std::uint32_t>(random.below(4));
  plan.probes = static_cast<std::uint32_t>(random.below(4));
  plan.cut_one_in = plan.operations * 5;
  plan.probe_one_in = plan.operations * 4;
  plan.changes_here = random.chance(1, 3);
  plan.server.local_commit_ns = random.below(100'000);
  // Now and then as if room were short. What is hard there is that deletions hide what is
  // elsewhere.
  plan.server.cleaning = plan.server.local_commit_ns % 3 == 1   ? kv::Cleaning::parts
                         : plan.server.local_commit_ns % 6 == 2 ? kv::Cleaning::cheapest
                                                                : kv::Cleaning::whole;
  if (plan.server.cleaning == kv::Cleaning::parts) {
    plan.put_percent = std::min(plan.put_percent, 50u);
    plan.del_percent = 25;
  }
  // Now and then small values travel within requests, as on wires where messages cost most.
  plan.client.whole_value_bytes = plan.server.local_commit_ns % 4 == 0 ? 600 : 0;
  plan.client.whole_gets = plan.server.local_commit_ns % 8 == 0;
  // In half of the runs marks move often. Each asks for a commit on page media, which may hide what
  // else was to wait for one.
  if (plan.server.local_commit_ns % 2 == 0) {
    plan.server.mark_every_ns = 1'000 + plan.server.local_commit_ns % 15'000;
  }
  if (has_hard_life(engine, run.seed)) {
    harden(plan, run.seed);
  }
  if (is_of_the_product(engine) && run.seed % one_in_writes_together == 1) {
    write_together(plan, run.seed);
  }
  if (is_of_the_product(engine) && run.seed % one_in_grows == one_in_grows - 1) {
    grow(plan, run.seed);
  }
  return plan;
}

std::string key_text(std::uint32_t number) {
  const std::string name = "key-" + std::to_string(number);
  return number % 5 == 4 ? name + std::string(150, '.') : name;
}

const fabric::nic::sim::NicProfile& nic_of_the_crash_world() {
  static const fabric::nic::sim::NicProfile profile = [] {
    fabric::nic::sim::NicProfile nic = fabric::nic::sim::load_nic_profile("connectx-5").value();
    nic.translation_miss_ns = 0;  // which page a buffer crosses is not the seed's choice
    nic.translation_miss_latency_ns = 0;
    return nic;
  }();
  return profile;
}

const fabric::nic::sim::MemoryProfile& memory_of_the_crash_world() {
  static const fabric::nic::sim::MemoryProfile profile =
      fabric::nic::sim::load_memory_profile("optane").value();
  return profile;
}

}  // namespace remora::lab
