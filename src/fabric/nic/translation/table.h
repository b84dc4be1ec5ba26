// Table: objects by a number that nobody can guess. A number is an index and chance, so that
// finding is one load and one compare, and a number that was given back is worth nothing.
//
// The table owns nothing. It grows when objects are added, never while they are looked up.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/nic/translation/keys.h"

namespace remora::fabric::nic {

template <typename T, unsigned index_bits, unsigned number_bits>
class Table {
 public:
  // The number of the object from here on; 0, which nobody has, when the table is full.
  std::uint32_t add(T& object, Keys& keys) {
    const std::uint32_t index = take_index();
    if (index == 0) {
      return 0;
    }
    Slot& slot = slots_[index];
    const std::uint32_t before = slot.number;
    while (slot.number == before || slot.number >> index_bits == 0) {
      slot.number = ((keys.next() << index_bits) & number_mask) | index;
    }
    slot.object = &object;
    return slot.number;
  }

  void remove(std::uint32_t number) {
    slots_[number & index_mask].object = nullptr;
    free_.push_back(number & index_mask);
  }

  // Null for a number that nobody has.
  T* find(std::uint32_t number) const {
    const std::uint32_t index = number & index_mask;
    if (index >= slots_.size() || slots_[index].number != number) [[unlikely]] {
      return nullptr;
    }
    return slots_[index].object;
  }

  // Calls visit(object) for each. The visit adds and removes nothing.
  template <typename Visit>
  void for_each(Visit visit) {
    for (const Slot& slot : slots_) {
      if (slot.object != nullptr) {
        visit(*slot.object);
      }
    }
  }

 private:
  // The number stays when the object goes, so that the next one differs from it.
  struct Slot {
    std::uint32_t number = 0;
    T* object = nullptr;
  };

  static constexpr std::uint32_t index_mask = (1U << index_bits) - 1;
  static constexpr std::uint32_t number_mask =
      static_cast<std::uint32_t>((1ULL << number_bits) - 1);

  // The first and the last index are never given out: no number is all zeros or all ones.
  std::uint32_t take_index() {
    if (!free_.empty()) {
      const std::uint32_t index = free_.back();
      free_.pop_back();
      return index;
    }
    if (slots_.size() >= index_mask) {
      return 0;
    }
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1);
  std::vector<std::uint32_t> free_;
};

}  // namespace remora::fabric::nic
