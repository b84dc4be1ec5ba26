// Extents: which blocks are free, as runs. Finds the smallest run that is large enough, lowest
// place first. Volatile; its size is in proportion to the number of runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace remora {

class Extents {
 public:
  // Takes `count` blocks, or nothing when no free run has as many.
  std::optional<std::uint64_t> take(std::uint64_t count);

  // Gives blocks back; they join their free neighbours. They must not be free already.
  void give(std::uint64_t first, std::uint64_t count);

  std::uint64_t free_blocks() const { return free_blocks_; }
  // How many runs of `count` blocks there are, as neighbours of others or by themselves; and how
  // many there would be after take(taken), or nothing where that finds none.
  std::uint64_t runs_of(std::uint64_t count) const;
  std::optional<std::uint64_t> runs_after(std::uint64_t taken, std::uint64_t count) const;
  std::uint64_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  using ByPlace = std::map<std::uint64_t, std::uint64_t>;  // first block -> count

  void insert(std::uint64_t first, std::uint64_t count);
  void erase(ByPlace::iterator run);

  ByPlace by_place_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // (count, first block)
  std::uint64_t free_blocks_ = 0;
};

}  // namespace remora
