// Extents: which blocks are free, as runs. Finds the smallest run that is large enough, lowest
// place first. Volatile; its size is in proportion to the number of runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace remora {

struct BlockRun {
  std::uint64_t first;
  std::uint64_t count;

  bool operator==(const BlockRun&) const = default;
};

class Extents {
 public:
  // Takes `count` blocks, or nothing when no free run has as many.
  std::optional<std::uint64_t> take(std::uint64_t count);

  // Takes these blocks, or says false and nothing changes when one of them is not free.
  bool take_at(std::uint64_t first, std::uint64_t count);
  // Takes `count` blocks, or, where no run has as many, all of the largest run. Nothing when no
  // block is free.
  std::optional<BlockRun> take_most(std::uint64_t count);
  // How many free blocks there are in one piece from this one on.
  std::uint64_t free_from(std::uint64_t first) const;

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

  // The free run that holds this block, or the end.
  ByPlace::const_iterator holder_of(std::uint64_t block) const;
  void insert(std::uint64_t first, std::uint64_t count);
  void erase(ByPlace::iterator run);

  ByPlace by_place_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // (count, first block)
  std::uint64_t free_blocks_ = 0;
};

}  // namespace remora
