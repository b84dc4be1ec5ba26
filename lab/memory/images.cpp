#include "lab/memory/images.h"

#include <algorithm>

#include "lab/memory/crash_memory.h"

namespace remora {
namespace {

// The hash of an image is the sum of this over its words, so that a word in doubt can be exchanged.
// A zero word adds nothing: most of a young pool is zero.
std::uint64_t word_hash(std::uint64_t word, std::uint64_t value) {
  return value == 0 ? 0 : mix(value ^ (word * 0xd6e8feb86659fd93));
}

std::uint64_t one_bit(std::uint64_t index) {
  return std::uint64_t{1} << index;
}

}  // namespace

// Uniform halves miss what happens rarely, so a sample is a mixture.
enum class Images::Pattern : std::uint8_t {
  any,            // each word any of its values
  mostly_kept,    // about one word in eight not
  mostly_lost,    // about one word in eight not
  one_not_kept,   // all kept but one word
  one_not_lost,   // all lost but one word
  by_lines,       // each line whole, as one of its versions
  by_lines_torn,  // the same, but for one word
  prefix,         // kept up to some address, lost above
  suffix,         // lost up to some address, kept above
  count,
};

void Images::take(const CrashMemory& memory, Random random) {
  random_ = random;
  memory.find_doubt(doubt_);
  const ConstBytes certain = memory.kept();
  image_.resize(certain.size());
  std::memcpy(image_.data(), certain.data(), certain.size());
  for (const CertainWord& one : doubt_.certain) {
    store(image_.data() + std::size_t{one.word} * word_bytes, one.value);
  }
  choice_.assign(doubt_.words.size(), 0);
  const std::uint64_t limit = std::max<std::uint64_t>(limits_.exhaustive, 1);
  const std::uint64_t combinations = doubt_.combinations(limit);
  exhaustive_ = combinations <= limit;
  planned_ = exhaustive_ ? combinations : limits_.samples;
  made_ = 0;
  certain_hash_known_ = false;
}

bool Images::next() {
  if (made_ == planned_) {
    return false;
  }
  if (exhaustive_) {
    choose_next_in_turn();
  } else {
    choose_by_chance();
  }
  ++made_;
  lay_words();
  return true;
}

void Images::choose_next_in_turn() {
  if (made_ == 0) {
    return;  // all choices are 0: all lost
  }
  for (std::size_t i = 0; i < choice_.size(); ++i) {
    if (++choice_[i] < doubt_.words[i].count) {
      return;
    }
    choice_[i] = 0;
  }
}

void Images::choose_by_chance() {
  if (made_ == 0) {
    std::fill(choice_.begin(), choice_.end(), 0);
    return;
  }
  if (made_ == 1) {
    for (std::size_t i = 0; i < choice_.size(); ++i) {
      choice_[i] = doubt_.words[i].kept;
    }
    return;
  }
  choose(static_cast<Pattern>(random_.below(static_cast<std::uint64_t>(Pattern::count))));
}

void Images::choose(Pattern pattern) {
  if (pattern == Pattern::by_lines || pattern == Pattern::by_lines_torn) {
    choose_by_lines();
  }
  const std::size_t odd = random_.below(choice_.size());
  for (std::size_t i = 0; i < choice_.size(); ++i) {
    const WordInDoubt& word = doubt_.words[i];
    const bool odd_one = i == odd;
    switch (pattern) {
      case Pattern::any:
        choice_[i] = any_of(word);
        break;
      case Pattern::mostly_kept:
        choice_[i] = random_.chance(1, 8) ? any_of(word) : word.kept;
        break;
      case Pattern::mostly_lost:
        choice_[i] = random_.chance(1, 8) ? any_of(word) : 0;
        break;
      case Pattern::one_not_kept:
        choice_[i] = odd_one ? (word.kept == 0 ? word.count - 1 : 0) : word.kept;
        break;
      case Pattern::one_not_lost:
        choice_[i] = odd_one ? (word.kept == 0 ? word.count - 1 : word.kept) : 0;
        break;
      case Pattern::by_lines_torn:
        choice_[i] = odd_one ? any_of(word) : choice_[i];
        break;
      case Pattern::prefix:
        choice_[i] = i <= odd ? word.kept : 0;
        break;
      case Pattern::suffix:
        choice_[i] = i >= odd ? word.kept : 0;
        break;
      case Pattern::by_lines:
      case Pattern::count:
        break;
    }
  }
}

void Images::choose_by_lines() {
  for (const LineInDoubt& line : doubt_.lines) {
    choose_version(line);
  }
}

// Every word takes a candidate of one version of its line; words bound to none take any, and so do
// words of which the values of this version were cut short.
void Images::choose_version(const LineInDoubt& line) {
  const std::uint64_t drawn = random_.below(std::uint64_t{line.snapshots} + 2);
  const std::uint64_t version = drawn > line.snapshots ? one_bit(63) : one_bit(drawn);
  for (std::size_t i = line.first; i < line.first + line.count; ++i) {
    const WordInDoubt& word = doubt_.words[i];
    choice_[i] = any_of(word);
    for (std::uint32_t tried = 0; tried < word.count; ++tried) {
      if ((doubt_.of(word)[choice_[i]].versions & version) != 0) {
        break;
      }
      choice_[i] = (choice_[i] + 1) % word.count;
    }
  }
}

std::uint32_t Images::any_of(const WordInDoubt& word) {
  return static_cast<std::uint32_t>(random_.below(word.count));
}

void Images::lay_words() {
  for (std::size_t i = 0; i < choice_.size(); ++i) {
    const WordInDoubt& word = doubt_.words[i];
    store(image_.data() + std::size_t{word.word} * word_bytes, doubt_.of(word)[choice_[i]].value);
  }
}

std::uint64_t Images::hash() const {
  if (!certain_hash_known_) {
    certain_hash_known_ = true;
    certain_hash_ = 0;
    for (std::size_t word = 0; word < image_.size() / word_bytes; ++word) {
      certain_hash_ += word_hash(word, load<std::uint64_t>(image_.data() + word * word_bytes));
    }
    for (std::size_t i = 0; i < choice_.size(); ++i) {
      const WordInDoubt& word = doubt_.words[i];
      certain_hash_ -= word_hash(word.word, doubt_.of(word)[choice_[i]].value);
    }
  }
  std::uint64_t hash = certain_hash_;
  for (std::size_t i = 0; i < choice_.size(); ++i) {
    const WordInDoubt& word = doubt_.words[i];
    hash += word_hash(word.word, doubt_.of(word)[choice_[i]].value);
  }
  return hash;
}

bool Images::splits_line() const {
  for (const LineInDoubt& line : doubt_.lines) {
    std::uint64_t versions = ~std::uint64_t{0};
    for (std::size_t i = line.first; i < line.first + line.count; ++i) {
      const WordInDoubt& word = doubt_.words[i];
      versions &= doubt_.of(word)[choice_[i]].versions;
    }
    if (versions == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace remora
