// NestedLives: the worker of a subject that has one memory. A life runs; at some of its events the
// power is cut, and every image that the cut may leave is a life of its own, which is cut in turn:
// also while it recovers, and while the recovery from that runs.
//
// A Life is one power-on of the machine:
//   pool_bytes, Expected, Shared   its size; what a cut may leave; what the lives of a run share
//   Life(sites, shared), memory()
//   power_on(image, platform, faults, expected, random)
//   create() | recover(), step()   a Broken when a promise was broken
//   goes_on()                      whether there is something to go on with
//   expectation()                  what a cut at this moment may leave
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "lab/crash/subject.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/images.h"

namespace remora {

// How much happens at each level. The first life is the long one; those that start from its images
// are shorter, and the last level is never cut.
struct LifeLevel {
  std::uint64_t cut_one_in;      // events
  ImageLimits images;            // per cut
  std::uint64_t goes_on_one_in;  // lives with more than a recovery
  std::uint64_t most_steps;
};

template <typename Life>
class NestedLives final : public CrashWorker {
 public:
  // The levels outlive it.
  explicit NestedLives(std::span<const LifeLevel> levels);

  std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) override;
  SiteTable& sites() override { return sites_; }

 private:
  using Expected = typename Life::Expected;
  using Shared = typename Life::Shared;

  struct Depth {
    Depth(SiteTable& sites, Shared& shared, ImageLimits limits)
        : life(sites, shared), images(limits) {}

    Life life;
    Images images;
  };

  void live(std::size_t depth, ConstBytes image, const Expected& expected);
  void go_on(std::size_t depth);
  void maybe_cut(std::size_t depth, const CrashEvent& event);
  void report(std::size_t depth, const Broken& broken);

  const std::span<const LifeLevel> levels_;
  SiteTable sites_;
  Shared shared_;
  std::vector<std::unique_ptr<Depth>> depths_;
  std::vector<std::byte> blank_;
  CrashRun run_;
  Platform platform_;
  Random random_{0};
  CrashCount* count_ = nullptr;
  std::optional<CrashViolation> violation_;
};

template <typename Life>
NestedLives<Life>::NestedLives(std::span<const LifeLevel> levels)
    : levels_(levels), blank_(Life::pool_bytes) {
  for (std::size_t depth = 0; depth < levels.size(); ++depth) {
    depths_.push_back(std::make_unique<Depth>(sites_, shared_, levels[depth].images));
    depths_[depth]->life.memory().on_event(
        [this, depth](const CrashEvent& event) { maybe_cut(depth, event); });
  }
}

template <typename Life>
std::optional<CrashViolation> NestedLives<Life>::run(const CrashRun& run, CrashCount& count) {
  run_ = run;
  count_ = &count;
  violation_.reset();
  shared_ = Shared{};
  random_ = Random(run.seed);
  const Granularity drawn = random_.chance(1, 2) ? Granularity::page : Granularity::cache_line;
  platform_ = Platform{};
  platform_.domain = run.settings.domain;
  platform_.ddio = run.settings.ddio;
  platform_.flush = run.settings.flush;
  platform_.granularity = run.settings.granularity.value_or(drawn);
  live(0, blank_, Expected{});
  return violation_;
}

template <typename Life>
void NestedLives<Life>::live(std::size_t depth, ConstBytes image, const Expected& expected) {
  Life& life = depths_[depth]->life;
  life.power_on(image, platform_, run_.faults, expected, random_.fork());
  const std::optional<Broken> broken = depth == 0 ? life.create() : life.recover();
  if (broken) {
    report(depth, *broken);
  } else if (life.goes_on() &&
             random_.chance(1, std::max<std::uint64_t>(1, levels_[depth].goes_on_one_in))) {
    go_on(depth);
  }
}

template <typename Life>
void NestedLives<Life>::go_on(std::size_t depth) {
  Life& life = depths_[depth]->life;
  const std::uint64_t steps = random_.below(levels_[depth].most_steps + 1);
  for (std::uint64_t step = 0; step < steps && life.goes_on() && !violation_; ++step) {
    if (const std::optional<Broken> broken = life.step()) {
      report(depth, *broken);
    }
  }
}

template <typename Life>
void NestedLives<Life>::maybe_cut(std::size_t depth, const CrashEvent& event) {
  const LifeLevel& level = levels_[depth];
  if (violation_ || level.cut_one_in == 0 || !random_.chance(1, level.cut_one_in)) {
    return;
  }
  Depth& here = *depths_[depth];
  const Expected expected = here.life.expectation();
  ++count_->cuts;
  here.images.take(here.life.memory(), random_.fork());
  while (!violation_ && here.images.next()) {
    ++count_->images;
    count_->distinct.insert(here.images.hash());
    live(depth + 1, here.images.bytes(), expected);
  }
  if (violation_) {
    violation_->explanation += "; power cut at event " + std::to_string(event.index) + " (" +
                               std::string(to_string(event.moment)) + " " +
                               std::string(to_string(event.kind)) + ") of life " +
                               std::to_string(depth + 1);
    violation_->stricter_than_x86 = violation_->stricter_than_x86 || here.images.splits_line();
  }
}

template <typename Life>
void NestedLives<Life>::report(std::size_t depth, const Broken& broken) {
  if (!violation_) {
    violation_ =
        CrashViolation{run_.seed, to_string(platform_), broken.rule,
                       broken.explanation + " (life " + std::to_string(depth + 1) + ")", false};
  }
}

}  // namespace remora
