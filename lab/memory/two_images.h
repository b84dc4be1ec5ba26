// TwoImages: what the machine sees, and what the medium holds.
//
// The visible image is plain memory; whoever has its address stores into it, and nobody is told.
// The durable image changes only through this class, a word of 8 bytes at a time, and each durable
// word has a time: the tick at which its value was read from the visible image (not the tick at
// which it arrived on the medium). A value goes to the medium only if it was read later than the
// value there. So the medium never goes back from a newer value to an older one, in whichever order
// snapshots, early write-backs and DMA arrive.
//
// Used by one thread. Nothing here allocates but the constructor and growing caller's vectors.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace remora {

using WordIndex = std::uint32_t;
using LineIndex = std::uint32_t;
using PageIndex = std::uint32_t;
using Tick = std::uint64_t;

inline constexpr std::size_t words_per_line = cache_line_bytes / word_bytes;
inline constexpr std::size_t lines_per_page = page_bytes / cache_line_bytes;

// A line as it was, on its way to the medium.
struct LineSnapshot {
  LineIndex line = 0;
  Tick taken_at = 0;
  std::array<std::uint64_t, words_per_line> words = {};
};

class TwoImages {
 public:
  // Both images zero. The size is a multiple of the page size, and not 0.
  explicit TwoImages(std::size_t size_bytes);

  // Both images become `image`, which has the size of this, and may be the visible image itself.
  // Time goes on, so that every value read from here on is newer than all before.
  void reset(ConstBytes image);

  std::size_t size_bytes() const { return size_bytes_; }
  std::size_t line_count() const { return size_bytes_ / cache_line_bytes; }
  std::size_t word_count() const { return size_bytes_ / word_bytes; }
  Bytes visible() { return {visible_.get(), size_bytes_}; }
  ConstBytes visible() const { return {visible_.get(), size_bytes_}; }
  ConstBytes durable() const { return {durable_.get(), size_bytes_}; }

  std::uint64_t visible_word(WordIndex word) const { return word_at(visible_.get(), word); }
  std::uint64_t durable_word(WordIndex word) const { return word_at(durable_.get(), word); }
  Tick durable_tick(WordIndex word) const { return read_at_[word]; }

  // Appends snapshots of the lines [first, first + count), all of one tick.
  void take(LineIndex first, std::size_t count, std::vector<LineSnapshot>& into);

  // The words of the snapshot that are newer than those on the medium become durable.
  void make_durable(const LineSnapshot& snapshot);
  void make_durable(const LineSnapshot& snapshot, std::size_t word_in_line);

  // The visible value of the word becomes durable.
  void write_back(WordIndex word);

  bool dirty(WordIndex word) const { return visible_word(word) != durable_word(word); }
  bool line_dirty(LineIndex line) const;

  // Appends, in ascending order, the lines that differ between the images.
  void dirty_lines(std::vector<LineIndex>& into) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Buffer = std::unique_ptr<std::byte, Free>;

  static Buffer zeroed(std::size_t size_bytes);
  static std::uint64_t word_at(const std::byte* image, WordIndex word) {
    return load<std::uint64_t>(image + std::size_t{word} * word_bytes);
  }

  const std::size_t size_bytes_;
  Buffer visible_;
  Buffer durable_;
  std::vector<Tick> read_at_;  // per word: the time of its durable value
  Tick now_ = 0;
};

}  // namespace remora
