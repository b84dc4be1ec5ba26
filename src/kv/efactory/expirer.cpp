#include "kv/efactory/expirer.h"

#include <algorithm>

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t forgotten_per_turn = 8;
constexpr std::uint64_t shortest_pause_ms = 1;
constexpr std::uint64_t longest_pause_ms = 100;
// Before another look at keys whose time has come and that cannot be deleted yet.
constexpr std::uint64_t look_again_ms = 10;

}  // namespace

// A key that is put while this pauses may have its time before the end of the pause: until it is
// looked at, it is there for nobody, and does not count.
Task<void> Expirer::forget() {
  for (;;) {
    const std::uint64_t before = catalogue_.sequence();
    const Catalogue::Expiries pass = catalogue_.forget_expired(forgotten_per_turn);
    local_.deleted_since(before);
    expired_ += pass.forgotten;
    const std::uint64_t next_ms = catalogue_.next_expiry_ms();
    if (pass.goes_on) {
      co_await background_.runtime().yield();
    } else if (next_ms == TimeWheel::never_ms) {
      co_await to_expire_.emplace(background_.runtime());
    } else {
      co_await background_.runtime().sleep_for(pause_ms(next_ms) * 1'000'000);
    }
  }
}

std::uint64_t Expirer::pause_ms(std::uint64_t next_ms) const {
  const std::uint64_t now_ms = background_.runtime().wall_ms();
  return next_ms <= now_ms ? look_again_ms
                           : std::clamp(next_ms - now_ms, shortest_pause_ms, longest_pause_ms);
}

}  // namespace remora::kv::efactory
