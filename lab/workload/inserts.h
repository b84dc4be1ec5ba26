// Who has inserted what: N clients number their inserts without asking each other, and each can
// tell whether a key of another is there to be read.
//
// The records of the load phase are the keys 0 .. records - 1. The j-th insert of client i is the
// key records + j * N + i. Each client publishes how many of its inserts were acknowledged, in a
// cache line of its own; there is no lock. Where clients live in different processes, each has its
// own Inserts, and sees the keys of the others as absent.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/check.h"

namespace remora::workload {

// Shared by all clients. Any thread; publish only by the client that it names.
class Inserts {
 public:
  // Both are at least 1.
  Inserts(std::uint64_t records, std::uint32_t clients)
      : records_(records), clients_(clients), by_client_(new Line[clients]) {
    REMORA_CHECK(records > 0 && clients > 0, "a workload has records and clients");
  }

  std::uint64_t records() const { return records_; }
  std::uint32_t clients() const { return clients_; }

  std::uint64_t number(std::uint32_t client, std::uint64_t index) const {
    return records_ + index * clients_ + client;
  }
  // The reverse, for keys that were inserted.
  std::uint32_t client_of(std::uint64_t key) const {
    return static_cast<std::uint32_t>((key - records_) % clients_);
  }
  std::uint64_t index_of(std::uint64_t key) const { return (key - records_) / clients_; }

  // How many inserts were acknowledged: of one client, of all.
  std::uint64_t inserted_by(std::uint32_t client) const {
    return by_client_[client].count.load(std::memory_order_acquire);
  }
  std::uint64_t inserted() const { return all_.count.load(std::memory_order_acquire); }

  // Whether the key was loaded, or its insert acknowledged.
  bool exists(std::uint64_t key) const {
    return key < records_ || index_of(key) < inserted_by(client_of(key));
  }

  // The first `count` inserts of the client are acknowledged.
  void publish(std::uint32_t client, std::uint64_t count) {
    const std::uint64_t before = inserted_by(client);
    by_client_[client].count.store(count, std::memory_order_release);
    all_.count.fetch_add(count - before, std::memory_order_release);
  }

 private:
  struct alignas(cache_line_bytes) Line {
    std::atomic<std::uint64_t> count = 0;
  };

  std::uint64_t records_;
  std::uint32_t clients_;
  std::unique_ptr<Line[]> by_client_;
  Line all_;
};

// The inserts that one client has under way. They may be acknowledged in any order; one that failed
// gives its index back, and the next insert takes it again, so that no hole remains.
// Threads: one at a time.
class InsertWindow {
 public:
  // How far the newest may be ahead of the oldest that is not acknowledged.
  static constexpr unsigned capacity = 64;

  bool full() const { return ~(under_way_ | acknowledged_) == 0; }

  // The lowest index that is free. To take from a full window is a bug.
  std::uint64_t take() {
    REMORA_CHECK(!full(), "64 inserts of one client wait for `inserted` or `failed`");
    const auto place = static_cast<unsigned>(std::countr_one(under_way_ | acknowledged_));
    under_way_ |= std::uint64_t{1} << place;
    return first_ + place;
  }

  void acknowledge(std::uint64_t index) {
    const std::uint64_t bit = end(index);
    acknowledged_ |= bit;
    const auto done = static_cast<unsigned>(std::countr_one(acknowledged_));
    first_ += done;
    acknowledged_ = done == capacity ? 0 : acknowledged_ >> done;
    under_way_ = done == capacity ? 0 : under_way_ >> done;
  }

  void give_back(std::uint64_t index) { (void)end(index); }

  // All indices below this are acknowledged.
  std::uint64_t count() const { return first_; }

 private:
  std::uint64_t end(std::uint64_t index) {
    REMORA_CHECK(index >= first_ && index - first_ < capacity, "no such insert is under way");
    const std::uint64_t bit = std::uint64_t{1} << (index - first_);
    REMORA_CHECK((under_way_ & bit) != 0, "no such insert is under way");
    under_way_ &= ~bit;
    return bit;
  }

  std::uint64_t first_ = 0;
  std::uint64_t under_way_ = 0;     // bit k: index first_ + k
  std::uint64_t acknowledged_ = 0;  // beyond first_, which itself is not
};

}  // namespace remora::workload
