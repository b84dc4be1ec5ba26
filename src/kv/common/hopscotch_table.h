// HopscotchTable: a hash table in persistent memory (hopscotch_format.h), written by the server
// alone. Every word that a peer READs is stored atomically. Erda has it, and eFactory as published.
//
// What a cut leaves of an entry that was being made is an entry without a tag, or one whose words
// do not lead to its key: recovery forgets both. An entry that moves to another bucket is
// persistent there before it goes; a cut in between leaves it twice, and recovery keeps one.
//
// A table that is too full is replaced by one twice its size, with one transaction. The old one is
// emptied, for readers who are still there, and freed by the next recovery.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "host/host.h"
#include "kv/common/hopscotch_format.h"
#include "pmem/pool.h"

namespace remora::kv {

class HopscotchTable {
 public:
  // An empty table for so many keys, or a little more. The kind outlives it.
  static Result<std::unique_ptr<HopscotchTable>> create(const Host& host, Pool& pool,
                                                        const HopscotchKind& kind,
                                                        std::uint64_t keys);
  // The one that is there; not_found when there is none. Frees tables that it has replaced.
  static Result<std::unique_ptr<HopscotchTable>> open(const Host& host, Pool& pool,
                                                      const HopscotchKind& kind);

  IndexGeometry geometry() const { return {seed_, buckets_}; }
  Offset offset() const { return offset_; }
  // Where the buckets begin.
  Offset buckets_offset() const { return offset_ + sizeof(HopscotchHead); }
  std::uint64_t generation() const { return generation_; }
  std::uint64_t size() const { return size_; }

  Tag tag(ConstBytes key) const { return geometry().tag(key); }
  // The bucket with the tag for which is_mine(const Bucket&) says yes, or none.
  template <typename IsMine>
  Bucket* find(Tag tag, const IsMine& is_mine) const {
    host_.charge(Work::index);
    for (Bucket& bucket : around(home_of(tag, buckets_))) {
      if (bucket.tag == tag && is_mine(bucket)) {
        return &bucket;
      }
    }
    return nullptr;
  }
  // A new entry; the table may be replaced by a larger one, and then all buckets are others. The
  // caller drains.
  Status insert(Tag tag, const EntryWords& words);
  // Stores the words of an entry, the first one last; the caller drains.
  void set(Bucket& bucket, const EntryWords& words);
  // Forgets an entry; the caller drains.
  void erase(Bucket& bucket);

  std::span<Bucket> all() const { return all_; }
  // The entries whose home is the home of `from`: visit(const Bucket&). Returns the first tag of
  // the next home, 0 at the end.
  template <typename Visit>
  Tag scan(Tag from, const Visit& visit) const {
    const std::uint64_t home = home_of(from, buckets_);
    for (const Bucket& bucket : around(home)) {
      if (bucket.tag != 0 && home_of(bucket.tag, buckets_) == home) {
        visit(bucket);
      }
    }
    return home + 1 < buckets_ ? (home + 1) << (64 - std::countr_zero(buckets_)) : 0;
  }

 private:
  HopscotchTable(const Host& host, Pool& pool, const HopscotchKind& kind)
      : host_(host), pool_(pool), kind_(kind) {}
  void take(Offset offset, std::uint64_t seed, std::uint64_t buckets);
  Result<Offset> make(std::uint64_t seed, std::uint64_t buckets, Offset previous);
  Status lead_to(Offset offset, std::uint64_t buckets);
  std::span<Bucket> around(std::uint64_t home) const { return all_.subspan(home, neighbourhood); }
  Bucket* free_bucket(std::uint64_t home);
  void move(Bucket& from, Bucket& to);
  Status grow();
  bool carry_over(std::span<const Bucket> old);
  Status free_replaced();
  static void store_words(Bucket& bucket, const EntryWords& words);
  void flush_entry(const Bucket& bucket);
  static void store(std::uint64_t& word, std::uint64_t value);

  const Host host_;
  Pool& pool_;
  const HopscotchKind& kind_;
  Offset offset_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t buckets_ = 0;
  std::span<Bucket> all_;
  std::uint64_t size_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace remora::kv
