#include "kv/common/hopscotch_table.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"

namespace remora::kv {
namespace {

// How far a free bucket is looked for, before the table is called full.
constexpr std::uint64_t search_buckets = 256;

HopscotchHead head_of(const HopscotchKind& kind, std::uint64_t seed, std::uint64_t buckets,
                      Offset previous) {
  HopscotchHead head{kind.magic, kind.version, 0, seed, buckets, previous, {}};
  head.checksum = checksum_of(head);
  return head;
}

}  // namespace

void HopscotchTable::store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

// --- How a table comes to be ---

Result<std::unique_ptr<HopscotchTable>> HopscotchTable::create(const Host& host, Pool& pool,
                                                               const HopscotchKind& kind,
                                                               std::uint64_t keys) {
  std::unique_ptr<HopscotchTable> table(new HopscotchTable(host, pool, kind));
  const std::uint64_t buckets = std::bit_ceil(std::max<std::uint64_t>(16, keys * 3 / 2));
  const std::uint64_t seed = host.runtime().random().next();
  const Result<Offset> offset = table->make(seed, buckets, 0);
  REMORA_TRY(offset.ok() ? table->lead_to(*offset, buckets) : offset.status());
  table->take(*offset, seed, buckets);
  return table;
}

Result<std::unique_ptr<HopscotchTable>> HopscotchTable::open(const Host& host, Pool& pool,
                                                             const HopscotchKind& kind) {
  REMORA_TRY_RESULT(offset, pool.root(kind.root));
  const Bytes place = pool.object(*offset);
  HopscotchHead head;
  std::memcpy(&head, place.data(), sizeof head);
  if (head.magic != kind.magic || head.checksum != checksum_of(head) ||
      !std::has_single_bit(head.buckets) || head.buckets < 16 ||
      head.buckets > place.size() / sizeof(Bucket) ||
      hopscotch_bytes(head.buckets) > place.size()) {
    return Status(Code::damaged,
                  "the hash table of the store fails its checks; restore the pool from a backup");
  }
  if (head.version != kind.version) {
    return Status(
        Code::unsupported,
        "another version of Remora has made this store, and its engine has changed since: "
        "read it with that version, and put the keys into a new store");
  }
  std::unique_ptr<HopscotchTable> table(new HopscotchTable(host, pool, kind));
  table->take(*offset, head.seed, head.buckets);
  REMORA_TRY(table->free_replaced());
  return table;
}

// An empty table that nothing leads to.
Result<Offset> HopscotchTable::make(std::uint64_t seed, std::uint64_t buckets, Offset previous) {
  const std::uint64_t size = hopscotch_bytes(buckets);
  REMORA_TRY_RESULT(offset, pool_.reserve(size, Account::store));
  const Bytes bytes = pool_.object(*offset).first(size);
  std::ranges::fill(bytes, std::byte{0});
  const HopscotchHead head = head_of(kind_, seed, buckets, previous);
  std::memcpy(bytes.data(), &head, sizeof head);
  return *offset;
}

// The root leads to the table, which is persistent with all that is in it on return.
Status HopscotchTable::lead_to(Offset offset, std::uint64_t buckets) {
  Transaction transaction;
  REMORA_TRY(transaction.publish(offset, hopscotch_bytes(buckets)));
  REMORA_TRY(transaction.set_root(kind_.root, offset));
  const Result<Ticket> ticket = pool_.commit(transaction);
  return ticket.ok() ? pool_.wait(*ticket) : ticket.status();
}

void HopscotchTable::take(Offset offset, std::uint64_t seed, std::uint64_t buckets) {
  offset_ = offset;
  seed_ = seed;
  buckets_ = buckets;
  all_ = {reinterpret_cast<Bucket*>(pool_.region().data() + buckets_offset()),
          buckets + neighbourhood - 1};
  size_ = static_cast<std::uint64_t>(
      std::ranges::count_if(all_, [](const Bucket& bucket) { return bucket.tag != 0; }));
}

// The smallest step may be cut: what is left is freed the next time.
Status HopscotchTable::free_replaced() {
  const Offset word = offset_ + offsetof(HopscotchHead, previous);
  for (Offset previous = pool_.load(word); previous != 0; previous = pool_.load(word)) {
    Transaction transaction;
    REMORA_TRY(transaction.set(word, pool_.load(previous + offsetof(HopscotchHead, previous))));
    REMORA_TRY(transaction.free(previous));
    const Result<Ticket> ticket = pool_.commit(transaction);
    REMORA_TRY(ticket.ok() ? pool_.wait(*ticket) : ticket.status());
  }
  return {};
}

// --- Entries ---

// Words before the tag: who sees the tag sees them, or newer ones.
Status HopscotchTable::insert(Tag tag, const EntryWords& words) {
  host_.charge(Work::index);
  Bucket* bucket = free_bucket(home_of(tag, buckets_));
  if (bucket == nullptr) {
    REMORA_TRY(grow());
    bucket = free_bucket(home_of(tag, buckets_));
    if (bucket == nullptr) {
      return Status(Code::no_space, "the hash table is full; use a larger pool");
    }
  }
  store_words(*bucket, words);
  store(bucket->tag, tag);
  flush_entry(*bucket);
  ++size_;
  return {};
}

void HopscotchTable::set(Bucket& bucket, const EntryWords& words) {
  store_words(bucket, words);
  flush_entry(bucket);
}

void HopscotchTable::store_words(Bucket& bucket, const EntryWords& words) {
  for (std::size_t i = words.size(); i-- > 0;) {
    store(bucket.words[i], words[i]);
  }
}

void HopscotchTable::flush_entry(const Bucket& bucket) {
  if (!host_.faults().planted(kind_.entry_not_persisted)) {
    host_.flush(object_bytes(bucket));
  }
}

void HopscotchTable::erase(Bucket& bucket) {
  store(bucket.tag, 0);
  store_words(bucket, {});
  host_.flush(object_bytes(bucket));
  --size_;
}

// --- Hopscotch ---

// A free bucket in the neighbourhood: the nearest free one, brought closer by moving entries that
// may stand where it is.
Bucket* HopscotchTable::free_bucket(std::uint64_t home) {
  const std::uint64_t end = std::min<std::uint64_t>(home + search_buckets, all_.size());
  std::uint64_t free = home;
  while (free < end && all_[free].tag != 0) {
    ++free;
  }
  if (free == end) {
    return nullptr;
  }
  while (free - home >= neighbourhood) {
    std::uint64_t from = free - (neighbourhood - 1);
    while (from < free && free - home_of(all_[from].tag, buckets_) >= neighbourhood) {
      ++from;
    }
    if (from == free) {
      return nullptr;
    }
    move(all_[from], all_[free]);
    free = from;
  }
  return &all_[free];
}

// Moving is rare, so it waits where a ticket takes its time.
void HopscotchTable::move(Bucket& from, Bucket& to) {
  store_words(to, from.words);
  store(to.tag, from.tag);
  (void)host_.region().wait(host_.persist(object_bytes(to)));  // a failure stays with the region
  store(from.tag, 0);
  store_words(from, {});
  host_.flush(object_bytes(from));
}

// The larger table is filled before anything leads to it.
Status HopscotchTable::grow() {
  const Offset old_offset = offset_;
  const std::span<Bucket> old = all_;
  const std::uint64_t old_buckets = buckets_;
  const std::uint64_t buckets = 2 * old_buckets;
  REMORA_TRY_RESULT(offset, make(seed_, buckets, old_offset));
  take(*offset, seed_, buckets);
  if (!carry_over(old)) {
    take(old_offset, seed_, old_buckets);
    REMORA_TRY(pool_.cancel(*offset));
    return Status(Code::no_space, "the hash table is full; use a larger pool");
  }
  if (Status status = lead_to(*offset, buckets); !status.ok()) {
    take(old_offset, seed_, old_buckets);
    return status;
  }
  for (Bucket& bucket : old) {
    store(bucket.tag, 0);
  }
  ++generation_;
  return {};
}

bool HopscotchTable::carry_over(std::span<const Bucket> old) {
  host_.charge_copy(hopscotch_bytes(buckets_));
  for (const Bucket& entry : old) {
    if (entry.tag != 0) {
      Bucket* bucket = free_bucket(home_of(entry.tag, buckets_));
      if (bucket == nullptr) {
        return false;
      }
      *bucket = entry;
      ++size_;
    }
  }
  return true;
}

}  // namespace remora::kv
