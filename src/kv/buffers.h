// Buffers: registered memory of a client, for values on their way. Pieces of any size up to the
// whole; a piece that is not there now is waited for. Sizes are powers of two inside (a buddy
// allocator), so that nothing fragments for good; free halves are joined when a larger piece is
// wanted, not before, since most pieces are of one size.
//
// One thread, the loop's. No allocation after construction.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fabric/device.h"
#include "runtime/runtime.h"

namespace remora::kv {

class Buffers;

// A piece of the memory; gives itself back when it goes.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffers& owner, std::size_t offset, unsigned order, std::size_t size_bytes)
      : owner_(&owner), offset_(offset), order_(order), size_bytes_(size_bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  inline ~Buffer();

  inline Bytes bytes() const;
  inline fabric::Sge piece(std::size_t offset, std::size_t size_bytes) const;

 private:
  void swap(Buffer& other) {
    std::swap(owner_, other.owner_);
    std::swap(offset_, other.offset_);
    std::swap(order_, other.order_);
    std::swap(size_bytes_, other.size_bytes_);
  }

  Buffers* owner_ = nullptr;
  std::size_t offset_ = 0;
  unsigned order_ = 0;
  std::size_t size_bytes_ = 0;
};

// `Buffer buffer = co_await buffers.take(size)` goes on when there is one. Awaited at once; where
// one is free nothing is suspended, and nothing is allocated in any case.
class [[nodiscard]] BufferWait final : private Waiter {
 public:
  BufferWait(Buffers& owner, std::size_t size_bytes) : owner_(owner), size_bytes_(size_bytes) {}

  inline bool await_ready();
  void await_suspend(std::coroutine_handle<> flow);
  inline Buffer await_resume();

 private:
  void expire() override;

  Buffers& owner_;
  const std::size_t size_bytes_;
  std::size_t offset_ = 0;
};

class Buffers {
 public:
  static constexpr unsigned smallest_order = 9;  // 512 B

  // At least so many bytes, a power of two.
  static Result<std::unique_ptr<Buffers>> create(Runtime& runtime, fabric::ProtectionDomain& domain,
                                                 std::size_t size_bytes);

  std::size_t largest_bytes() const { return memory_.size(); }
  // Waits until there is one; at most largest_bytes().
  BufferWait take(std::size_t size_bytes) { return BufferWait(*this, size_bytes); }

 private:
  friend class Buffer;
  friend class BufferWait;
  Buffers(Runtime& runtime, std::size_t size_bytes);
  static unsigned order_for(std::size_t size_bytes) {
    return std::max(smallest_order, static_cast<unsigned>(
                                        std::bit_width(std::max<std::size_t>(size_bytes, 1) - 1)));
  }
  // Most find a piece of their size that somebody has given back.
  bool try_take(unsigned order, std::size_t& offset) {
    if (order >= free_.size() || free_[order].empty()) [[unlikely]] {
      return split_or_join(order, offset);
    }
    offset = free_[order].back();
    free_[order].pop_back();
    free_order_[offset >> smallest_order] = 0;
    return true;
  }
  bool split_or_join(unsigned order, std::size_t& offset);
  bool split(unsigned order, std::size_t& offset);
  void give_back(std::size_t offset, unsigned order) {
    free_[order].push_back(offset);
    free_order_[offset >> smallest_order] = static_cast<std::uint8_t>(order);
  }
  void join_all();

  Runtime& runtime_;
  std::vector<std::byte> storage_;
  Bytes memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::vector<std::vector<std::size_t>> free_;  // offsets, by order
  std::vector<std::uint8_t> free_order_;        // of the free piece that begins here, or 0
  std::vector<std::size_t> joining_;
};

inline Buffer::~Buffer() {
  if (owner_ != nullptr) {
    owner_->give_back(offset_, order_);
  }
}

inline Bytes Buffer::bytes() const {
  return owner_->memory_.subspan(offset_, size_bytes_);
}

inline fabric::Sge Buffer::piece(std::size_t offset, std::size_t size_bytes) const {
  return owner_->region_->piece(offset_ + offset, size_bytes);
}

inline bool BufferWait::await_ready() {
  REMORA_CHECK(size_bytes_ <= owner_.memory_.size(), "a buffer is larger than all of the memory");
  return owner_.try_take(Buffers::order_for(size_bytes_), offset_);
}

inline Buffer BufferWait::await_resume() {
  return Buffer(owner_, offset_, Buffers::order_for(size_bytes_), size_bytes_);
}

}  // namespace remora::kv
