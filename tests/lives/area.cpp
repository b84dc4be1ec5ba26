#include "tests/lives/area.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace remora::fabric::lives {
namespace {

constexpr std::byte blank{0};
constexpr std::byte guard{0xa7};
constexpr Part guards[] = {{area::own.end(), area::guard_bytes},
                           {area::target.end(), area::guard_bytes},
                           {area::words.end(), area::guard_bytes},
                           {area::landing.end(), area::guard_bytes},
                           {area::inbox.end(), area::guard_bytes}};

std::vector<std::byte> make_pattern() {
  std::vector<std::byte> pattern(area::own.size_bytes);
  for (std::size_t i = 0; i < pattern.size(); i += word_bytes) {
    // No byte is blank: what was written can be told from what was not.
    store(&pattern[i], mix(i) | 0x0101010101010101);
  }
  return pattern;
}

// Where the first byte is that differs, or the size.
std::size_t differs_at(ConstBytes bytes, std::byte value) {
  if (bytes.front() == value &&
      std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0) {
    return bytes.size();
  }
  const auto found =
      std::find_if(bytes.begin(), bytes.end(), [&](std::byte byte) { return byte != value; });
  return static_cast<std::size_t>(found - bytes.begin());
}

}  // namespace

ConstBytes own_pattern() {
  static const std::vector<std::byte> pattern = make_pattern();
  return pattern;
}

void Area::reset() const {
  fill(blank);
  std::memcpy(at(area::own.begin), own_pattern().data(), area::own.size_bytes);
  for (const Part& part : guards) {
    std::memset(at(part.begin), static_cast<int>(guard), part.size_bytes);
  }
}

std::string Area::flaw() const {
  const ConstBytes pattern = own_pattern();
  if (std::memcmp(at(area::own.begin), pattern.data(), pattern.size()) != 0) {
    return "the area that nobody may write has changed";
  }
  for (const Part& part : guards) {
    const std::size_t place = differs_at(bytes_.subspan(part.begin, part.size_bytes), guard);
    if (place != part.size_bytes) {
      return "the guard at " + std::to_string(part.begin) + " has changed";
    }
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::byte got = *at(area::target.begin + i);
    if (got != blank && got != pattern[i]) {
      return "byte " + std::to_string(i) + " of the target was never sent so";
    }
  }
  return "";
}

void Area::fill(std::byte value) const {
  std::memset(bytes_.data(), static_cast<int>(value), bytes_.size());
}

std::string Area::change_from(std::byte value) const {
  const std::size_t place = differs_at(bytes_, value);
  return place == bytes_.size() ? "" : "byte " + std::to_string(place) + " was overwritten";
}

}  // namespace remora::fabric::lives
