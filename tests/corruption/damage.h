// Damage: one change of a pool's bytes, as media and cables make them. All of it comes from a
// number: the same number is the same damage of the same image.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "tests/corruption/anatomy.h"
#include "tests/corruption/base_image.h"

namespace remora::corruption {

enum class Change : std::uint8_t {
  bit,
  byte,
  line_zeros,
  line_random,
  line_copied,  // of another place of the same structure
  page_zeros,
  page_random,
  page_stale,  // what it held some time before
};
inline constexpr std::size_t change_count = 8;
std::string_view to_string(Change change);

struct Damage {
  Structure structure = Structure::pool_header;  // that was aimed at; a page may hit others too
  Change change = Change::bit;
  Offset begin = 0;
  std::uint64_t size_bytes = 0;
  Offset source = 0;  // of a line that is copied
  std::uint64_t seed = 0;
};

// One that was drawn at random: a structure first, so that small ones are hit as often as large.
Damage choose_damage(const Anatomy& anatomy, std::uint64_t seed);
// Whether any byte has changed.
bool inflict(const Damage& damage, const BaseImage& image, Bytes pool);
// One that changes something: a page of zeros may be there already.
Damage choose_change(const Anatomy& anatomy, const BaseImage& image, std::uint64_t seed);
std::string describe(const Damage& damage);

}  // namespace remora::corruption
