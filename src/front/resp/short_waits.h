// ShortWaits: whether a server that has nothing to do should look again and again for a little
// while before it sleeps.
//
// To sleep and to be woken costs the sleeper microseconds, and who wakes it as many; in a virtual
// machine, ten and more. Where the next request comes sooner than that, looking is cheaper for
// both. It is tried only while nearly all of the last waits were that short, so that a server with
// little to do sleeps at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace remora::resp {

class ShortWaits {
 public:
  bool expected() const { return score_ >= enough; }

  // Something came while it looked, or would have if it had.
  void came() { score_ = std::min(score_ + 1, most); }
  // It looked for nothing.
  void looked_in_vain() { score_ -= std::min(score_, in_vain); }
  // It slept without a look, and for longer.
  void slept_long() { score_ -= std::min(score_, std::uint32_t{1}); }

 private:
  static constexpr std::uint32_t most = 16;
  static constexpr std::uint32_t enough = 8;
  static constexpr std::uint32_t in_vain = 4;  // four in five must come for it to go on

  std::uint32_t score_ = 0;
};

}  // namespace remora::resp
