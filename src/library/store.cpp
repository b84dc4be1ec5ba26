#include <remora/store.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "kv/limits.h"
#include "library/embedded_store.h"
#include "runtime/poll_loop.h"
#include "server/store_link.h"

namespace remora {
namespace {

constexpr std::size_t usual_value_bytes = 4096;
constexpr std::size_t object_head_bytes = 4096;  // what lies around a value, key included
constexpr std::size_t keys_per_visit = 64;
constexpr std::uint64_t idle_ns = 100'000'000;
constexpr std::uint64_t hearing_ns = 200'000;
constexpr std::uint64_t embedded_patience_ns = 5'000'000'000;

static_assert(static_cast<int>(ErrorCode::timed_out) == static_cast<int>(Code::timed_out) &&
              static_cast<int>(ErrorCode::not_found) == static_cast<int>(Code::not_found) &&
              static_cast<int>(ErrorCode::closed) == static_cast<int>(Code::closed));

Error error_of(const Status& status) {
  return {static_cast<ErrorCode>(status.code()), std::string(status.message())};
}

Expected<void> expected_of(const Status& status) {
  return status.ok() ? Expected<void>() : Expected<void>(error_of(status));
}

kv::PutOptions put_options(Durability durability) {
  return {durability == Durability::persistent ? kv::Durability::persistent
                                               : kv::Durability::standard};
}

class VisitedKeys final : public kv::ScanSink {
 public:
  void key(ConstBytes key) override { keys.emplace_back(as_text(key)); }
  std::vector<std::string> keys;
};

}  // namespace

std::string_view to_string(ErrorCode code) {
  return to_string(static_cast<Code>(code));
}

struct Store::Inside {
  PollLoop loop;
  std::string path;                       // of the socket
  server::StoreLinkOptions link_options;  // to connect anew
  std::uint64_t last_ns = 0;              // when an operation was last begun
  std::size_t largest_value_bytes = 0;
  std::size_t under_way = 0;
  std::unique_ptr<EmbeddedStore> embedded;  // outlives the link to it
  std::unique_ptr<server::StoreLink> link;

  ~Inside() {
    wait_all();
    link.reset();
  }

  Status embed(const std::string& pool_path, const OpenOptions& options);

  Status connect(const std::string& socket_path, server::StoreLinkOptions options,
                 std::size_t largest_value) {
    if (largest_value > kv::limits::value_bytes) {
      return Status(Code::invalid_argument,
                    "values have at most 16 MB; choose a smaller "
                    "largest_value_bytes");
    }
    largest_value_bytes = largest_value;
    // Two values of the largest size at a time.
    options.client.buffer_bytes = std::bit_ceil(2 * (largest_value + object_head_bytes));
    path = socket_path;
    link_options = std::move(options);
    return connect();
  }

  Status connect() {
    link.reset();
    Result<std::unique_ptr<server::StoreLink>> made =
        loop.block_on(server::StoreLink::connect(loop, path, link_options));
    if (!made.ok()) {
      return made.status();
    }
    link = std::move(made).value();
    return {};
  }

  // What came while nobody ran the loop is heard first: a connection that has ended is made anew,
  // unless something is under way on it. The outcome stands in `link`, which may be none.
  Status ready() {
    const std::uint64_t now_ns = loop.now_ns();
    const bool was_idle = now_ns - std::exchange(last_ns, now_ns) > idle_ns;
    if (was_idle && link) {
      (void)loop.run_for(hearing_ns);
    }
    if (link && (link->store().failure().ok() || under_way != 0)) {
      return {};
    }
    // Not `not_found`: that is said of keys.
    const Status status = connect();
    return status.ok() ? Status() : Status(Code::closed, std::string(status.message()));
  }

  void wait_all() {
    while (under_way != 0) {
      (void)loop.turn();
    }
    loop.leave();
  }

  // Most values are small: a get begins with little, and comes again when that was not enough.
  Task<Status> read(std::string_view key, std::string& value) {
    value.resize(std::min(usual_value_bytes, largest_value_bytes));
    for (;;) {
      const Result<std::size_t> size =
          co_await link->store().get(as_bytes(key), std::as_writable_bytes(std::span(value)));
      if (size.ok()) {
        value.resize(*size);
        co_return Status();
      }
      if (size.code() != Code::no_space || value.size() >= largest_value_bytes) {
        co_return size.status();
      }
      value.resize(largest_value_bytes);
    }
  }

  // Each counts its operation, and hands the outcome to whoever waits.
  Task<void> deliver(Task<Status> operation, std::shared_ptr<PendingState<void>> state) {
    ++under_way;
    const Status status = co_await operation;
    --under_way;
    state->result.emplace(expected_of(status));
    if (state->waiter) {
      state->waiter.resume();
    }
  }
  Task<void> deliver_value(std::string_view key, std::shared_ptr<PendingState<std::string>> state) {
    ++under_way;
    std::string value;
    const Status status = co_await read(key, value);
    --under_way;
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

  Pending<void> start(Task<Status> operation) {
    auto state = std::make_shared<PendingState<void>>();
    loop.spawn(deliver(std::move(operation), state));
    return Pending<void>(std::move(state));
  }
};

Store::Store(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

// --- Making one ---

namespace {

server::StoreLinkOptions embedded_link(const OpenOptions& options) {
  server::StoreLinkOptions link;
  link.client.in_flight = options.in_flight;
  // A commit on a slow disk takes its time, and nobody but this process could be gone.
  link.client.timeout_ns = 60'000'000'000;
  return link;
}

}  // namespace

// The embedded store; in memory where the path is empty.
Status Store::Inside::embed(const std::string& pool_path, const OpenOptions& options) {
  const Result<Media> media = parse_media(options.media);
  if (!media.ok()) {
    return media.status();
  }
  server::StoreHostOptions host;
  host.engine = options.engine;
  host.pool_path = pool_path;
  host.media = *media;
  host.pool_bytes = options.pool_bytes;
  // Its only client is this very process, which may be kept from running for a while.
  host.server.put_timeout_ns = embedded_patience_ns;
  host.server.client_timeout_ns = embedded_patience_ns;
  Result<std::unique_ptr<EmbeddedStore>> opened = EmbeddedStore::open(loop, host);
  if (!opened.ok()) {
    return opened.status();
  }
  embedded = std::move(opened).value();
  return connect(embedded->socket_path(), embedded_link(options), options.largest_value_bytes);
}

Expected<Store> Store::open(const std::string& pool_path, const OpenOptions& options) {
  if (pool_path.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "a pool has a path; for a store in memory there is open_memory"};
  }
  auto inside = std::make_unique<Inside>();
  if (const Status status = inside->embed(pool_path, options); !status.ok()) {
    return error_of(status);
  }
  return Store(std::move(inside));
}

Expected<Store> Store::open_memory(const OpenOptions& options) {
  auto inside = std::make_unique<Inside>();
  if (const Status status = inside->embed("", options); !status.ok()) {
    return error_of(status);
  }
  return Store(std::move(inside));
}

Expected<Store> Store::connect(const std::string& socket_path, const ConnectOptions& options) {
  auto inside = std::make_unique<Inside>();
  server::StoreLinkOptions link;
  link.token = options.token;
  link.timeout_ns = options.timeout_ns;
  link.client.timeout_ns = options.timeout_ns;
  link.client.in_flight = options.in_flight;
  const Status status = inside->connect(socket_path, std::move(link), options.largest_value_bytes);
  if (!status.ok()) {
    return error_of(status);
  }
  return Store(std::move(inside));
}

// --- Operations ---

Expected<void> Store::put(std::string_view key, std::string_view value, Durability durability) {
  if (const Status status = inside_->ready(); !status.ok()) {
    return error_of(status);
  }
  return expected_of(inside_->loop.block_on(
      inside_->link->store().put(as_bytes(key), as_bytes(value), put_options(durability))));
}

Expected<std::string> Store::get(std::string_view key) {
  std::string value;
  Status status = inside_->ready();
  if (status.ok()) {
    status = inside_->loop.block_on(inside_->read(key, value));
    // The connection may end in this moment. A get changes nothing, so it may be done twice.
    if (status.code() == Code::closed && inside_->under_way == 0) {
      status = inside_->ready();
      status = status.ok() ? inside_->loop.block_on(inside_->read(key, value)) : status;
    }
  }
  if (!status.ok()) {
    return error_of(status);
  }
  return value;
}

Expected<void> Store::del(std::string_view key) {
  if (const Status status = inside_->ready(); !status.ok()) {
    return error_of(status);
  }
  return expected_of(inside_->loop.block_on(inside_->link->store().del(as_bytes(key))));
}

Expected<void> Store::scan(const std::function<bool(std::string_view key)>& visit) {
  if (const Status status = inside_->ready(); !status.ok()) {
    return error_of(status);
  }
  kv::ScanCursor cursor = 0;
  do {
    VisitedKeys visited;
    const Result<kv::ScanCursor> next =
        inside_->loop.block_on(inside_->link->store().scan(cursor, keys_per_visit, visited));
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
  if (!inside_->link) {
    return inside_->never<void>();
  }
  return inside_->start(
      inside_->link->store().put(as_bytes(key), as_bytes(value), put_options(durability)));
}

Pending<std::string> Store::get_async(std::string_view key) {
  if (!inside_->link) {
    return inside_->never<std::string>();
  }
  auto state = std::make_shared<PendingState<std::string>>();
  inside_->loop.spawn(inside_->deliver_value(key, state));
  return Pending<std::string>(std::move(state));
}

Pending<void> Store::del_async(std::string_view key) {
  if (!inside_->link) {
    return inside_->never<void>();
  }
  return inside_->start(inside_->link->store().del(as_bytes(key)));
}

std::vector<Expected<std::string>> Store::run(const Batch& batch) {
  if (const Status status = inside_->ready(); !status.ok()) {
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

Expected<void> Store::reconnect() {
  return expected_of(inside_->ready());
}

void Store::wait_all() {
  inside_->wait_all();
}

void Store::turn() {
  step();
  leave();
}

void Store::step() {
  (void)inside_->loop.turn();
}

void Store::leave() {
  inside_->loop.leave();
}

// --- About it ---

Medium Store::medium() {
  if (const Status status = inside_->ready(); !status.ok()) {
    return {false, "unknown", std::string(status.message())};
  }
  if (inside_->embedded) {
    const Strategy& strategy = inside_->embedded->host().strategy();
    return {strategy.survives_power_cut, strategy.method, strategy.reason};
  }
  const Result<server::Facts> facts = inside_->loop.block_on(inside_->link->stat());
  if (!facts.ok()) {
    return {false, "unknown", std::string(facts.status().message())};
  }
  const auto value = [&](const char* name) {
    return server::find_fact(*facts, name).value_or("unknown");
  };
  return {value("survives_power_cut") == "yes", value("persistence"), value("reason")};
}

std::string Store::wire() {
  return !inside_->ready().ok() ? "none"
         : inside_->link->rdma() != nullptr
             ? inside_->link->rdma()->attributes().wire
             : std::string(to_string(inside_->loop.block_on(inside_->link->wire_taken())));
}

std::string Store::role() const {
  return inside_->link ? inside_->link->role() : "none";
}

Expected<void> Store::failure() const {
  return inside_->link ? expected_of(inside_->link->store().failure())
                       : Expected<void>(Error{ErrorCode::closed, "nobody serves"});
}

}  // namespace remora
