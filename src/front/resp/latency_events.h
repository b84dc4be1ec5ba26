// LatencyEvents: what took longer than a threshold, by what it was, for LATENCY. Of each kind as
// many are kept as Redis keeps; of those that end within one second, the longest.
//
// One thread. While the threshold is 0 nothing is kept, and no clock is looked at for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace remora::resp {

class LatencyEvents {
 public:
  // A command; one of those that Redis calls fast; a commit that replies waited for; a write that
  // waited until cleaning had made room.
  enum class Kind : std::uint8_t { command, fast_command, commit, cleaning };
  static constexpr std::array<std::string_view, 4> names = {"command", "fast-command", "commit",
                                                            "cleaning"};
  static std::optional<Kind> kind_of(std::string_view name);

  struct Sample {
    std::uint64_t when_s = 0;  // since 1970
    std::uint64_t took_ms = 0;
  };
  struct History {
    std::deque<Sample> samples;  // the oldest first
    std::uint64_t longest_ms = 0;
  };

  // 0: none is kept.
  std::uint64_t threshold_ms = 0;
  bool is_on() const { return threshold_ms != 0; }
  // Keeps it if it took long enough.
  void note(Kind kind, std::uint64_t took_ns, std::uint64_t wall_ms);

  const History& of(Kind kind) const { return histories_[static_cast<std::size_t>(kind)]; }
  // Whether there was anything.
  bool forget(Kind kind);

 private:
  std::array<History, names.size()> histories_;
};

}  // namespace remora::resp
