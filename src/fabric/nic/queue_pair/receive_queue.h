// ReceiveQueue: receives that were posted and not consumed, oldest first. All memory is taken when
// it is made. One that takes from a shared queue holds at most one: that of the message under way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/queue_pair.h"
#include "fabric/work.h"

namespace remora::fabric::nic {

class SharedQueue;

class ReceiveQueue {
 public:
  ReceiveQueue(std::uint32_t capacity, std::uint32_t max_pieces, SharedQueue* shared = nullptr)
      : shared_(shared),
        capacity_(capacity),
        max_pieces_(max_pieces),
        mask_(std::bit_ceil(capacity) - 1),
        entries_(mask_ + 1),
        pieces_(std::size_t{mask_ + 1} * max_pieces_) {}

  bool empty() const { return head_ == tail_; }
  bool full() const { return tail_ - head_ >= capacity_; }
  std::uint32_t size() const { return tail_ - head_; }

  // Of an empty one: takes the oldest of the shared queue, if there is one of both.
  bool take_shared();

  // The oldest. The queue must not be empty.
  std::uint64_t front_id() const { return entries_[head_ & mask_].id; }
  std::span<const Sge> front_pieces() const {
    return {pieces_.data() + std::size_t{head_ & mask_} * max_pieces_,
            entries_[head_ & mask_].pieces};
  }

  // Not when full; the pieces are as many as the queue was made for, at most.
  void push(const ReceiveWork& work) {
    entries_[tail_ & mask_] = {work.id, work.pieces.size()};
    std::copy(work.pieces.begin(), work.pieces.end(),
              pieces_.begin() + static_cast<std::ptrdiff_t>((tail_ & mask_) * max_pieces_));
    ++tail_;
  }
  void pop() { ++head_; }
  void clear() { head_ = tail_; }

 private:
  struct Entry {
    std::uint64_t id = 0;
    std::size_t pieces = 0;
  };

  SharedQueue* const shared_;  // null: none
  const std::uint32_t capacity_;
  const std::uint32_t max_pieces_;
  const std::uint32_t mask_;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::vector<Entry> entries_;
  std::vector<Sge> pieces_;
};

}  // namespace remora::fabric::nic
