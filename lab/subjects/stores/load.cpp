#include "lab/subjects/stores/load.h"

#include <algorithm>

#include "lab/check/value.h"

namespace remora::lab {
StoreLoad::StoreLoad(StoreWorld& world, const StorePlan& plan, Witness& witness, TimedLoad& timed,
                     Random random)
    : world_(world),
      plan_(plan),
      witness_(witness),
      timed_(timed),
      random_(random),
      left_(plan.operations),
      at_work_(world.clients(), false) {}

void StoreLoad::start(std::uint32_t client) {
  at_work_[client] = true;
  world_.client(client).spawn(live(client));
}

bool StoreLoad::finished() const {
  return std::none_of(at_work_.begin(), at_work_.end(), [](bool at_work) { return at_work; });
}

Task<void> StoreLoad::live(std::uint32_t client) {
  while (!stopped_ && left_ != 0) {
    const std::unique_ptr<kv::StoreClient> store = co_await world_.connect(client, stopped_);
    std::vector<Task<void>> streams;
    for (std::uint32_t i = 0; store != nullptr && i < plan_.streams; ++i) {
      streams.push_back(stream(client, i, *store, random_.fork()));
    }
    for (Task<void>& one : streams) {
      co_await one;
    }
  }
  at_work_[client] = false;
}

Task<void> StoreLoad::stream(std::uint32_t client, std::uint32_t number, kv::StoreClient& store,
                             Random random) {
  const ClientId who = client * streams_of_a_node + number;
  std::vector<std::byte> buffer(plan_.large_value_bytes);
  while (!stopped_ && left_ != 0 && store.failure().ok()) {
    co_await world_.loop().sleep_for(random.below(plan_.longest_pause_ns + 1));
    if (left_ == 0) {
      break;
    }
    --left_;
    if (plan_.is_hard && random.below(100) < plan_.scan_percent) {
      co_await scan(who, store);
      continue;
    }
    if (plan_.timed_keys != 0 && random.chance(1, 3)) {
      co_await timed_.get(store, buffer, random);
      continue;
    }
    if (plan_.together_percent != 0 && random.below(100) < plan_.together_percent) {
      co_await write_together(who, store, buffer, random);
      continue;
    }
    const std::string key = draw_key(random);
    const std::uint64_t die = random.below(100);
    if (die < plan_.put_percent && is_ebb()) {
      co_await del(who, key, store);
    } else if (die < plan_.put_percent) {
      co_await put(who, key, store, random);
    } else if (die < plan_.put_percent + plan_.del_percent) {
      co_await del(who, key, store);
    } else {
      co_await get(who, key, store, buffer);
    }
  }
}

// --- The server's own process ---

void StoreLoad::start_here() {
  kv::LocalStore* store = plan_.changes_here ? world_.store()->local() : nullptr;
  if (store != nullptr) {
    world_.server().spawn(live_here(*store, random_.fork()));
  }
}

Task<void> StoreLoad::live_here(kv::LocalStore& store, Random random) {
  while (!stopped_ && left_ != 0) {
    co_await world_.loop().sleep_for(random.below(plan_.longest_pause_ns + 1));
    if (!stopped_ && left_ != 0) {
      --left_;
      if (plan_.together_percent != 0 && random.chance(1, 2)) {
        co_await write_together_here(store, random);
      } else {
        co_await change_here(store, random);
      }
    }
  }
}

// To a history it is a deletion of each key, all at once. Native clients may have to follow first.
Task<void> StoreLoad::clear_here(kv::LocalStore& store, Random& random) {
  const ClientId who = (world_.clients() + 1) * streams_of_a_node;
  std::vector<Witness::Asked> asked;
  for (std::uint32_t number = 0; number < plan_.keys; ++number) {
    asked.push_back(witness_.asks_del(who, key_text(number), world_.loop().now_ns()));
  }
  Result<kv::LocalStore::Mark> mark = store.clear();
  for (int tries = 0; mark.code() == Code::in_use && tries < 3; ++tries) {
    if ((co_await store.room()).ok()) {
      mark = store.clear();
    }
  }
  Status status = mark.status();
  const bool waits = random.below(100) < plan_.persistent_percent;
  if (status.ok() && waits) {
    status = co_await store.persistent(*mark);
  }
  co_await world_.loop().yield();
  clears_ += status.ok() ? 1u : 0u;
  for (const Witness::Asked& one : asked) {
    witness_.told_write(one, status, waits ? kv::Durability::persistent : kv::Durability::standard,
                        true, world_.loop().now_ns());
  }
  if (!status.ok() && status.code() != Code::in_use && complaint_.empty()) {
    complaint_ = "a clearing was told: " + std::string(status.message());
  }
}

// A change is visible when the call returns, and persistent when that was waited for.
Task<void> StoreLoad::change_here(kv::LocalStore& store, Random& random) {
  if (plan_.clear_percent != 0 && random.below(100) < plan_.clear_percent) {
    co_await clear_here(store, random);
    co_return;
  }
  const ClientId who = (world_.clients() + 1) * streams_of_a_node;
  const std::string key = draw_key(random);
  const std::uint64_t size = random.between(smallest_value_bytes, plan_.usual_value_bytes);
  const std::uint64_t id = witness_.next_value_id();
  const std::vector<std::byte> value = value_for(key, id, size);
  const ConstBytes piece(value);
  const bool is_put = random.below(100) >= plan_.del_percent;
  const Witness::Asked asked =
      is_put ? witness_.asks_put(who, key, describe_value(key, id, size), world_.loop().now_ns())
             : witness_.asks_del(who, key, world_.loop().now_ns());
  Result<kv::LocalStore::Mark> mark =
      is_put ? store.put(as_bytes(key), std::span(&piece, 1)) : store.del(as_bytes(key));
  if (mark.code() == Code::no_space) {
    const Status room = co_await store.room();
    if (room.ok()) {
      mark = is_put ? store.put(as_bytes(key), std::span(&piece, 1)) : store.del(as_bytes(key));
    }
  }
  Status status = mark.status();
  const bool waits = random.below(100) < plan_.persistent_percent;
  if (status.ok() && waits) {
    status = co_await store.persistent(*mark);
  }
  // A cut in the middle of this very event takes what comes after it, the answer too.
  co_await world_.loop().yield();
  witness_.told_write(asked, status, waits ? kv::Durability::persistent : kv::Durability::standard,
                      true, world_.loop().now_ns());
  if (!status.ok() && status.code() != Code::no_space && complaint_.empty()) {
    complaint_ = "a change by the server's own process was told: " + std::string(status.message());
  }
}

bool StoreLoad::is_ebb() const {
  return plan_.tide_operations != 0 && left_ / plan_.tide_operations % 2 == 0;
}

// Every other operation is for one of the first keys; where there are tides, for any.
std::string StoreLoad::draw_key(Random& random) const {
  if (plan_.tide_operations != 0) {
    return key_text(static_cast<std::uint32_t>(random.below(plan_.keys)));
  }
  return key_text(static_cast<std::uint32_t>(
      random.chance(1, 2) ? random.below(std::min<std::uint64_t>(plan_.keys, 2))
                          : random.below(plan_.keys)));
}

Task<void> StoreLoad::put(ClientId who, const std::string& key, kv::StoreClient& store,
                          Random& random) {
  const bool large = random.below(100) < plan_.large_percent;
  const std::uint64_t size = random.between(
      large ? std::max<std::uint64_t>(smallest_value_bytes, plan_.smallest_large_bytes)
            : smallest_value_bytes,
      large ? plan_.large_value_bytes : plan_.usual_value_bytes);
  const kv::PutOptions options{random.below(100) < plan_.persistent_percent
                                   ? kv::Durability::persistent
                                   : kv::Durability::standard};
  const std::uint64_t id = witness_.next_value_id();
  const std::vector<std::byte> value = value_for(key, id, size);
  const Witness::Asked asked =
      witness_.asks_put(who, key, describe_value(key, id, size), world_.loop().now_ns());
  const Status status = co_await store.put(as_bytes(key), value, options);
  witness_.told_write(asked, status, options.durability, store.failure().ok(),
                      world_.loop().now_ns());
  expect_sense("put", key, status, store);
  const bool has_segment = plan_.server.segment_bytes != 0 && size >= plan_.server.segment_bytes;
  large_puts_ += status.ok() && has_segment ? 1u : 0u;
}

Task<void> StoreLoad::del(ClientId who, const std::string& key, kv::StoreClient& store) {
  const Witness::Asked asked = witness_.asks_del(who, key, world_.loop().now_ns());
  const Status status = co_await store.del(as_bytes(key));
  witness_.told_write(asked, status, plan_.engine->del_durability(), store.failure().ok(),
                      world_.loop().now_ns());
  expect_sense("del", key, status, store);
}

Task<void> StoreLoad::get(ClientId who, const std::string& key, kv::StoreClient& store,
                          Bytes buffer) {
  const Witness::Asked asked = witness_.asks_get(who, key, world_.loop().now_ns());
  const Result<std::size_t> size = co_await store.get(as_bytes(key), buffer);
  witness_.told_get(asked, size, buffer, world_.loop().now_ns());
  if (size.code() != Code::not_found) {
    expect_sense("get", key, size.status(), store);
  }
}

Task<void> StoreLoad::scan(ClientId who, kv::StoreClient& store) {
  const Witness::Asked asked = witness_.asks_scan(who, world_.loop().now_ns());
  const TimedLoad::Began began = timed_.begin_scan();
  const Result<std::vector<std::string>> keys = co_await StoreWorld::list(store);
  witness_.told_scan(asked, keys, world_.loop().now_ns());
  expect_sense("scan", "all keys", keys.status(), store);
  if (keys.ok()) {
    timed_.scanned(began, *keys);
    ++scans_;
  }
}

// "closed" is for a client that has lost its server, which takes a reason, and then nothing
// succeeds any more; only a get finds nothing, and with a buffer for every value it is never too
// small.
void StoreLoad::expect_sense(const char* what, const std::string& key, const Status& status,
                             const kv::StoreClient& store) {
  const bool is_calm =
      plan_.trouble_every_ns == 0 && plan_.kills == 0 && witness_.history().cuts().empty();
  const bool makes_sense =
      status.ok() || (status.code() == Code::closed && !store.failure().ok() && !is_calm) ||
      status.code() == Code::timed_out ||
      (std::string_view(what) == "together" && status.code() == Code::conflict) ||
      (std::string_view(what) != "get" &&
       (status.code() == Code::no_space || status.code() == Code::in_use));
  if (!makes_sense && complaint_.empty()) {
    complaint_ = std::string(what) + " of " + key.substr(0, 12) +
                 " was told: " + std::string(status.message());
  }
}

}  // namespace remora::lab
