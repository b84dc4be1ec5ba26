#include "lab/subjects/stores/hard_plan.h"

#include "base/random.h"

namespace remora::lab {
namespace {

void enlarge(StorePlan& plan, Random& random) {
  plan.pool_bytes = 1 << 20;
  plan.keys = static_cast<std::uint32_t>(random.between(1, 4));
  plan.smallest_large_bytes = 16 << 10;
  plan.large_value_bytes = 60 << 10;
  plan.large_percent = static_cast<std::uint32_t>(random.between(30, 70));
  plan.client.buffer_bytes = 512 << 10;
  plan.server.cleaning = random.chance(1, 3)   ? kv::Cleaning::whole
                         : random.chance(1, 2) ? kv::Cleaning::parts
                                               : kv::Cleaning::cheapest;
  plan.server.clean_at_percent = random.chance(1, 2) ? 15 : 60;
  plan.longest_work_ns = 40'000'000;
  // A large value takes its time on the wire, and longer than that on a bad one.
  plan.server.connect.timeout_ns = plan.client.connect.timeout_ns = 150'000;
  plan.server.client_timeout_ns = 2'000'000;
  plan.client.timeout_ns = 6'000'000;
  plan.server.put_timeout_ns = random.chance(1, 2) ? random.between(15'000, 60'000) : 10'000'000;
  plan.server.segment_bytes = 32 << 10;  // as by the size of the pool; many values are larger
}

void date(StorePlan& plan, Random& random) {
  plan.timed_keys = static_cast<std::uint32_t>(random.between(1, 4));
  plan.longest_pause_ns = random.between(500'000, 3'000'000);
  plan.longest_work_ns = 300'000'000;
  plan.trouble_every_ns *= 30;
}

void share_tags(StorePlan& plan, Random& random) {
  plan.server.tag_bits = static_cast<std::uint16_t>(random.between(4, 6));
  plan.keys = std::max(plan.keys, static_cast<std::uint32_t>(random.between(6, 24)));
  plan.server.expected_keys = random.chance(1, 2) ? 1 : 8;
}

void cut_cleanings(StorePlan& plan, Random& random) {
  plan.cuts_in_cleaning = 10;
  plan.keys = std::min(plan.keys, 6u);
  plan.operations = std::max<std::uint64_t>(plan.operations, 250);
  plan.put_percent = 75;
  plan.del_percent = random.chance(1, 2) ? 0 : 10;
  plan.server.clean_at_percent = random.chance(1, 2) ? 5 : 15;
  plan.longest_work_ns = std::max<std::uint64_t>(plan.longest_work_ns, 40'000'000);
  plan.cuts = plan.probes = 0;
}

void make_tides(StorePlan& plan, Random& random) {
  plan.keys = static_cast<std::uint32_t>(random.between(26, 40));
  plan.tide_operations = 3 * plan.keys;
  plan.server.expected_keys = 1;
  plan.operations = 5 * plan.tide_operations;
  plan.put_percent = 90;
  plan.large_percent = 0;
  plan.longest_work_ns = std::max<std::uint64_t>(plan.longest_work_ns, 40'000'000);
}

}  // namespace

bool has_hard_life(const kv::Engine& engine, std::uint64_t seed) {
  return is_of_the_product(engine) && seed % one_in_is_hard == 0;
}

void harden(StorePlan& plan, std::uint64_t seed) {
  Random random(mix(seed ^ 0x68617264656e6564));
  plan.is_hard = true;
  plan.hard_seed = random.next();
  plan.scan_percent = 10;
  if (random.chance(1, 2)) {
    share_tags(plan, random);
  }
  if (random.chance(1, 3)) {
    enlarge(plan, random);
  }
  if (random.chance(1, 3)) {
    cut_cleanings(plan, random);
  }
  if (random.chance(1, 3)) {
    date(plan, random);
  }
  if (random.chance(1, 2)) {
    plan.worker_ns = random.between(1'000, 20'000);
  }
  if (plan.cuts_in_cleaning == 0 && random.chance(1, 2)) {
    plan.kills = static_cast<std::uint32_t>(random.between(1, 3));
  }
  if (plan.cuts_in_cleaning == 0 && plan.smallest_large_bytes == 0 && random.chance(1, 3)) {
    make_tides(plan, random);
  }
  if (plan.timed_keys == 0 && random.chance(1, 2)) {
    plan.changes_here = true;
    plan.clear_percent = static_cast<std::uint32_t>(random.between(3, 15));
  }
}

}  // namespace remora::lab
