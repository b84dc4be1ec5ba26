#include "tests/lives/load_plan.h"

#include "tests/lives/area.h"

namespace remora::fabric::lives {
namespace {

// Small numbers as often as large ones.
std::uint64_t any_scale(Random& random, std::uint64_t most) {
  std::uint64_t scale = 1;
  while (scale < most && random.chance(7, 8)) {
    scale *= 2;
  }
  return random.below(std::min(scale, most) + 1);
}

}  // namespace

LoadPlan LoadPlan::draw(Random& random) {
  LoadPlan plan{.seed = random.next()};
  for (std::uint32_t& weight : plan.weights) {
    weight = static_cast<std::uint32_t>(random.below(5));
  }
  if (random.chance(1, 2)) {  // one-sided: the target's program has no part in it
    for (const Kind kind : {Kind::write_imm, Kind::send, Kind::send_imm}) {
      plan.weights[static_cast<std::size_t>(kind)] = 0;
    }
  }
  ++plan.weights[static_cast<std::size_t>(Kind::write)];
  plan.depth = static_cast<std::uint32_t>(random.between(1, slots));
  constexpr std::uint32_t scales[] = {8, 64, 1000, 5000, 17'000, transfer_bytes_max};
  plan.bytes_max = scales[random.below(std::size(scales))];
  plan.in_lines = random.chance(1, 2);
  plan.silent_percent = static_cast<std::uint32_t>(random.below(3) * 30);
  return plan;
}

Blow Blow::draw(Random& random, int signal) {
  Blow blow{.signal = signal};
  if (random.chance(1, 2)) {
    blow.own_requests = 1 + any_scale(random, 600);
    blow.inside = random.chance(1, 3);
  } else {
    blow.completions = any_scale(random, 200);
    blow.span_ns = any_scale(random, 300'000);
  }
  return blow;
}

}  // namespace remora::fabric::lives
