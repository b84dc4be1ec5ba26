// Several keys at once, by natives and by the server's own process.
#include <algorithm>
#include <deque>

#include "lab/check/value.h"
#include "lab/subjects/stores/load.h"

namespace remora::lab {
// What is to be written, and what the witness is told of it.
struct StoreLoad::Wishes {
  std::vector<Witness::Wish> asked;
  std::deque<std::vector<std::byte>> values;
  std::vector<kv::Write> writes;  // of these keys and values
  std::vector<Together::Condition> believed;
  std::vector<kv::Condition> conditions;

  // The key that conditions are about has this version and value; 0 and 0: it is not there.
  void expect(std::uint64_t version, std::uint64_t id) {
    believed.push_back({asked.front().key, id});
    conditions.push_back({as_bytes(believed.back().key), version});
  }
};

StoreLoad::Wishes StoreLoad::draw_wishes(Random& random) {
  Wishes wishes;
  wishes.believed.reserve(1);
  const std::uint64_t wanted = random.between(2, std::max(2u, plan_.together_keys));
  const bool is_large = random.below(100) < plan_.large_percent;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::string key = draw_key(random);
    if (std::ranges::find(wishes.asked, key, &Witness::Wish::key) == wishes.asked.end()) {
      wishes.asked.push_back({key, std::nullopt});
    }
  }
  for (Witness::Wish& wish : wishes.asked) {
    if (random.below(100) < plan_.del_percent) {
      wishes.writes.push_back({as_bytes(wish.key), std::nullopt});
      continue;
    }
    const std::uint64_t most = is_large ? std::min<std::uint64_t>(plan_.large_value_bytes, 6'000)
                                        : plan_.usual_value_bytes;
    const std::uint64_t size = random.between(smallest_value_bytes, most);
    const std::uint64_t id = witness_.next_value_id();
    wishes.values.push_back(value_for(wish.key, id, size));
    wish.value = describe_value(wish.key, id, size);
    wishes.writes.push_back({as_bytes(wish.key), ConstBytes(wishes.values.back())});
  }
  return wishes;
}

// A condition is about the first key, which was got before; others may change it meanwhile.
Task<void> StoreLoad::write_together(ClientId who, kv::StoreClient& store, Bytes buffer,
                                     Random& random) {
  Wishes wishes = draw_wishes(random);
  if (random.chance(1, 3)) {
    const std::string key = wishes.asked.front().key;
    const Witness::Asked asked = witness_.asks_get(who, key, world_.loop().now_ns());
    const Result<kv::StoreClient::Versioned> found =
        co_await store.get_version(as_bytes(key), buffer);
    const Result<std::size_t> size =
        found.ok() ? Result<std::size_t>(found->size_bytes) : Result<std::size_t>(found.status());
    witness_.told_get(asked, size, buffer, world_.loop().now_ns());
    if (found.ok()) {
      wishes.expect(found->version, identify(buffer.first(found->size_bytes)).value.id);
    } else if (found.code() == Code::not_found) {
      wishes.expect(0, 0);
    } else {
      expect_sense("get", key, found.status(), store);
      co_return;
    }
    co_await world_.loop().sleep_for(random.below(plan_.longest_pause_ns + 1));
  }
  const kv::PutOptions options{random.below(100) < plan_.persistent_percent
                                   ? kv::Durability::persistent
                                   : kv::Durability::standard};
  const std::vector<Witness::Asked> asked =
      witness_.asks_together(who, wishes.asked, wishes.believed, world_.loop().now_ns());
  const Status status = co_await store.write_together({wishes.conditions, wishes.writes}, options);
  witness_.told_together(asked, status, options.durability, store.failure().ok(),
                         world_.loop().now_ns());
  expect_sense(wishes.conditions.empty() ? "write" : "together", wishes.asked.front().key, status,
               store);
  together_ += status.ok() ? 1u : 0u;
}

Task<void> StoreLoad::write_together_here(kv::LocalStore& store, Random& random) {
  const ClientId who = (world_.clients() + 1) * streams_of_a_node;
  Wishes wishes = draw_wishes(random);
  if (random.chance(1, 3)) {
    const std::optional<kv::LocalStore::Found> found =
        store.get(as_bytes(wishes.asked.front().key));
    wishes.expect(found ? found->version : 0, found ? identify(found->value).value.id : 0);
    co_await world_.loop().sleep_for(random.below(plan_.longest_pause_ns + 1));
  }
  const std::vector<Witness::Asked> asked =
      witness_.asks_together(who, wishes.asked, wishes.believed, world_.loop().now_ns());
  const Result<kv::LocalStore::Mark> mark = co_await write_wishes(store, wishes);
  Status status = mark.status();
  const bool waits = random.below(100) < plan_.persistent_percent;
  if (status.ok() && waits) {
    status = co_await store.persistent(*mark);
  }
  // A cut in the middle of this very event takes what comes after it, the answer too.
  co_await world_.loop().yield();
  witness_.told_together(asked, status,
                         waits ? kv::Durability::persistent : kv::Durability::standard, true,
                         world_.loop().now_ns());
  together_ += status.ok() ? 1u : 0u;
  const bool makes_sense = status.ok() || status.code() == Code::no_space ||
                           status.code() == Code::in_use ||
                           (status.code() == Code::conflict && !wishes.conditions.empty());
  if (!makes_sense && complaint_.empty()) {
    complaint_ = "a write of several keys here was told: " + std::string(status.message());
  }
}

Task<Result<kv::LocalStore::Mark>> StoreLoad::write_wishes(kv::LocalStore& store,
                                                           const Wishes& wishes) {
  const kv::MultiWrite what{wishes.conditions, wishes.writes};
  Result<kv::LocalStore::Mark> mark = store.write_together(what);
  if (mark.code() == Code::no_space) {
    const Status room = co_await store.room();
    if (room.ok()) {
      mark = store.write_together(what);
    }
  }
  co_return mark;
}

}  // namespace remora::lab
