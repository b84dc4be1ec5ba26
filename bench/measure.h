// Measuring side by side: the thing and its yardstick take turns in short slices, A B A B ..., so
// that a machine that speeds up, slows down or is shared treats both alike. What comes out is a
// series of samples for each side, one sample a round, to be compared round by round.
//
// One thread drives it; a side may use threads of its own. Nothing here fails.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace remora::bench {

// The middle and the width of a series.
struct Spread {
  double low = 0;  // 10 of 100 samples are not above it
  double median = 0;
  double high = 0;  // 90 of 100 samples are not above it
};

// By nearest rank. There must be a sample.
Spread spread_of(std::vector<double> samples);

// Where the median of all rounds that could be run lies, with a confidence of 95 of 100; the rounds
// that were run are a sample of them. It is narrow for many rounds even if their spread is wide.
struct Interval {
  double low = 0;
  double high = 0;
};

// There must be a sample. Few samples give their whole range.
Interval median_interval(std::vector<double> samples);

// One of the things that are compared: performs its operation that many times.
using Side = std::function<void(std::uint64_t iterations)>;

enum class Work : std::uint8_t {
  same,  // all sides perform the same number of iterations, so that they visit the same places
  own,   // each side fills the slice, for sides whose costs differ by far
};

struct Plan {
  std::uint64_t rounds = 101;
  std::uint64_t slice_ns = 1'000'000;  // what the slowest side may take for one sample
  Work work = Work::same;
};

using Clock = std::function<std::uint64_t()>;

// The monotonic time of the machine.
std::uint64_t now_ns();

// Finds how many iterations fill a slice, runs one round that does not count, then the rounds of
// the plan. Result: for each side the time of one iteration in each round, in nanoseconds. The
// last `plan.rounds` calls of each side are the rounds; calls before that are preparation.
std::vector<std::vector<double>> interleave(std::span<const Side> sides, const Plan& plan,
                                            const Clock& clock = now_ns);

// a / b round by round. The series have the same length.
std::vector<double> ratios(std::span<const double> a, std::span<const double> b);

}  // namespace remora::bench
