#include "lab/memory/two_images.h"

#include <algorithm>

#include "base/check.h"

namespace remora {

TwoImages::TwoImages(std::size_t size_bytes)
    : size_bytes_(size_bytes),
      visible_(zeroed(size_bytes)),
      durable_(zeroed(size_bytes)),
      read_at_(size_bytes / word_bytes, 0) {}

TwoImages::Buffer TwoImages::zeroed(std::size_t size_bytes) {
  REMORA_CHECK(size_bytes != 0 && size_bytes % page_bytes == 0,
               "a crash memory is a whole number of pages");
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_bytes)));
  REMORA_CHECK(buffer != nullptr, "out of memory");
  std::memset(buffer.get(), 0, size_bytes);
  return buffer;
}

void TwoImages::reset(ConstBytes image) {
  REMORA_CHECK(image.size() == size_bytes_, "an image has the size of the memory");
  if (image.data() != visible_.get()) {
    std::memcpy(visible_.get(), image.data(), size_bytes_);
  }
  if (image.data() != durable_.get()) {
    std::memcpy(durable_.get(), image.data(), size_bytes_);
  }
}

void TwoImages::take(LineIndex first, std::size_t count, std::vector<LineSnapshot>& into) {
  ++now_;
  const std::size_t before = into.size();
  into.resize(before + count);
  for (std::size_t i = 0; i < count; ++i) {
    LineSnapshot& snapshot = into[before + i];
    snapshot.line = first + static_cast<LineIndex>(i);
    snapshot.taken_at = now_;
    std::memcpy(snapshot.words.data(),
                visible_.get() + std::size_t{snapshot.line} * cache_line_bytes, cache_line_bytes);
  }
}

void TwoImages::make_durable(const LineSnapshot& snapshot) {
  for (std::size_t i = 0; i < words_per_line; ++i) {
    make_durable(snapshot, i);
  }
}

void TwoImages::make_durable(const LineSnapshot& snapshot, std::size_t word_in_line) {
  const std::size_t word = std::size_t{snapshot.line} * words_per_line + word_in_line;
  if (snapshot.taken_at > read_at_[word]) {
    read_at_[word] = snapshot.taken_at;
    store(durable_.get() + word * word_bytes, snapshot.words[word_in_line]);
  }
}

void TwoImages::write_back(WordIndex word) {
  read_at_[word] = ++now_;
  store(durable_.get() + std::size_t{word} * word_bytes, visible_word(word));
}

bool TwoImages::line_dirty(LineIndex line) const {
  const std::size_t first = std::size_t{line} * words_per_line;
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < words_per_line; ++i) {
    const auto word = static_cast<WordIndex>(first + i);
    difference |= visible_word(word) ^ durable_word(word);
  }
  return difference != 0;
}

void TwoImages::dirty_lines(std::vector<LineIndex>& into) const {
  // Most of the memory is clean, and memcmp says so faster than a loop over lines.
  constexpr std::size_t block_bytes = 1024;
  static_assert(page_bytes % block_bytes == 0);
  for (std::size_t at = 0; at < size_bytes_; at += block_bytes) {
    if (std::memcmp(visible_.get() + at, durable_.get() + at, block_bytes) == 0) {
      continue;
    }
    const std::size_t first = at / cache_line_bytes;
    for (std::size_t i = 0; i < block_bytes / cache_line_bytes; ++i) {
      const auto line = static_cast<LineIndex>(first + i);
      if (line_dirty(line)) {
        into.push_back(line);
      }
    }
  }
}

}  // namespace remora
