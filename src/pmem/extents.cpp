#include "pmem/extents.h"

#include <iterator>

#include "base/check.h"

namespace remora {

std::optional<std::uint64_t> Extents::take(std::uint64_t count) {
  const auto found = by_size_.lower_bound({count, 0});
  if (found == by_size_.end()) {
    return std::nullopt;
  }
  const auto [have, first] = *found;
  erase(by_place_.find(first));
  if (have > count) {
    insert(first + count, have - count);
  }
  return first;
}

Extents::ByPlace::const_iterator Extents::holder_of(std::uint64_t block) const {
  auto run = by_place_.upper_bound(block);
  if (run == by_place_.begin()) {
    return by_place_.end();
  }
  --run;
  return block < run->first + run->second ? run : by_place_.end();
}

std::uint64_t Extents::free_from(std::uint64_t first) const {
  const auto run = holder_of(first);
  return run == by_place_.end() ? 0 : run->first + run->second - first;
}

bool Extents::take_at(std::uint64_t first, std::uint64_t count) {
  if (count == 0 || free_from(first) < count) {
    return false;
  }
  const auto [begin, have] = *holder_of(first);
  erase(by_place_.find(begin));
  if (begin < first) {
    insert(begin, first - begin);
  }
  if (first + count < begin + have) {
    insert(first + count, begin + have - first - count);
  }
  return true;
}

std::optional<BlockRun> Extents::take_most(std::uint64_t count) {
  const std::uint64_t most = largest() < count ? largest() : count;
  if (most == 0) {
    return std::nullopt;
  }
  return BlockRun{*take(most), most};
}

void Extents::give(std::uint64_t first, std::uint64_t count) {
  auto next = by_place_.lower_bound(first);
  REMORA_CHECK(next == by_place_.end() || first + count <= next->first, "blocks freed twice");
  if (next != by_place_.begin()) {
    const auto before = std::prev(next);
    REMORA_CHECK(before->first + before->second <= first, "blocks freed twice");
    if (before->first + before->second == first) {
      first = before->first;
      count += before->second;
      erase(before);
    }
  }
  next = by_place_.lower_bound(first);
  if (next != by_place_.end() && first + count == next->first) {
    count += next->second;
    erase(next);
  }
  insert(first, count);
}

std::uint64_t Extents::runs_of(std::uint64_t count) const {
  std::uint64_t runs = 0;
  for (auto run = by_size_.lower_bound({count, 0}); run != by_size_.end(); ++run) {
    runs += run->first / count;
  }
  return runs;
}

std::optional<std::uint64_t> Extents::runs_after(std::uint64_t taken, std::uint64_t count) const {
  const auto found = by_size_.lower_bound({taken, 0});
  if (found == by_size_.end()) {
    return std::nullopt;
  }
  return runs_of(count) - found->first / count + (found->first - taken) / count;
}

void Extents::insert(std::uint64_t first, std::uint64_t count) {
  by_place_.emplace(first, count);
  by_size_.emplace(count, first);
  free_blocks_ += count;
}

void Extents::erase(ByPlace::iterator run) {
  free_blocks_ -= run->second;
  by_size_.erase({run->second, run->first});
  by_place_.erase(run);
}

}  // namespace remora
