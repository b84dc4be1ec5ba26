// How large values are: as users write it, and as it is drawn.
//
//   100                  every value has 100 bytes; 0 is a size too
//   64-4096              uniform between both, which are included
//   zipf:64-4096         small ones are frequent: 64 bytes most of all, with theta 0.99
//   64:0.5,4096:0.5      a list with weights, relative to their sum; a part may be a range
//
// Sizes may have units of 1024, as in 4K. Drawing allocates nothing; any thread, each with its own
// Random.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "kv/limits.h"
#include "lab/workload/text.h"
#include "lab/workload/zipfian.h"

namespace remora::workload {

inline constexpr std::uint64_t largest_value_bytes = kv::limits::value_bytes;

class ValueSizes {
 public:
  static constexpr std::size_t parts_max = 16;

  // Every value has this size, which lies between 0 and largest_value_bytes.
  explicit ValueSizes(std::uint64_t size_bytes);

  // invalid_argument with a message that shows the forms above.
  static Result<ValueSizes> parse(std::string_view text);

  std::uint32_t draw(Random& random) const;

  // A size for this key and no other reason: what the load phase gives it.
  std::uint32_t of_key(std::uint64_t key) const {
    Random random(key);
    return draw(random);
  }

  std::uint64_t smallest_bytes() const;
  std::uint64_t largest_bytes() const;

  // In the form that parse reads; weights as fractions of 1.
  std::string to_string() const;

 private:
  struct Part {
    SizeRange range;
    double weight = 0;        // of 1
    std::uint64_t below = 0;  // drawn when a 63-bit number is below this, and not below the last
  };

  ValueSizes() = default;
  static Result<ValueSizes> parse_parts(std::string_view text);

  std::array<Part, parts_max> parts_ = {};
  std::size_t part_count_ = 0;
  std::optional<Zipfian> small_ones_;  // then there is one part
};

}  // namespace remora::workload
