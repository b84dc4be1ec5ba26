// some_order_explains, on purpose unlike the search: whole orders, one after the other.
#include <algorithm>

#include "lab/check/random_history.h"

namespace remora {
namespace {

class EveryOrder {
 public:
  EveryOrder(const History& history, CutRule rule)
      : history_(history), rule_(rule), placed_(history.operations().size(), false) {}

  bool explains() { return place_next(0, 0, 0, {}); }

 private:
  static std::uint64_t value_after(const Operation& write) {
    return write.kind == OperationKind::put ? write.written.id : 0;
  }

  bool must_be_placed(const Operation& operation) const {
    return operation.acknowledged() || operation.outcome == Outcome::value ||
           operation.outcome == Outcome::not_found;
  }

  bool may_be_lost(const Operation& write, Position cut) const {
    const bool answered = write.acknowledged() && write.responded < cut;
    if (write.persisted < cut || (answered && write.persisted != never)) {
      return false;
    }
    return answered || rule_ == CutRule::may_roll_back;
  }

  // `base` is what the last cut left, `writes` what was placed since, `now` the latest invocation
  // or cut among what was placed.
  bool place_next(std::size_t cuts, Position now, std::uint64_t base,
                  const std::vector<OperationIndex>& writes) {
    if (cuts == history_.cuts().size() && everything_placed()) {
      return true;
    }
    if (cuts < history_.cuts().size() && place_cut(cuts, now, base, writes)) {
      return true;
    }
    for (OperationIndex i = 0; i < placed_.size(); ++i) {
      if (may_come_next(i, cuts, now) && place_operation(i, cuts, now, base, writes)) {
        return true;
      }
    }
    return false;
  }

  bool everything_placed() const {
    for (OperationIndex i = 0; i < placed_.size(); ++i) {
      if (must_be_placed(history_[i]) && !placed_[i]) {
        return false;
      }
    }
    return true;
  }

  bool may_come_next(OperationIndex i, std::size_t cuts, Position now) const {
    const Operation& operation = history_[i];
    const bool after_the_next_cut =
        cuts < history_.cuts().size() && operation.invoked > history_.cuts()[cuts].at;
    return !placed_[i] && operation.closed > now && !after_the_next_cut &&
           operation.may_have_happened() && (operation.is_write() || must_be_placed(operation));
  }

  bool place_operation(OperationIndex i, std::size_t cuts, Position now, std::uint64_t base,
                       const std::vector<OperationIndex>& writes) {
    const Operation& operation = history_[i];
    std::vector<OperationIndex> longer = writes;
    if (operation.is_write()) {
      longer.push_back(i);
    } else {
      const std::uint64_t held = writes.empty() ? base : value_after(history_[writes.back()]);
      const std::uint64_t read =
          operation.outcome == Outcome::not_found ? 0 : operation.read.value.id;
      if (held != read) {
        return false;
      }
    }
    placed_[i] = true;
    const bool found = place_next(cuts, std::max(now, operation.invoked), base, longer);
    placed_[i] = false;
    return found;
  }

  // Tries every number of latest writes that the cut may take.
  bool place_cut(std::size_t cuts, Position now, std::uint64_t base,
                 const std::vector<OperationIndex>& writes) {
    const Position at = history_.cuts()[cuts].at;
    const std::vector<bool> before = placed_;
    bool found = false;
    for (std::size_t kept = writes.size();; --kept) {
      const std::uint64_t left = kept == 0 ? base : value_after(history_[writes[kept - 1]]);
      if (place_next(cuts + 1, std::max(now, at), left, {})) {
        found = true;
        break;
      }
      if (kept == 0 || !may_be_lost(history_[writes[kept - 1]], at)) {
        break;
      }
      if (history_[writes[kept - 1]].closed > at) {
        placed_[writes[kept - 1]] = false;
      }
    }
    placed_ = before;
    return found;
  }

  const History& history_;
  CutRule rule_;
  std::vector<bool> placed_;
};

}  // namespace

bool some_order_explains(const History& history, CutRule rule) {
  return EveryOrder(history, rule).explains();
}

}  // namespace remora
