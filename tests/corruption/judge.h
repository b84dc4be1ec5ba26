// The judge: opens a damaged pool as the product does, asks for every key in every way that there
// is, goes on working with it, opens it again and asks once more. What it may be told is known.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tests/corruption/anatomy.h"
#include "tests/corruption/base_image.h"
#include "tests/corruption/damage.h"

namespace remora::corruption {

enum class Outcome : std::uint8_t {
  refused,   // the pool or the store was not opened
  damaged,   // some key was answered with `damaged`, all others rightly
  harmless,  // every answer was right
  behind,    // keys whose newest version lies behind a mark are lost or old
  broken,    // the program failed in another way
  silent,    // a wrong answer
};
inline constexpr std::size_t outcome_count = 6;
std::string_view to_string(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::harmless;
  std::uint32_t wrong_keys = 0;
  std::string detail;  // why, of the first
};

// Opens the image as it is, and from then on allows what was answered, and nothing else: of what
// was under way at the end only recovery knows what came of it. A failure says what it should not
// be.
Status settle_truth(BaseImage& image);

// In this process, which it may end if the program under test does.
Verdict judge(const BaseImage& image, const Anatomy& anatomy, const Damage* damage);
// The same in a process of its own: one that dies is `broken`.
Verdict judge_apart(const BaseImage& image, const Anatomy& anatomy, const Damage& damage);
Verdict judge_apart(const std::function<Verdict()>& judge);

}  // namespace remora::corruption
