// The search behind durably_linearizable and buffered_durable: is there an order of the operations
// of one key that a register would have answered in this way?
//
// After Wing & Gong and Lowe: events are replayed in order, and an operation takes effect only when
// it must, just before some operation ends. A state is the set of open operations that have taken
// effect, and the register; states met before are not visited again. Where nothing is open only the
// register remains, so quiet points split the history by themselves. Kept small by four facts:
//   - a get that returned what the register holds may as well take effect at once;
//   - a write that nobody read may as well take effect just before the next write;
//   - a write that nobody read and nobody was promised may as well not have happened;
//   - a put's value may be overwritten only when the gets that returned it have taken effect.
// A cut that rolls back is guessed: some value is marked as the one that survives; from then on to
// the cut only writes that the cut may lose take effect. A write that was lost while its client
// still waits may take effect again.
//
// Pure; bounded by the budget.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/check/register_log.h"

namespace remora {

struct SearchResult {
  enum class Answer : std::uint8_t {
    explained,   // there is such an order
    impossible,  // there is none
    out_of_budget,
  };
  Answer answer = Answer::explained;
  std::uint64_t states = 0;         // visited
  std::uint32_t stuck_event = 0;    // if impossible: the last event that could not be explained
  std::vector<RegisterValue> held;  // and what the register may have held then
};

struct SearchSetting {
  std::uint64_t budget_states = 0;
  // Uses the fourth fact. Without it the search is slower, and gets stuck where a person would.
  bool looks_ahead = true;
};

SearchResult search(const RegisterLog& log, const SearchSetting& setting);

}  // namespace remora
