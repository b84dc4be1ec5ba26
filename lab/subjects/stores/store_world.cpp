#include "lab/subjects/stores/store_world.h"

#include <algorithm>

#include "lab/check/value.h"

namespace remora::lab {

// Keeps what a scan lists.
class KeyList final : public kv::ScanSink {
 public:
  void key(ConstBytes key) override { keys.emplace_back(as_text(key)); }

  std::vector<std::string> keys;
};

namespace {

constexpr CoreId server_cores = 2;
constexpr std::uint64_t connect_again_ns = 10'000;
constexpr std::size_t largest_value_bytes = 64 << 10;
constexpr std::uint64_t object_overhead_bytes = 256;  // at most, with a key

}  // namespace

StoreWorld::StoreWorld(const StorePlan& plan, std::uint32_t clients, SiteTable& sites,
                       Random random)
    : plan_(plan),
      loop_({.seed = random.next(), .shuffle_ties = random.chance(1, 2)}),
      network_(loop_, nic_of_the_crash_world(), memory_of_the_crash_world(), random.fork()),
      server_(loop_, network_,
              {.memory_bytes = std::max(plan.pool_bytes, plan.grown_bytes),
               .platform = plan.platform,
               .seed = random.next(),
               .placement = {.longest_read_ns = plan.longest_read_ns},
               .sites = &sites}) {
  for (std::uint32_t i = 0; i <= clients; ++i) {
    clients_.push_back(std::make_unique<Node>(
        loop_, network_, NodeOptions{.memory_bytes = page_bytes, .seed = random.next()}));
  }
  loop_.add_cores(server_cores + clients + 1);
}

Status StoreWorld::start(bool create) {
  Program& program = server_.start<Program>();
  REMORA_TRY_RESULT(pool, create ? Pool::create(server_.region(), {}, Faults(), plan_.pool_bytes)
                                 : Pool::open(server_.region(), "the pool"));
  program.pool = std::move(pool).value();
  kv::ServerOptions options = plan_.server;
  options.create = create;
  if (plan_.worker_ns != 0) {
    program.worker_region = std::make_unique<CrashRegion>(server_.memory());
    program.worker = std::make_unique<VirtualWorker>(loop_, plan_.hard_seed, plan_.worker_ns);
  }
  REMORA_TRY_RESULT(store,
                    plan_.engine->start_server(
                        Host(loop_, server_.nic(), &server_.region(), plan_.faults, plan_.costs)
                            .with_worker(program.worker.get(), program.worker_region.get()),
                        *program.pool, options));
  program.store = std::move(store).value();
  store_ = program.store.get();
  pool_ = program.pool.get();
  return {};
}

void StoreWorld::restart_server(ConstBytes image) {
  store_ = nullptr;
  pool_ = nullptr;
  server_.cut_power(image);
  server_.power_on();
}

void StoreWorld::kill_server() {
  store_ = nullptr;
  pool_ = nullptr;
  server_.kill();
}

Task<std::unique_ptr<kv::StoreClient>> StoreWorld::connect(std::uint32_t index,
                                                           const bool& giving_up) {
  while (!giving_up) {
    if (store_ != nullptr) {
      Result<std::unique_ptr<kv::PendingClient>> pending =
          plan_.engine->start_client(Host(loop_, client(index).nic(), nullptr, plan_.faults,
                                          plan_.costs, server_cores + index),
                                     plan_.client);
      REMORA_CHECK(pending.ok(), "a client needs nothing that could be missing here");
      const Result<kv::PeerAddress> server = store_->accept((*pending)->address());
      if (server.ok()) {
        Result<std::unique_ptr<kv::StoreClient>> connected = co_await (*pending)->connect(*server);
        if (connected.ok()) {
          co_return std::move(connected).value();
        }
      }
    }
    co_await loop_.sleep_for(connect_again_ns);
  }
  co_return nullptr;
}

void StoreWorld::look(Witness& witness, Sight& sight) {
  client(observer()).spawn(look_at_all(witness, sight));
}

Task<void> StoreWorld::look_at_all(Witness& witness, Sight& sight) {
  const bool giving_up = false;
  const std::unique_ptr<kv::StoreClient> client = co_await connect(observer(), giving_up);
  std::vector<std::byte> buffer(largest_value_bytes);
  for (std::uint32_t i = 0; i < plan_.keys; ++i) {
    const std::string key = key_text(i);
    const Witness::Asked asked = witness.asks_get(observer() * 16, key, loop_.now_ns());
    const Result<std::size_t> size = co_await client->get(as_bytes(key), buffer);
    witness.told_get(asked, size, buffer, loop_.now_ns());
    if (!size.ok() && size.code() != Code::not_found && sight.failure.ok()) {
      sight.failure = size.status();
    }
    sight.live_bytes += size.ok() ? *size + object_overhead_bytes : 0;
  }
  if (sight.scans) {
    const Witness::Asked asked = witness.asks_scan(observer() * 16, loop_.now_ns());
    const Result<std::vector<std::string>> keys = co_await list(*client);
    witness.told_scan(asked, keys, loop_.now_ns());
    sight.failure = sight.failure.ok() ? keys.status() : sight.failure;
  }
  sight.finished = true;
}

Task<Result<std::vector<std::string>>> StoreWorld::list(kv::StoreClient& client) {
  KeyList sink;
  kv::ScanCursor cursor = 0;
  do {
    REMORA_CO_TRY_RESULT(next, co_await client.scan(cursor, 3, sink));
    cursor = *next;
  } while (cursor != 0);
  co_return std::move(sink.keys);
}

void StoreWorld::fill(Witness& witness, Filling& filling) {
  client(observer()).spawn(put_all(witness, filling));
}

Task<void> StoreWorld::put_all(Witness& witness, Filling& filling) {
  const bool giving_up = false;
  const std::unique_ptr<kv::StoreClient> client = co_await connect(observer(), giving_up);
  const std::string key = key_text(0);
  for (std::uint64_t i = 0; i < filling.puts;) {
    const std::uint64_t id = witness.next_value_id();
    const std::vector<std::byte> value = value_for(key, id, filling.value_bytes);
    const Witness::Asked asked = witness.asks_put(
        observer() * 16, key, describe_value(key, id, filling.value_bytes), loop_.now_ns());
    const kv::Durability durability = kv::Durability::standard;
    filling.failure = co_await client->put(as_bytes(key), value, {durability});
    witness.told_write(asked, filling.failure, durability, client->failure().ok(), loop_.now_ns());
    // One that is told to try again does so: a cleaning that never ends is noticed by its time.
    if (filling.failure.ok()) {
      ++i;
    } else if (filling.failure.code() != Code::in_use) {
      break;
    }
  }
  filling.finished = true;
}

void StoreWorld::grow(std::uint64_t to_bytes, std::uint64_t after_ns, Growing& growing) {
  growing.is_planned = true;
  growing.is_under_way = false;
  growing.to_bytes = to_bytes;
  server_.spawn(grow_pool(after_ns, growing));
}

Task<void> StoreWorld::grow_pool(std::uint64_t after_ns, Growing& growing) {
  co_await loop_.sleep_for(after_ns);
  growing.is_under_way = true;
  const Status status = co_await store_->grow(growing.to_bytes);
  growing.is_planned = growing.is_under_way = false;
  if (status.ok()) {
    growing.acknowledged_bytes = growing.to_bytes;
    ++growing.acknowledged;
  } else {
    growing.failure = status;
  }
}

}  // namespace remora::lab
