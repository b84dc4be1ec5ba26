#include "tests/corruption/damage.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.h"

namespace remora::corruption {
namespace {

Offset place_in(const Anatomy& anatomy, Structure structure, Random& random) {
  std::uint64_t total = 0;
  for (const Extent& extent : anatomy.extents) {
    total += extent.structure == structure ? extent.end - extent.begin : 0;
  }
  std::uint64_t at = total == 0 ? 0 : random.below(total);
  for (const Extent& extent : anatomy.extents) {
    if (extent.structure == structure) {
      if (at < extent.end - extent.begin) {
        return extent.begin + at;
      }
      at -= extent.end - extent.begin;
    }
  }
  return 0;
}

void fill_by_chance(Bytes bytes, Random random) {
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random.next()); });
}

}  // namespace

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, change_count> names = {
      "bit",         "byte",          "64 B of zeros", "64 B of noise",
      "64 B copied", "page of zeros", "page of noise", "stale page"};
  return names.at(static_cast<std::size_t>(change));
}

Damage choose_damage(const Anatomy& anatomy, std::uint64_t seed) {
  Random random(seed);
  Damage damage;
  do {
    damage.structure = static_cast<Structure>(random.below(anatomy.structures()));
  } while (!anatomy.has(damage.structure));
  damage.change = static_cast<Change>(random.below(change_count));
  const Offset place = place_in(anatomy, damage.structure, random);
  const bool is_small = damage.change == Change::bit || damage.change == Change::byte;
  const bool is_page = damage.change >= Change::page_zeros;
  const std::uint64_t unit = is_small ? 1 : is_page ? page_bytes : cache_line_bytes;
  damage.begin = round_down(place, unit);
  damage.size_bytes = unit;
  damage.source =
      round_down(place_in(anatomy, damage.structure, random), std::uint64_t{cache_line_bytes});
  damage.seed = random.next();
  return damage;
}

bool inflict(const Damage& damage, const BaseImage& image, Bytes pool) {
  const Bytes place = pool.subspan(damage.begin, damage.size_bytes);
  const std::vector<std::byte> before(place.begin(), place.end());
  Random random(damage.seed);
  switch (damage.change) {
    case Change::bit:
      place[0] ^= static_cast<std::byte>(1u << random.below(8));
      break;
    case Change::byte:
      place[0] ^= static_cast<std::byte>(random.between(1, 255));
      break;
    case Change::line_zeros:
    case Change::page_zeros:
      std::ranges::fill(place, std::byte{0});
      break;
    case Change::line_random:
    case Change::page_random:
      fill_by_chance(place, random);
      break;
    case Change::line_copied:
      std::ranges::copy_n(image.bytes.data() + damage.source,
                          static_cast<std::ptrdiff_t>(damage.size_bytes), place.data());
      break;
    case Change::page_stale:
      std::ranges::copy_n(image.stale.data() + damage.begin,
                          static_cast<std::ptrdiff_t>(damage.size_bytes), place.data());
      break;
  }
  return !std::ranges::equal(before, place);
}

Damage choose_change(const Anatomy& anatomy, const BaseImage& image, std::uint64_t seed) {
  std::vector<std::byte> pool = image.bytes;
  Damage damage = choose_damage(anatomy, seed);
  while (!inflict(damage, image, pool)) {
    damage = choose_damage(anatomy, seed = mix(seed));
  }
  return damage;
}

std::string describe(const Damage& damage) {
  return fmt::format("{} in {} at {:#x}", to_string(damage.change), to_string(damage.structure),
                     damage.begin);
}

}  // namespace remora::corruption
