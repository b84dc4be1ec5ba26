#include "kv/erda/table.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"
#include "kv/erda/faults.h"

namespace remora::kv::erda {
namespace {

// How far a free bucket is looked for, before the table is called full.
constexpr std::uint64_t search_buckets = 256;

TableHead head_of(std::uint64_t seed, std::uint64_t buckets, Offset previous) {
  TableHead head{table_magic, 1, 0, seed, buckets, previous, {}};
  head.checksum = checksum_of(head);
  return head;
}

}  // namespace

void Table::store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

// --- How a table comes to be ---

Result<std::unique_ptr<Table>> Table::create(const Host& host, Pool& pool, std::uint64_t keys) {
  std::unique_ptr<Table> table(new Table(host, pool));
  const std::uint64_t buckets = std::bit_ceil(std::max<std::uint64_t>(16, keys * 3 / 2));
  const std::uint64_t seed = host.runtime().random().next();
  const Result<Offset> offset = table->make(seed, buckets, 0);
  REMORA_TRY(offset.ok() ? table->lead_to(*offset, buckets) : offset.status());
  table->take(*offset, seed, buckets);
  return table;
}

Result<std::unique_ptr<Table>> Table::open(const Host& host, Pool& pool) {
  const Result<Offset> offset = pool.root(root_name);
  if (!offset.ok()) {
    return offset.status();
  }
  const Bytes place = pool.object(*offset);
  TableHead head;
  std::memcpy(&head, place.data(), sizeof head);
  if (head.magic != table_magic || head.version != 1 || head.checksum != checksum_of(head) ||
      !std::has_single_bit(head.buckets) || head.buckets < 16 ||
      head.buckets > place.size() / sizeof(Bucket) || table_bytes(head.buckets) > place.size()) {
    return Status(Code::damaged,
                  "the hash table of the store fails its checks; restore the pool from a backup");
  }
  std::unique_ptr<Table> table(new Table(host, pool));
  table->take(*offset, head.seed, head.buckets);
  REMORA_TRY(table->free_replaced());
  return table;
}

// An empty table that nothing leads to.
Result<Offset> Table::make(std::uint64_t seed, std::uint64_t buckets, Offset previous) {
  const std::uint64_t size = table_bytes(buckets);
  const Result<Offset> offset = pool_.reserve(size, Account::store);
  if (!offset.ok()) {
    return offset.status();
  }
  const Bytes bytes = pool_.object(*offset).first(size);
  std::ranges::fill(bytes, std::byte{0});
  const TableHead head = head_of(seed, buckets, previous);
  std::memcpy(bytes.data(), &head, sizeof head);
  return *offset;
}

// The root leads to the table, which is persistent with all that is in it on return.
Status Table::lead_to(Offset offset, std::uint64_t buckets) {
  Transaction transaction;
  REMORA_TRY(transaction.publish(offset, table_bytes(buckets)));
  REMORA_TRY(transaction.set_root(root_name, offset));
  const Result<Ticket> ticket = pool_.commit(transaction);
  return ticket.ok() ? pool_.wait(*ticket) : ticket.status();
}

void Table::take(Offset offset, std::uint64_t seed, std::uint64_t buckets) {
  offset_ = offset;
  seed_ = seed;
  buckets_ = buckets;
  all_ = {reinterpret_cast<Bucket*>(pool_.region().data() + buckets_offset()),
          buckets + neighbourhood - 1};
  size_ = static_cast<std::uint64_t>(
      std::ranges::count_if(all_, [](const Bucket& bucket) { return bucket.tag != 0; }));
}

// The smallest step may be cut: what is left is freed the next time.
Status Table::free_replaced() {
  const Offset word = offset_ + offsetof(TableHead, previous);
  for (Offset previous = pool_.load(word); previous != 0; previous = pool_.load(word)) {
    Transaction transaction;
    REMORA_TRY(transaction.set(word, pool_.load(previous + offsetof(TableHead, previous))));
    REMORA_TRY(transaction.free(previous));
    const Result<Ticket> ticket = pool_.commit(transaction);
    REMORA_TRY(ticket.ok() ? pool_.wait(*ticket) : ticket.status());
  }
  return {};
}

// --- Entries ---

// Offsets before the tag: who sees the tag sees them, or newer ones.
Status Table::insert(Tag tag, std::uint64_t versions, std::uint64_t sizes) {
  host_.charge(Work::index);
  Bucket* bucket = free_bucket(home_of(tag, buckets_));
  if (bucket == nullptr) {
    REMORA_TRY(grow());
    bucket = free_bucket(home_of(tag, buckets_));
    if (bucket == nullptr) {
      return Status(Code::no_space, "the hash table is full; use a larger pool");
    }
  }
  store(bucket->versions, versions);
  store(bucket->sizes, sizes);
  store(bucket->tag, tag);
  if (!host_.faults().planted(faults::region_not_persisted)) {
    host_.flush(object_bytes(*bucket));
  }
  ++size_;
  return {};
}

void Table::set_versions(Bucket& bucket, std::uint64_t versions, std::uint64_t sizes) {
  store(bucket.sizes, sizes);
  store(bucket.versions, versions);
  if (!host_.faults().planted(faults::region_not_persisted)) {
    host_.flush(object_bytes(bucket));
  }
}

void Table::erase(Bucket& bucket) {
  store(bucket.tag, 0);
  store(bucket.versions, 0);
  host_.flush(object_bytes(bucket));
  --size_;
}

// --- Hopscotch ---

// A free bucket in the neighbourhood: the nearest free one, brought closer by moving entries that
// may stand where it is.
Bucket* Table::free_bucket(std::uint64_t home) {
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
void Table::move(Bucket& from, Bucket& to) {
  store(to.versions, from.versions);
  store(to.sizes, from.sizes);
  store(to.tag, from.tag);
  (void)host_.region().wait(host_.persist(object_bytes(to)));  // a failure stays with the region
  store(from.tag, 0);
  store(from.versions, 0);
  host_.flush(object_bytes(from));
}

// The larger table is filled before anything leads to it.
Status Table::grow() {
  const Offset old_offset = offset_;
  const std::span<Bucket> old = all_;
  const std::uint64_t old_buckets = buckets_;
  const std::uint64_t buckets = 2 * old_buckets;
  const Result<Offset> offset = make(seed_, buckets, old_offset);
  if (!offset.ok()) {
    return offset.status();
  }
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

bool Table::carry_over(std::span<const Bucket> old) {
  host_.charge_copy(table_bytes(buckets_));
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

}  // namespace remora::kv::erda
