#include "lab/check/scans.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/check/reads.h"

namespace remora {
namespace {

// That a key was there, or was not.
struct Observation {
  Position begin = 0;
  Position end = 0;
  Position persistent_from = never;  // from then on no cut takes it
  bool there = false;
  bool is_scan = false;
  bool is_write = false;
  std::string text;
};

Observation of_operation(const History& history, OperationIndex index) {
  const Operation& operation = history[index];
  return {operation.invoked,
          operation.responded,
          operation.persisted,
          operation.outcome == Outcome::value || operation.kind == OperationKind::put,
          false,
          operation.is_write(),
          describe(history, index)};
}

Observation of_scan(const Scan& scan, const std::string& key) {
  const bool listed = std::ranges::find(scan.keys, key) != scan.keys.end();
  return {scan.invoked,
          scan.responded,
          never,
          listed,
          true,
          false,
          fmt::format("a scan by client {}, {}..{} ns, {}", scan.client, scan.invoke_ns,
                      scan.response_ns, listed ? "listed it" : "did not list it")};
}

// In the order of their ends.
std::vector<Observation> observations(const History& history, const std::string& key,
                                      const std::vector<OperationIndex>& operations) {
  std::vector<Observation> seen;
  for (const OperationIndex i : operations) {
    if (history[i].acknowledged() || tells_version(history[i])) {
      seen.push_back(of_operation(history, i));
    }
  }
  for (const Scan& scan : history.scans()) {
    if (scan.responded != never) {
      seen.push_back(of_scan(scan, key));
    }
  }
  std::ranges::sort(seen, {}, &Observation::end);
  return seen;
}

// Whether the second may say nothing of the first: a cut came between, and took it perhaps.
bool is_cut_off(const History& history, const Observation& first, const Observation& second) {
  const bool lasts = first.persistent_from != never && first.persistent_from < second.begin;
  return !lasts && history.epoch_at(first.end) != history.epoch_at(second.begin);
}

// A write that makes of the first what the second says, between them or beside one of them.
bool is_explained(const History& history, const std::vector<OperationIndex>& operations,
                  const Observation& first, const Observation& second) {
  const OperationKind by = second.there ? OperationKind::put : OperationKind::del;
  return std::ranges::any_of(operations, [&](OperationIndex i) {
    const Operation& write = history[i];
    return write.kind == by && write.may_have_happened() && write.closed > first.begin &&
           write.invoked < second.end;
  });
}

}  // namespace

Verdict scans(const History& history) {
  Verdict verdict;
  if (history.scans().empty()) {
    return verdict;
  }
  std::map<std::string, std::vector<OperationIndex>> keys = history.by_key();
  for (const Scan& scan : history.scans()) {
    for (const std::string& key : scan.keys) {
      keys[key];  // one that nobody has written counts too
    }
  }
  for (const auto& [key, operations] : keys) {
    std::vector<Observation> seen = observations(history, key, operations);
    seen.insert(seen.begin(),
                Observation{.persistent_from = 0, .text = "nothing was there at first"});
    for (std::size_t after = 1; after < seen.size(); ++after) {
      for (std::size_t before = 0; before < after; ++before) {
        const Observation& first = seen[before];
        const Observation& second = seen[after];
        const bool compared = (first.is_scan || second.is_scan) && !second.is_write &&
                              (before == 0 || first.end < second.begin) &&
                              first.there != second.there && !is_cut_off(history, first, second);
        if (compared && !is_explained(history, operations, first, second)) {
          verdict.violations.push_back({"scans",
                                        key,
                                        fmt::format("{}; then {}; nothing between them explains it",
                                                    first.text, second.text),
                                        {}});
          return verdict;
        }
      }
    }
  }
  return verdict;
}

}  // namespace remora
