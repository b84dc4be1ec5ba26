#include "lab/run/medium.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/check.h"
#include "base/crc32c.h"

namespace remora::store_bench {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
// Of what was taken: more than all cores may have ahead of them.
constexpr std::size_t most_spans = 256;
constexpr std::uint32_t changed_bit = std::uint32_t{1} << 31;

std::uint32_t checksum_of_zeros() {
  static const std::uint32_t checksum = crc32c(std::array<std::byte, cache_line_bytes>{});
  return checksum;
}

}  // namespace

std::uint64_t Medium::taken_at_ns(std::uint64_t bytes, std::uint64_t at_ns) {
  std::uint64_t left_ns = (bytes * ns_per_s + write_bytes_per_s_ - 1) / write_bytes_per_s_;
  busy_ns_ += left_ns;
  while (left_ns != 0) {
    const auto next = std::ranges::upper_bound(taken_, at_ns, {}, &Span::end_ns);
    if (next != taken_.end() && next->begin_ns <= at_ns) {
      at_ns = next->end_ns;
      continue;
    }
    const std::uint64_t free_ns = next == taken_.end() ? left_ns : next->begin_ns - at_ns;
    const std::uint64_t taken_ns = std::min(left_ns, free_ns);
    take({at_ns, at_ns + taken_ns});
    at_ns += taken_ns;
    left_ns -= taken_ns;
  }
  return at_ns;
}

// What is free before and behind it stays so.
void Medium::take(const Span& span) {
  const auto at = std::ranges::lower_bound(taken_, span.end_ns, {}, &Span::begin_ns);
  const bool joins_next = at != taken_.end() && at->begin_ns == span.end_ns;
  const bool joins_last = at != taken_.begin() && std::prev(at)->end_ns == span.begin_ns;
  if (joins_next && joins_last) {
    std::prev(at)->end_ns = at->end_ns;
    taken_.erase(at);
  } else if (joins_next) {
    at->begin_ns = span.begin_ns;
  } else if (joins_last) {
    std::prev(at)->end_ns = span.end_ns;
  } else {
    taken_.insert(at, span);
  }
  if (taken_.size() > most_spans) {
    taken_.erase(taken_.begin());
  }
}

CachedLines::CachedLines(const fabric::nic::sim::MemoryProfile& memory, ConstBytes region,
                         Medium& medium)
    : memory_(memory),
      region_(region),
      medium_(medium),
      lines_(static_cast<std::uint32_t*>(
          std::calloc(region.size() / cache_line_bytes + 1, sizeof(std::uint32_t)))) {
  REMORA_CHECK(lines_ != nullptr, "no memory for the lines of the modelled pool");
}

// The lines that the range touches, cut to the region.
std::uint64_t CachedLines::begin_of(ConstBytes range) const {
  return range.data() <= region_.data()
             ? 0
             : static_cast<std::uint64_t>(range.data() - region_.data()) / cache_line_bytes;
}

std::uint64_t CachedLines::end_of(ConstBytes range) const {
  const std::byte* const end =
      std::min(range.data() + range.size(), region_.data() + region_.size());
  return end <= region_.data()
             ? 0
             : (static_cast<std::uint64_t>(end - region_.data()) + cache_line_bytes - 1) /
                   cache_line_bytes;
}

// 0 for a line of zeros.
std::uint32_t CachedLines::content_of(std::uint64_t line) const {
  const std::uint64_t at = line * cache_line_bytes;
  const ConstBytes bytes =
      region_.subspan(at, std::min<std::uint64_t>(cache_line_bytes, region_.size() - at));
  return (crc32c(bytes) ^ checksum_of_zeros()) & ~changed_bit;
}

void CachedLines::changed(ConstBytes range) {
  if (range.empty()) {
    return;
  }
  const std::uint64_t end = end_of(range);
  for (std::uint64_t line = begin_of(range); line < end; ++line) {
    lines_[line] |= changed_bit;
  }
}

std::uint64_t CachedLines::write_back_ns(ConstBytes range, std::uint64_t at_ns) {
  if (range.empty()) {
    return 0;
  }
  std::uint64_t dirty = 0;
  std::uint64_t clean = 0;
  const std::uint64_t end = end_of(range);
  for (std::uint64_t line = begin_of(range); line < end; ++line) {
    const std::uint32_t content = content_of(line);
    (lines_[line] != content ? dirty : clean) += 1;
    lines_[line] = content;
  }
  dirty_lines_ += dirty;
  clean_lines_ += clean;
  const std::uint64_t core_ns = dirty * memory_.flush_line_ns + clean * memory_.flush_clean_line_ns;
  if (dirty == 0) {
    return core_ns;
  }
  const std::uint64_t taken_ns = medium_.taken_at_ns(dirty * cache_line_bytes, at_ns);
  return std::max(core_ns, taken_ns - at_ns);
}

}  // namespace remora::store_bench
