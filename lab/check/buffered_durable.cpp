#include "lab/check/buffered_durable.h"

namespace remora {

Verdict buffered_durable(const History& history, std::uint64_t budget_states) {
  return linearizable(history, CutRule::may_roll_back, "buffered_durable", budget_states);
}

}  // namespace remora
