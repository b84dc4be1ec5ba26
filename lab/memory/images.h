// Images: what the medium may hold after a power cut at this moment. All of it when that is not too
// much, and a seeded sample otherwise.
//
// One object serves many cuts: take() at each, then next() until it says no. After the first few
// cuts nothing allocates. Used by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "lab/memory/doubt.h"

namespace remora {

class CrashMemory;

struct ImageLimits {
  std::uint64_t exhaustive = 256;  // up to so many images, every one of them exactly once
  std::uint64_t samples = 64;      // above, so many by the seed; the same may come twice
};

class Images {
 public:
  explicit Images(ImageLimits limits = {}) : limits_(limits) {}

  // Stops at this moment of `memory`, which may change or go afterwards. All chance comes from
  // `random`, so that taking images does not disturb the run.
  void take(const CrashMemory& memory, Random random);

  // Makes the next image. False when there are no more; then the calls below have no meaning.
  // Sampling begins with all lost and all kept, whatever the seed.
  bool next();

  // The image, until the next call of next() or take().
  ConstBytes bytes() const { return image_; }

  // Of the whole content: equal images have equal hashes, also those of different cuts.
  std::uint64_t hash() const;

  // Whether the image tears one line of CPU stores: keeps a part that is neither all of what the
  // line was on the medium, nor all of one snapshot, nor all that was visible. x86 writes a line
  // back whole, so a violation that needs such an image is stricter than x86.
  bool splits_line() const;

  bool exhaustive() const { return exhaustive_; }
  std::uint64_t planned() const { return planned_; }  // how often next() says yes
  const Doubt& doubt() const { return doubt_; }

 private:
  enum class Pattern : std::uint8_t;

  void choose_next_in_turn();
  void choose_by_chance();
  void choose(Pattern pattern);
  void choose_by_lines();
  void choose_version(const LineInDoubt& line);
  std::uint32_t any_of(const WordInDoubt& word);
  void lay_words();

  ImageLimits limits_;
  Random random_{0};
  Doubt doubt_;
  std::vector<std::uint32_t> choice_;  // candidate, per word in doubt
  std::vector<std::byte> image_;
  std::uint64_t planned_ = 0;
  std::uint64_t made_ = 0;
  bool exhaustive_ = true;
  mutable std::uint64_t certain_hash_ = 0;  // of the words that are not in doubt
  mutable bool certain_hash_known_ = false;
};

}  // namespace remora
