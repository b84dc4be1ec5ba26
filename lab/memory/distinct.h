// DistinctHashes: how many different 64-bit hashes were seen. A flat table that is kept over
// clear(), so that counting allocates only while it grows. Used by one thread.
#pragma once

#include <cstdint>
#include <vector>

namespace remora {

class DistinctHashes {
 public:
  // Returns whether the hash is new.
  bool insert(std::uint64_t hash) {
    if (hash == empty) {
      const bool added = !has_empty_;
      has_empty_ = true;
      return added;
    }
    if ((count_ + 1) * 2 > slots_.size()) {
      grow();
    }
    if (!put(hash)) {
      return false;
    }
    ++count_;
    return true;
  }

  std::uint64_t count() const { return count_ + (has_empty_ ? 1 : 0); }

  template <typename Visit>
  void for_each(Visit visit) const {
    if (has_empty_) {
      visit(empty);
    }
    for (const std::uint64_t hash : slots_) {
      if (hash != empty) {
        visit(hash);
      }
    }
  }

  void clear() {
    slots_.assign(slots_.size(), empty);
    count_ = 0;
    has_empty_ = false;
  }

 private:
  static constexpr std::uint64_t empty = 0;

  bool put(std::uint64_t hash) {
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != empty) {
      if (slots_[slot] == hash) {
        return false;
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = hash;
    return true;
  }

  void grow() {
    std::vector<std::uint64_t> old(slots_.empty() ? 1024 : slots_.size() * 2, empty);
    old.swap(slots_);
    for (const std::uint64_t hash : old) {
      if (hash != empty) {
        put(hash);
      }
    }
  }

  std::vector<std::uint64_t> slots_;  // a power of two
  std::uint64_t count_ = 0;
  bool has_empty_ = false;
};

}  // namespace remora
