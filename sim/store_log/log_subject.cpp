#include "sim/store_log/log_subject.h"

#include <algorithm>
#include <array>

#include "kv/log/log_faults.h"
#include "sim/memory/images.h"
#include "sim/store_log/log_life.h"

namespace remora {
namespace {

// How much happens at each level: the first life is the long one.
struct Level {
  std::uint64_t cut_one_in;  // events
  ImageLimits images;        // per cut
  std::uint64_t most_steps;
};
constexpr std::array<Level, 4> levels = {{
    {16, {6, 4}, 70},
    {24, {3, 3}, 30},
    {40, {2, 2}, 12},
    {0, {0, 0}, 0},
}};

class LogWorker final : public CrashWorker {
 public:
  LogWorker();

  std::optional<CrashViolation> run(const CrashRun& run, CrashCount& count) override;
  SiteTable& sites() override { return sites_; }

 private:
  struct Depth {
    Depth(SiteTable& sites, std::uint64_t& next_number, ImageLimits limits)
        : life(sites, next_number), images(limits) {}

    LogLife life;
    Images images;
  };

  void live(std::size_t depth, ConstBytes image, const ExpectedLog& expected);
  void maybe_cut(std::size_t depth, const CrashEvent& event);

  SiteTable sites_;
  std::uint64_t next_number_ = 1;
  std::vector<std::unique_ptr<Depth>> depths_;
  std::vector<std::byte> blank_;
  CrashRun run_;
  Platform platform_;
  Random random_{0};
  CrashCount* count_ = nullptr;
  std::optional<CrashViolation> violation_;
};

LogWorker::LogWorker() : blank_(LogLife::pool_bytes) {
  for (std::size_t depth = 0; depth < levels.size(); ++depth) {
    depths_.push_back(std::make_unique<Depth>(sites_, next_number_, levels[depth].images));
    depths_[depth]->life.memory().on_event(
        [this, depth](const CrashEvent& event) { maybe_cut(depth, event); });
  }
}

std::optional<CrashViolation> LogWorker::run(const CrashRun& run, CrashCount& count) {
  run_ = run;
  count_ = &count;
  violation_.reset();
  random_ = Random(run.seed);
  next_number_ = 1;
  const Granularity drawn = random_.chance(1, 2) ? Granularity::page : Granularity::cache_line;
  platform_ = Platform{};
  platform_.domain = run.settings.domain;
  platform_.ddio = run.settings.ddio;
  platform_.flush = run.settings.flush;
  platform_.granularity = run.settings.granularity.value_or(drawn);
  live(0, blank_, ExpectedLog{});
  return violation_;
}

void LogWorker::live(std::size_t depth, ConstBytes image, const ExpectedLog& expected) {
  LogLife& life = depths_[depth]->life;
  life.power_on(image, platform_, run_.faults, expected, random_.fork());
  std::optional<BrokenLog> broken = depth == 0 ? life.create() : life.recover();
  const std::uint64_t steps = random_.below(levels[depth].most_steps + 1);
  for (std::uint64_t step = 0; step < steps && life.has_log() && !broken && !violation_; ++step) {
    broken = life.step();
  }
  if (broken && !violation_) {
    violation_ =
        CrashViolation{run_.seed, to_string(platform_), broken->rule,
                       broken->explanation + " (life " + std::to_string(depth + 1) + ")", false};
  }
}

void LogWorker::maybe_cut(std::size_t depth, const CrashEvent& event) {
  const Level& level = levels[depth];
  if (violation_ || level.cut_one_in == 0 || !random_.chance(1, level.cut_one_in)) {
    return;
  }
  Depth& here = *depths_[depth];
  const ExpectedLog expected = here.life.expectation();
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

}  // namespace

std::span<const Fault* const> LogSubject::faults() const {
  return kv::log_faults::all;
}

std::unique_ptr<CrashWorker> LogSubject::worker() const {
  return std::make_unique<LogWorker>();
}

}  // namespace remora
