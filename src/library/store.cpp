#include <remora/store.h>

#include <optional>
#include <utility>

#include "base/bytes.h"
#include "library/store_parts.h"
#include "server/durability_words.h"

namespace remora {
namespace {

constexpr std::size_t keys_per_visit = 64;

kv::PutOptions put_options(Durability durability) {
  return {durability == Durability::persistent ? kv::Durability::persistent
                                               : kv::Durability::standard};
}

class VisitedKeys final : public kv::ScanSink {
 public:
  void key(ConstBytes key) override { keys.emplace_back(as_text(key)); }
  std::vector<std::string> keys;
};

// Each counts its operation, and hands the outcome to whoever waits.
Task<void> deliver(StoreParts& parts, Task<Status> operation,
                   std::shared_ptr<PendingState<void>> state) {
  ++parts.under_way;
  const Status status = co_await operation;
  --parts.under_way;
  state->result.emplace(expected_of(status));
  if (state->waiter) {
    state->waiter.resume();
  }
}

Task<void> deliver_value(StoreParts& parts, std::string_view key,
                         std::shared_ptr<PendingState<std::string>> state) {
  ++parts.under_way;
  std::string value;
  const Status status = co_await parts.read(key, value);
  --parts.under_way;
  if (status.ok()) {
    state->result.emplace(std::move(value));
  } else {
    state->result.emplace(error_of(status));
  }
  if (state->waiter) {
    state->waiter.resume();
  }
}

// There is no connection, and none can be made from inside a flow.
template <typename T>
Pending<T> never() {
  auto state = std::make_shared<PendingState<T>>();
  state->result.emplace(Error{ErrorCode::closed, "the store is gone; reconnect() first"});
  return Pending<T>(std::move(state));
}

Pending<void> start(StoreParts& parts, Task<Status> operation) {
  auto state = std::make_shared<PendingState<void>>();
  parts.loop.spawn(deliver(parts, std::move(operation), state));
  return Pending<void>(std::move(state));
}

Expected<Facts> expected_of(Result<Facts> facts) {
  return facts.ok() ? Expected<Facts>(std::move(facts).value())
                    : Expected<Facts>(error_of(facts.status()));
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  return to_string(static_cast<Code>(code));
}

Store::Store(std::unique_ptr<StoreParts> parts) : parts_(std::move(parts)) {}
Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

// --- Making one ---

Expected<Store> Store::open(const std::string& pool_path, const OpenOptions& options) {
  if (pool_path.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "a pool has a path; for a store in memory there is open_memory"};
  }
  auto parts = std::make_unique<StoreParts>();
  if (const Status status = parts->embed(pool_path, options); !status.ok()) {
    return error_of(status);
  }
  return Store(std::move(parts));
}

Expected<Store> Store::open_memory(const OpenOptions& options) {
  auto parts = std::make_unique<StoreParts>();
  if (const Status status = parts->embed("", options); !status.ok()) {
    return error_of(status);
  }
  return Store(std::move(parts));
}

Expected<Store> Store::connect(const std::string& where, const ConnectOptions& options) {
  auto parts = std::make_unique<StoreParts>();
  if (const Status status = parts->connect(where, options); !status.ok()) {
    return error_of(status);
  }
  return Store(std::move(parts));
}

// --- Operations ---

Expected<void> Store::put(std::string_view key, std::string_view value, Durability durability) {
  if (const Status status = parts_->ready().status(); !status.ok()) {
    return error_of(status);
  }
  return expected_of(parts_->loop.block_on(
      parts_->link->store().put(as_bytes(key), as_bytes(value), put_options(durability))));
}

Expected<std::string> Store::get(std::string_view key) {
  std::string value;
  Status status = parts_->ready().status();
  if (status.ok()) {
    status = parts_->loop.block_on(parts_->read(key, value));
    // The connection may end in this moment. A get changes nothing, so it may be done twice.
    if (status.code() == Code::closed && parts_->under_way == 0) {
      status = parts_->ready().status();
      status = status.ok() ? parts_->loop.block_on(parts_->read(key, value)) : status;
    }
  }
  if (!status.ok()) {
    return error_of(status);
  }
  return value;
}

Expected<Versioned> Store::get_version(std::string_view key) {
  Versioned found;
  Status status = parts_->ready().status();
  if (status.ok()) {
    status = parts_->loop.block_on(parts_->read_version(key, found));
  }
  return status.ok() ? Expected<Versioned>(std::move(found))
                     : Expected<Versioned>(error_of(status));
}

Expected<void> Store::write(const Together& together, Durability durability) {
  if (const Status status = parts_->ready().status(); !status.ok()) {
    return error_of(status);
  }
  std::vector<kv::Condition> conditions;
  for (const Together::Condition& one : together.conditions()) {
    conditions.push_back({as_bytes(one.key), one.version});
  }
  std::vector<kv::Write> writes;
  for (const Together::Write& one : together.writes()) {
    writes.push_back({as_bytes(one.key), std::nullopt, one.expires});
    if (one.is_put) {
      writes.back().value = as_bytes(one.value);
    }
  }
  return expected_of(parts_->loop.block_on(
      parts_->link->store().write_together({conditions, writes}, put_options(durability))));
}

Expected<void> Store::del(std::string_view key) {
  if (const Status status = parts_->ready().status(); !status.ok()) {
    return error_of(status);
  }
  return expected_of(parts_->loop.block_on(parts_->link->store().del(as_bytes(key))));
}

Expected<void> Store::scan(const std::function<bool(std::string_view key)>& visit) {
  if (const Status status = parts_->ready().status(); !status.ok()) {
    return error_of(status);
  }
  kv::ScanCursor cursor = 0;
  do {
    VisitedKeys visited;
    const Result<kv::ScanCursor> next =
        parts_->loop.block_on(parts_->link->store().scan(cursor, keys_per_visit, visited));
    if (!next.ok()) {
      return error_of(next.status());
    }
    for (const std::string& key : visited.keys) {
      if (!visit(key)) {
        return {};
      }
    }
    cursor = *next;
  } while (cursor != 0);
  return {};
}

Pending<void> Store::put_async(std::string_view key, std::string_view value,
                               Durability durability) {
  if (!parts_->link) {
    return never<void>();
  }
  return start(*parts_,
               parts_->link->store().put(as_bytes(key), as_bytes(value), put_options(durability)));
}

Pending<std::string> Store::get_async(std::string_view key) {
  if (!parts_->link) {
    return never<std::string>();
  }
  auto state = std::make_shared<PendingState<std::string>>();
  parts_->loop.spawn(deliver_value(*parts_, key, state));
  return Pending<std::string>(std::move(state));
}

Pending<void> Store::del_async(std::string_view key) {
  if (!parts_->link) {
    return never<void>();
  }
  return start(*parts_, parts_->link->store().del(as_bytes(key)));
}

std::vector<Expected<std::string>> Store::run(const Batch& batch) {
  if (const Status status = parts_->ready().status(); !status.ok()) {
    return {batch.operations().size(), Expected<std::string>(error_of(status))};
  }
  std::vector<std::optional<Pending<void>>> changes(batch.operations().size());
  std::vector<std::optional<Pending<std::string>>> gets(batch.operations().size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Batch::Operation& operation = batch.operations()[i];
    if (operation.kind == Batch::Kind::get) {
      gets[i].emplace(get_async(operation.key));
    } else if (operation.kind == Batch::Kind::del) {
      changes[i].emplace(del_async(operation.key));
    } else {
      changes[i].emplace(put_async(operation.key, operation.value, operation.durability));
    }
  }
  wait_all();
  std::vector<Expected<std::string>> outcomes;
  outcomes.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (gets[i]) {
      outcomes.push_back(gets[i]->take());
      continue;
    }
    const Expected<void> outcome = changes[i]->take();
    outcomes.push_back(outcome ? Expected<std::string>(std::string()) : outcome.error());
  }
  return outcomes;
}

Expected<bool> Store::reconnect() {
  const Result<bool> made = parts_->ready();
  return made.ok() ? Expected<bool>(*made) : Expected<bool>(error_of(made.status()));
}

Expected<void> Store::make_room(std::size_t value_bytes) {
  if (value_bytes <= parts_->largest_value_bytes) {
    return {};
  }
  if (parts_->under_way != 0) {
    return Error{ErrorCode::in_use, "operations are under way; wait for them before make_room"};
  }
  return expected_of(parts_->connect_for(value_bytes));
}

void Store::wait_all() {
  parts_->wait_all();
}

void Store::turn() {
  step();
  leave();
}

void Store::run_for(std::uint64_t span_ns) {
  (void)parts_->loop.run_for(span_ns);
}

void Store::step() {
  (void)parts_->loop.turn();
}

void Store::leave() {
  parts_->loop.leave();
}

// --- About it ---

Medium Store::medium() {
  if (const Status status = parts_->ready().status(); !status.ok()) {
    return {false, "unknown", std::string(status.message())};
  }
  if (parts_->embedded) {
    const Strategy& strategy = parts_->embedded->host().strategy();
    return {strategy.survives_power_cut, strategy.method, strategy.reason};
  }
  const Expected<Facts> told = facts();
  if (!told) {
    return {false, "unknown", told.error().message};
  }
  const auto value = [&](const char* name) { return find_fact(*told, name).value_or("unknown"); };
  return {value("survives_power_cut") == "yes", value("persistence"), value("reason")};
}

std::string Store::acknowledged(Durability durability) {
  const Expected<Facts> told = facts();
  return told ? server::acknowledged_in_short(parts_->link->engine(),
                                              durability == Durability::persistent,
                                              server::survives_by(*told))
              : "visible";
}

Expected<Facts> Store::facts() {
  const Status status = parts_->ready().status();
  return status.ok() ? expected_of(parts_->loop.block_on(parts_->link->stat()))
                     : Expected<Facts>(error_of(status));
}

Expected<Facts> Store::scrub() {
  const Status status = parts_->ready().status();
  return status.ok() ? expected_of(parts_->loop.block_on(parts_->link->scrub()))
                     : Expected<Facts>(error_of(status));
}

Expected<Facts> Store::grow(std::uint64_t size_bytes, const std::string& pool_file) {
  const Status status = parts_->ready().status();
  return status.ok() ? expected_of(parts_->loop.block_on(parts_->link->grow(size_bytes, pool_file)))
                     : Expected<Facts>(error_of(status));
}

Expected<Facts> Store::stop() {
  const Status status = parts_->ready().status();
  return status.ok() ? expected_of(parts_->loop.block_on(parts_->link->stop()))
                     : Expected<Facts>(error_of(status));
}

std::string Store::wire() {
  return !parts_->ready().ok() ? "none"
         : parts_->link->rdma() != nullptr
             ? parts_->link->rdma()->attributes().wire
             : std::string(to_string(parts_->loop.block_on(parts_->link->wire_taken())));
}

std::string Store::role() const {
  return parts_->link ? parts_->link->role() : "none";
}

Expected<void> Store::failure() const {
  return parts_->link ? expected_of(parts_->link->store().failure())
                      : Expected<void>(Error{ErrorCode::closed, "nobody serves"});
}

}  // namespace remora
