// Rates: how fast counters grow, over about the last second and a half. Who works tells them in
// every turn; they look at the counters ten times a second at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace remora::resp {

class Rates {
 public:
  struct Counts {
    std::uint64_t commands = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
  };

  bool is_due(std::uint64_t now_ns) const { return now_ns >= due_ns_; }
  void look(std::uint64_t now_ns, const Counts& counts) {
    samples_[next_++ % samples_.size()] = {now_ns, counts};
    due_ns_ = now_ns + step_ns;
  }
  // In a second, up to now.
  Counts now(std::uint64_t now_ns, const Counts& counts) const {
    // The oldest that is young enough, or else the newest.
    const Sample* from = nullptr;
    for (const Sample& each : samples_) {
      if (each.at_ns != 0 && now_ns - each.at_ns <= span_ns &&
          (from == nullptr || each.at_ns < from->at_ns)) {
        from = &each;
      }
    }
    if (from == nullptr || now_ns <= from->at_ns) {
      return {};
    }
    const std::uint64_t took_ns = now_ns - from->at_ns < step_ns ? step_ns : now_ns - from->at_ns;
    const auto rate = [took_ns](std::uint64_t before, std::uint64_t after) {
      return after > before ? (after - before) * 1'000'000 / (took_ns / 1'000) : 0;
    };
    return {rate(from->counts.commands, counts.commands),
            rate(from->counts.bytes_in, counts.bytes_in),
            rate(from->counts.bytes_out, counts.bytes_out)};
  }

 private:
  static constexpr std::uint64_t step_ns = 100'000'000;
  static constexpr std::uint64_t span_ns = 1'600'000'000;
  struct Sample {
    std::uint64_t at_ns = 0;
    Counts counts;
  };

  std::array<Sample, 16> samples_;
  std::size_t next_ = 0;
  std::uint64_t due_ns_ = 0;
};

}  // namespace remora::resp
