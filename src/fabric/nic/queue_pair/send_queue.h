// SendQueue: what was posted and has not completed, oldest first. Entries are named by how many
// were pushed before them. All memory is taken when it is made.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/work_shape.h"
#include "fabric/opcodes.h"
#include "fabric/queue_pair.h"
#include "fabric/types.h"
#include "fabric/work.h"

namespace remora::fabric::nic {

struct SendEntry {
  std::uint64_t id = 0;
  // As a SendWork has them, so that they are copied at once.
  Opcode opcode = Opcode::send;
  bool signalled = false;
  bool inline_data = false;
  bool fence = false;
  bool solicited = false;
  std::uint8_t piece_count = 0;
  WorkStatus failure = WorkStatus::success;  // why it cannot be sent
  RemoteAddress remote = {};
  std::uint64_t compare = 0;
  std::uint64_t operand = 0;
  std::uint32_t size_bytes = 0;  // of the message; of what a READ fetches; of the range of a FLUSH
  std::uint32_t immediate = 0;
  PacketSequence first = 0;   // its first sequence number,
  std::uint32_t packets = 0;  // and how many it takes
  FlushPlacement flush_placement = FlushPlacement::persistence;
  FlushSelect flush_select = FlushSelect::range;

  // As the opcode's row says.
  bool is_answered() const { return fabric::is_answered(opcode); }
  bool brings_bytes() const { return fabric::brings_bytes(opcode); }
  PacketSequence end() const { return psn_add(first, packets); }
};

class SendQueue {
 public:
  explicit SendQueue(const QueuePairOptions& options)
      : capacity_(options.max_sends),
        max_pieces_(options.max_pieces),
        max_inline_(options.max_inline_bytes),
        mask_(std::bit_ceil(options.max_sends) - 1),
        entries_(mask_ + 1),
        pieces_(std::size_t{mask_ + 1} * max_pieces_),
        inline_(std::size_t{mask_ + 1} * max_inline_),
        words_(mask_ + 1) {}

  std::uint32_t head() const { return head_; }
  std::uint32_t tail() const { return tail_; }
  bool empty() const { return head_ == tail_; }
  bool full() const { return tail_ - head_ == capacity_; }

  SendEntry& at(std::uint32_t name) { return entries_[name & mask_]; }
  SendEntry& front() { return at(head_); }
  std::span<const Sge> pieces(std::uint32_t name) {
    return {pieces_.data() + std::size_t{name & mask_} * max_pieces_, at(name).piece_count};
  }
  ConstBytes inline_bytes(std::uint32_t name) {
    return {inline_.data() + std::size_t{name & mask_} * max_inline_, at(name).size_bytes};
  }

  // Where the value of a FLUSH with payload goes.
  const RemoteAddress& word(std::uint32_t name) const { return words_[name & mask_]; }

  // Copies the request; its sequence numbers are for the caller to set. Not when full.
  SendEntry& push(const SendWork& work, std::uint32_t size_bytes) {
    SendEntry& entry = at(tail_);
    // Field by field: an entry that is built elsewhere and copied stalls on its small fields. But
    // those that lie side by side in both go as one word.
    const std::size_t kept = work.inline_data ? 0 : work.pieces.size();
    entry.id = work.id;
    const std::uint64_t flags = work_shape(work) | std::uint64_t{kept} << work_shape_bits;
    static_assert(offsetof(SendEntry, opcode) == 8 && offsetof(SendEntry, signalled) == 9 &&
                  offsetof(SendEntry, inline_data) == 10 && offsetof(SendEntry, fence) == 11 &&
                  offsetof(SendEntry, solicited) == 12 && offsetof(SendEntry, piece_count) == 13 &&
                  offsetof(SendEntry, failure) == 14 && WorkStatus::success == WorkStatus{});
    std::memcpy(reinterpret_cast<std::byte*>(&entry) + 8, &flags, sizeof flags);
    entry.remote = work.remote;
    entry.compare = work.compare;
    entry.operand = work.operand;
    entry.size_bytes = size_bytes;
    entry.immediate = work.immediate;
    entry.flush_placement = work.flush_placement;
    entry.flush_select = work.flush_select;
    if (kept == 1) [[likely]] {
      pieces_[std::size_t{tail_ & mask_} * max_pieces_] = work.pieces[0];
    } else {
      keep_bytes(work);
    }
    ++tail_;
    return entry;
  }
  void pop() { ++head_; }
  void clear() { head_ = tail_; }

 private:
  void keep_bytes(const SendWork& work);

  const std::uint32_t capacity_;
  const std::uint32_t max_pieces_;
  const std::uint32_t max_inline_;
  const std::uint32_t mask_;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::vector<SendEntry> entries_;
  std::vector<Sge> pieces_;
  std::vector<std::byte> inline_;
  std::vector<RemoteAddress> words_;
};

}  // namespace remora::fabric::nic
