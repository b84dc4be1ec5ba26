#include "lab/check/monotonic_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lab/check/reads.h"
#include "lab/check/version_order.h"

namespace remora {
namespace {

using Operations = std::vector<OperationIndex>;

bool has_writer(const History& history, OperationIndex get, const Operations& operations) {
  return history[get].outcome == Outcome::not_found ||
         std::any_of(operations.begin(), operations.end(), [&](OperationIndex i) {
           return history[i].is_write() && could_have_left(history[i], history[get]);
         });
}

// The reads that the setting holds together. A get that was invoked before a cut and answered after
// it may have seen either side: with cuts between groups it belongs to none.
std::vector<Operations> groups_of(const History& history, const Operations& operations,
                                  const MonotonicReads& setting) {
  std::map<std::pair<ClientId, std::uint32_t>, Operations> groups;
  for (const OperationIndex i : operations) {
    const Operation& get = history[i];
    if (!tells_version(get) || !has_writer(history, i, operations)) {
      continue;
    }
    if (!setting.across_cuts && history.epoch_at(get.responded) != get.epoch) {
      continue;
    }
    groups[{setting.across_clients ? 0 : get.client, setting.across_cuts ? 0 : get.epoch}]
        .push_back(i);
  }
  std::vector<Operations> result;
  for (auto& [which, reads] : groups) {
    result.push_back(std::move(reads));
  }
  return result;
}

// Writes that can matter to the group: dels, and puts whose value it saw. A put that nobody saw
// orders nothing that the others' times do not order already.
Operations writes_for(const History& history, const Operations& operations,
                      const Operations& reads) {
  Operations writes;
  for (const OperationIndex i : operations) {
    const Operation& write = history[i];
    if (!write.is_write() || !write.may_have_happened()) {
      continue;
    }
    if (write.kind == OperationKind::del ||
        std::any_of(reads.begin(), reads.end(),
                    [&](OperationIndex read) { return could_have_left(write, history[read]); })) {
      writes.push_back(i);
    }
  }
  return writes;
}

Violation violation(const History& history, const char* what, Operations involved) {
  std::string text = what;
  for (const OperationIndex i : involved) {
    text += fmt::format("; {}", describe(history, i));
  }
  const std::string& key = history[involved.front()].key;
  return {"monotonic_reads", key, std::move(text), std::move(involved)};
}

}  // namespace

Verdict monotonic_reads(const History& history, const MonotonicReads& setting) {
  Verdict verdict;
  for (const auto& [key, operations] : history.by_key()) {
    for (const Operations& reads : groups_of(history, operations, setting)) {
      const VersionOrder order(history, writes_for(history, operations, reads), reads);
      if (auto cycle = order.cycle()) {
        verdict.violations.push_back(
            violation(history, "reads stepped back: these show each version older than itself",
                      *std::move(cycle)));
      } else if (auto pair = order.unexplained_absence()) {
        verdict.violations.push_back(violation(
            history, "reads stepped back: the key was there, and no del can have come after",
            *std::move(pair)));
      }
    }
  }
  return verdict;
}

}  // namespace remora
