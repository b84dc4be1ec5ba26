#include "sim/crash/pool_subject.h"

#include <algorithm>
#include <array>

#include "pmem/pool_faults.h"
#include "sim/crash/pool_life.h"
#include "sim/memory/images.h"

namespace remora {
namespace {

// How much happens at each level. The first life is the long one; those that start from its images
// are short, and those within them shorter.
struct Level {
  std::uint64_t cut_one_in;      // events
  ImageLimits images;            // per cut
  std::uint64_t goes_on_one_in;  // lives with more than a recovery
  std::uint64_t most_steps;
};
constexpr std::array<Level, 4> levels = {{
    {20, {8, 6}, 1, 24},
    {30, {3, 3}, 2, 8},
    {40, {2, 2}, 3, 4},
    {0, {0, 0}, 0, 0},
}};

class PoolWorker final : public CrashWorker {
 public:
  PoolWorker();

  std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) override;
  SiteTable& sites() override { return sites_; }

 private:
  void live(std::size_t depth, ConstBytes image, const Expectation& expected);
  void go_on(std::size_t depth);
  void maybe_cut(std::size_t depth, const CrashEvent& event);
  void report(std::size_t depth, const Broken& broken);

  struct Depth {
    Depth(SiteTable& sites, ImageLimits limits) : life(sites), images(limits) {}

    PoolLife life;
    Images images;
  };

  SiteTable sites_;
  std::vector<std::unique_ptr<Depth>> depths_;
  std::vector<std::byte> blank_;
  CrashRun run_;
  Platform platform_;
  Random random_{0};
  CrashCount* count_ = nullptr;
  std::optional<CrashViolation> violation_;
};

PoolWorker::PoolWorker() : blank_(PoolLife::pool_bytes) {
  for (std::size_t depth = 0; depth < levels.size(); ++depth) {
    depths_.push_back(std::make_unique<Depth>(sites_, levels[depth].images));
    depths_[depth]->life.memory().on_event(
        [this, depth](const CrashEvent& event) { maybe_cut(depth, event); });
  }
}

std::optional<CrashViolation> PoolWorker::run(const CrashRun& run, CrashCount& count) {
  run_ = run;
  count_ = &count;
  violation_.reset();
  random_ = Random(run.seed);
  const Granularity drawn = random_.chance(1, 2) ? Granularity::page : Granularity::cache_line;
  platform_ = Platform{};
  platform_.domain = run.settings.domain;
  platform_.ddio = run.settings.ddio;
  platform_.flush = run.settings.flush;
  platform_.granularity = run.settings.granularity.value_or(drawn);
  live(0, blank_, Expectation{});
  return violation_;
}

void PoolWorker::live(std::size_t depth, ConstBytes image, const Expectation& expected) {
  PoolLife& life = depths_[depth]->life;
  life.power_on(image, platform_, run_.faults, expected, random_.fork());
  const std::optional<Broken> broken = depth == 0 ? life.create() : life.recover();
  if (broken) {
    report(depth, *broken);
  } else if (life.has_pool() &&
             random_.chance(1, std::max<std::uint64_t>(1, levels[depth].goes_on_one_in))) {
    go_on(depth);
  }
}

void PoolWorker::go_on(std::size_t depth) {
  const std::uint64_t steps = random_.below(levels[depth].most_steps + 1);
  for (std::uint64_t step = 0; step < steps && !violation_; ++step) {
    if (const std::optional<Broken> broken = depths_[depth]->life.step()) {
      report(depth, *broken);
    }
  }
}

void PoolWorker::maybe_cut(std::size_t depth, const CrashEvent& event) {
  const Level& level = levels[depth];
  if (violation_ || level.cut_one_in == 0 || !random_.chance(1, level.cut_one_in)) {
    return;
  }
  Depth& here = *depths_[depth];
  const Expectation expected = here.life.expectation();
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

void PoolWorker::report(std::size_t depth, const Broken& broken) {
  if (!violation_) {
    violation_ =
        CrashViolation{run_.seed, to_string(platform_), broken.rule,
                       broken.explanation + " (life " + std::to_string(depth + 1) + ")", false};
  }
}

}  // namespace

std::span<const Fault* const> PoolSubject::faults() const {
  return pool_faults::all;
}

std::unique_ptr<CrashWorker> PoolSubject::worker() const {
  return std::make_unique<PoolWorker>();
}

}  // namespace remora
