// Buffer: bytes of one connection, what came and was not run or what could not be sent yet. Its
// room is never filled in advance; with the last byte it goes, but for a little. Spares: large
// blocks that were used a moment ago, for whichever connection needs one next. From the system they
// would come page by page, each with a fault, which takes longer than to copy what they are for.
//
// One thread. The spares outlive their buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "front/resp/limits.h"

namespace remora::resp {

class Spares {
 public:
  struct Block {
    std::unique_ptr<char[]> data;
    std::size_t size = 0;
  };

  // At least so large, and not much larger.
  Block take(std::size_t size) {
    if (size >= limits::spare_least_bytes) {
      for (std::size_t i = blocks_.size(); i-- > 0;) {
        if (blocks_[i].size >= size && blocks_[i].size / 4 <= size) {
          std::swap(blocks_[i], blocks_.back());
          Block found = std::move(blocks_.back());
          blocks_.pop_back();
          bytes_ -= found.size;
          return found;
        }
      }
    }
    return {std::make_unique_for_overwrite<char[]>(size), size};
  }
  void give(Block block) {
    if (block.size >= limits::spare_least_bytes && bytes_ + block.size <= limits::spare_bytes) {
      bytes_ += block.size;
      blocks_.push_back(std::move(block));
    }
  }
  std::size_t bytes() const { return bytes_; }
  void clear() {
    std::vector<Block>().swap(blocks_);
    bytes_ = 0;
  }

 private:
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

class Buffer {
 public:
  explicit Buffer(Spares& spares) : spares_(spares) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  std::string_view bytes() const { return {block_.data.get(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return block_.size; }

  // These bytes alone, which lie elsewhere, with room for so many in all.
  void assign(std::string_view bytes, std::size_t capacity) {
    size_ = 0;
    if (block_.size < capacity || is_wasted(capacity)) {
      release();
    }
    reserve(capacity);
    append(bytes);
  }
  void append(std::string_view bytes) {
    if (bytes.empty()) {
      return;  // there may be no block, and then no place to copy to
    }
    if (block_.size - size_ < bytes.size()) {
      reserve(std::max(size_ + bytes.size(), 2 * block_.size));
    }
    std::memcpy(block_.data.get() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  // Room for so many bytes in all.
  void reserve(std::size_t capacity) {
    if (block_.size < capacity) {
      move_to(capacity, 0);
    }
  }
  // Room behind the bytes, and that so much of it was filled.
  std::span<char> room() { return {block_.data.get() + size_, block_.size - size_}; }
  void add(std::size_t count) { size_ += count; }

  // Takes bytes away from the front.
  void drop(std::size_t count) {
    if (count == size_) {
      size_ = 0;
      if (block_.size > limits::idle_buffer_bytes) {
        release();
      }
    } else if (count != 0 && is_wasted(size_ - count)) {
      move_to(size_ - count, count);
    } else if (count != 0) {
      size_ -= count;
      std::memmove(block_.data.get(), block_.data.get() + count, size_);
    }
  }
  void release() {
    spares_.give(std::exchange(block_, {}));
    size_ = 0;
  }

 private:
  bool is_wasted(std::size_t wanted) const {
    return block_.size > limits::idle_buffer_bytes && block_.size / 8 > wanted;
  }
  // What stays when the first so many bytes go, to another block.
  void move_to(std::size_t capacity, std::size_t dropped) {
    Spares::Block block = spares_.take(capacity);
    size_ -= dropped;
    if (size_ != 0) {
      std::memcpy(block.data.get(), block_.data.get() + dropped, size_);
    }
    spares_.give(std::exchange(block_, std::move(block)));
  }

  Spares& spares_;
  Spares::Block block_;
  std::size_t size_ = 0;
};

}  // namespace remora::resp
