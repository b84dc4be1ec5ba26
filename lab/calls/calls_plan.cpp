#include "lab/calls/calls_plan.h"

namespace remora::lab {

CallsPlan draw_calls_plan(const CrashRun& run, bool receiver_flushes, Random& random) {
  CallsPlan plan;
  const Granularity drawn = random.chance(1, 3) ? Granularity::page : Granularity::cache_line;
  plan.platform = {.domain = run.settings.domain,
                   .ddio = run.settings.ddio,
                   .flush = run.settings.flush,
                   .ascending = random.chance(3, 4),
                   .granularity = run.settings.granularity.value_or(drawn)};
  plan.faults = run.faults;
  plan.receiver_flushes = receiver_flushes;
  plan.callers = static_cast<std::uint32_t>(random.between(1, 3));
  plan.streams = static_cast<std::uint32_t>(random.between(1, 3));
  plan.keys = static_cast<std::uint32_t>(random.between(1, 4));
  plan.operations = random.between(12, 70);
  plan.most_together = static_cast<std::uint32_t>(random.between(1, 5));
  plan.large_bytes = random.chance(1, 2) ? 900 : 200;
  plan.longest_pause_ns = random.chance(1, 2) ? 0 : 10'000;
  plan.longest_work_ns = random.chance(1, 3) ? 0 : random.between(500, 15'000);
  plan.waits_for_results = random.chance(1, 6);
  plan.form = random.chance(1, 2) ? rpc::calls::Form::ordered : rpc::calls::Form::checksum;
  plan.ring_bytes = random.chance(1, 3) ? 8192 : 4096;
  constexpr std::uint32_t windows[] = {4, 8, 32};
  plan.window = windows[random.below(3)];
  plan.dma_passes_caches = !plan.platform.ddio && random.chance(1, 2);
  // There a FLUSH is the work of a CPU, and WRITEs are its stores, whatever NICs do.
  plan.on_one_host = random.chance(1, 4);
  plan.actor.stops_one_in = random.chance(1, 2) ? 16 : 64;
  if (random.chance(2, 3)) {
    plan.trouble_every_ns = random.between(40'000, 200'000);
    plan.longest_trouble_ns = random.between(20'000, 200'000);
    plan.bad_network = {.loss_ppm = random.chance(1, 2) ? 20'000u : 0u,
                        .duplicate_ppm = random.chance(1, 3) ? 10'000u : 0u,
                        .reorder_ppm = random.chance(1, 3) ? 20'000u : 0u,
                        .spike_ppm = random.chance(1, 2) ? 40'000u : 0u,
                        .reorder_ns = 5'000,
                        .spike_ns = random.between(10'000, 100'000)};
  }
  plan.cuts = static_cast<std::uint32_t>(random.below(4));
  plan.probes = static_cast<std::uint32_t>(random.between(1, 5));
  // Processes of one machine would be killed together.
  plan.kills = !plan.on_one_host && random.chance(1, 3) ? 1 : 0;
  plan.cut_one_in = plan.operations * 12;
  plan.probe_one_in = plan.operations * 6;
  return plan;
}

}  // namespace remora::lab
