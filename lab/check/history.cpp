#include "lab/check/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace remora {
namespace {

std::string_view name_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::put:
      return "put";
    case OperationKind::del:
      return "del";
    case OperationKind::get:
      return "get";
  }
  return "?";
}

std::string describe_read(const Identity& read) {
  switch (read.wholeness) {
    case Wholeness::whole:
      return fmt::format("returned value {} ({} bytes)", read.value.id, read.value.size_bytes);
    case Wholeness::torn:
      return fmt::format("returned a torn value ({})", read.note);
    case Wholeness::foreign:
      return fmt::format("returned foreign bytes ({})", read.note);
  }
  return "?";
}

std::string describe_outcome(const Operation& operation) {
  switch (operation.outcome) {
    case Outcome::pending:
      return "no response";
    case Outcome::refused:
      return "refused";
    case Outcome::unknown:
      return "given up";
    case Outcome::visible:
      return operation.persisted == never ? "acknowledged as visible"
                                          : "acknowledged as visible, later as persistent";
    case Outcome::persistent:
      return "acknowledged as persistent";
    case Outcome::value:
      return describe_read(operation.read);
    case Outcome::not_found:
      return "returned not found";
  }
  return "?";
}

}  // namespace

Position History::next(std::uint64_t time_ns) {
  REMORA_CHECK(time_ns >= time_ns_, "events are recorded in the order of time");
  time_ns_ = time_ns;
  return position_++;
}

OperationIndex History::invoke(ClientId client, OperationKind kind, std::string_view key,
                               const Value& value, std::uint64_t time_ns) {
  Operation operation;
  operation.client = client;
  operation.kind = kind;
  operation.key = key;
  operation.written = value;
  operation.epoch = static_cast<std::uint32_t>(cuts_.size());
  operation.invoked = next(time_ns);
  operation.invoke_ns = time_ns;
  operations_.push_back(std::move(operation));
  return operations_.size() - 1;
}

OperationIndex History::invoke_put(ClientId client, std::string_view key, const Value& value,
                                   std::uint64_t time_ns) {
  REMORA_CHECK(value.id != 0, "the id of a value is not 0");
  auto known = ids_.find(key);
  if (known == ids_.end()) {
    known = ids_.emplace(key, std::vector<std::uint64_t>()).first;
  }
  std::vector<std::uint64_t>& ids = known->second;
  const auto place = std::lower_bound(ids.begin(), ids.end(), value.id);
  REMORA_CHECK(place == ids.end() || *place != value.id, "two puts of a key share a value id");
  ids.insert(place, value.id);
  return invoke(client, OperationKind::put, key, value, time_ns);
}

OperationIndex History::invoke_del(ClientId client, std::string_view key, std::uint64_t time_ns) {
  return invoke(client, OperationKind::del, key, {}, time_ns);
}

OperationIndex History::invoke_get(ClientId client, std::string_view key, std::uint64_t time_ns) {
  return invoke(client, OperationKind::get, key, {}, time_ns);
}

Operation& History::respond(OperationIndex index, Outcome outcome, std::uint64_t time_ns) {
  REMORA_CHECK(index < operations_.size(), "no such operation");
  Operation& operation = operations_[index];
  REMORA_CHECK(operation.closed == never, "answered already, or its client died in a cut");
  operation.outcome = outcome;
  operation.responded = operation.closed = next(time_ns);
  operation.response_ns = time_ns;
  return operation;
}

void History::respond_write(OperationIndex index, Outcome outcome, std::uint64_t time_ns) {
  Operation& operation = respond(index, outcome, time_ns);
  REMORA_CHECK(operation.is_write() && operation.acknowledged(), "not how a write ends");
  if (outcome == Outcome::persistent) {
    operation.persisted = operation.responded;
  }
}

void History::respond_value(OperationIndex index, const Identity& read, std::uint64_t time_ns) {
  Operation& operation = respond(index, Outcome::value, time_ns);
  REMORA_CHECK(!operation.is_write(), "only a get returns a value");
  operation.read = read;
}

void History::respond_not_found(OperationIndex index, std::uint64_t time_ns) {
  const Operation& operation = respond(index, Outcome::not_found, time_ns);
  REMORA_CHECK(!operation.is_write(), "only a get returns not found");
}

void History::respond_failed(OperationIndex index, Outcome outcome, std::uint64_t time_ns) {
  REMORA_CHECK(outcome == Outcome::refused || outcome == Outcome::unknown, "not a failure");
  respond(index, outcome, time_ns);
}

void History::persisted(OperationIndex index, std::uint64_t time_ns) {
  REMORA_CHECK(index < operations_.size(), "no such operation");
  Operation& operation = operations_[index];
  REMORA_CHECK(operation.outcome == Outcome::visible && operation.persisted == never,
               "only a write that was acknowledged as visible becomes persistent later");
  const bool died = std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& cut) {
    return cut.scope == CutScope::whole_world && cut.at > operation.invoked;
  });
  REMORA_CHECK(!died, "its client died in a cut and can be told nothing");
  operation.persisted = next(time_ns);
}

void History::join(std::vector<OperationIndex> writes,
                   std::vector<Together::Condition> conditions) {
  REMORA_CHECK(!writes.empty(), "a write of several keys has at least one");
  together_.push_back({std::move(writes), std::move(conditions)});
}

std::size_t History::invoke_scan(ClientId client, std::uint64_t time_ns) {
  scans_.push_back({.client = client, .keys = {}, .invoked = next(time_ns), .invoke_ns = time_ns});
  return scans_.size() - 1;
}

void History::respond_scan(std::size_t index, std::vector<std::string> keys,
                           std::uint64_t time_ns) {
  REMORA_CHECK(index < scans_.size(), "no such scan");
  Scan& scan = scans_[index];
  REMORA_CHECK(epoch_at(scan.invoked) == cuts_.size() && scan.responded == never,
               "answered already, or its client died in a cut");
  scan.keys = std::move(keys);
  scan.responded = next(time_ns);
  scan.response_ns = time_ns;
}

void History::cut(CutScope scope, std::uint64_t time_ns) {
  const Position at = next(time_ns);
  cuts_.push_back({scope, at, time_ns});
  if (scope == CutScope::server_only) {
    return;
  }
  for (Operation& operation : operations_) {
    operation.closed = std::min(operation.closed, at);
  }
}

std::uint32_t History::epoch_at(Position position) const {
  const auto after = std::upper_bound(cuts_.begin(), cuts_.end(), position,
                                      [](Position p, const Cut& cut) { return p < cut.at; });
  return static_cast<std::uint32_t>(after - cuts_.begin());
}

std::map<std::string, std::vector<OperationIndex>> History::by_key() const {
  std::map<std::string, std::vector<OperationIndex>> keys;
  for (OperationIndex i = 0; i < operations_.size(); ++i) {
    keys[operations_[i].key].push_back(i);
  }
  return keys;
}

History History::with_every_acknowledgement_persistent() const {
  History history = *this;
  for (Operation& operation : history.operations_) {
    if (operation.outcome == Outcome::visible) {
      operation.outcome = Outcome::persistent;
      operation.persisted = operation.responded;
    }
  }
  return history;
}

std::string describe(const History& history, OperationIndex index) {
  const Operation& operation = history[index];
  const std::string what = operation.kind == OperationKind::put
                               ? fmt::format(" of value {} ({} bytes)", operation.written.id,
                                             operation.written.size_bytes)
                               : "";
  const std::string until =
      operation.responded == never ? "" : fmt::format("{}", operation.response_ns);
  return fmt::format("{} #{} by client {}{}, {}..{} ns, {}", name_of(operation.kind), index,
                     operation.client, what, operation.invoke_ns, until,
                     describe_outcome(operation));
}

}  // namespace remora
