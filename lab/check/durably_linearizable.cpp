#include "lab/check/durably_linearizable.h"

namespace remora {

Verdict durably_linearizable(const History& history, std::uint64_t budget_states) {
  return linearizable(history, CutRule::keeps_all, "durably_linearizable", budget_states);
}

}  // namespace remora
