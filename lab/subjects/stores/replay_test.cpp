// A run follows from its seed and its settings alone: not from where memory lies, what it held
// before, which runs came earlier in the process, or the order of a hash table. So every engine
// runs its seeds twice in one process, in two orders, on a heap that has moved and is
// filled with other bytes.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "kv/store.h"
#include "lab/subjects/stores/store_run.h"

namespace remora::lab {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t replayed_seeds = 2;
#else
constexpr std::uint64_t replayed_seeds = 12;
#endif

struct Replayed {
  std::uint64_t trace_hash = 0;
  std::uint64_t history_hash = 0;
  std::uint64_t cuts = 0;
  std::uint64_t images = 0;
  std::uint64_t distinct_images = 0;
  std::string verdict;

  bool operator==(const Replayed&) const = default;
};

// What memory is filled with from here on when it is taken from the heap, and where that begins.
class OtherHeap {
 public:
  explicit OtherHeap(int filling) {
    mallopt(M_PERTURB, filling);
    for (int i = 1; i < 40; ++i) {
      taken_.emplace_back(static_cast<std::size_t>(filling * i) % 3000 + 1);
    }
  }
  ~OtherHeap() { mallopt(M_PERTURB, 0); }

 private:
  std::vector<std::vector<char>> taken_;
};

// Everything that clients asked and were told, and when.
std::uint64_t hash_of(const History& history) {
  std::uint64_t hash = history.cuts().size();
  const auto fold = [&hash](std::uint64_t value) { hash = mix(hash ^ value); };
  for (const Operation& operation : history.operations()) {
    fold(operation.client);
    fold(hash64(as_bytes(operation.key)));
    fold(static_cast<std::uint64_t>(operation.outcome));
    fold(operation.written.id);
    fold(operation.read.value.id);
    fold(operation.invoked);
    fold(operation.responded);
  }
  return hash;
}

Replayed run(const kv::Engine& engine, const CrashRun& how) {
  SiteTable sites;
  CrashCount count;
  StoreRun run(engine, how, sites, count);
  const std::optional<CrashViolation> violation = run.go();
  return {run.trace_hash(),
          hash_of(run.witness().history()),
          count.cuts,
          count.images,
          count.distinct.count(),
          violation ? violation->rule + ": " + violation->explanation : ""};
}

// The runs in order on one heap, and in the opposite order on another.
void expect_replayed(const kv::Engine& engine, const std::vector<CrashRun>& runs) {
  std::vector<Replayed> first;
  {
    const OtherHeap heap(0x5a);
    for (const CrashRun& how : runs) {
      first.push_back(run(engine, how));
    }
  }
  const OtherHeap heap(0xa3);
  for (std::size_t i = runs.size(); i-- > 0;) {
    const Replayed again = run(engine, runs[i]);
    EXPECT_EQ(again.trace_hash, first[i].trace_hash) << "seed " << runs[i].seed;
    EXPECT_EQ(again.verdict, first[i].verdict) << "seed " << runs[i].seed;
    EXPECT_TRUE(again == first[i]) << "seed " << runs[i].seed;
  }
}

class Replay : public testing::TestWithParam<const kv::Engine*> {};

TEST_P(Replay, follows_from_the_seed_alone) {
  std::vector<CrashRun> runs;
  for (std::uint64_t seed = 1; seed <= replayed_seeds; ++seed) {
    runs.push_back({.seed = seed, .settings = {}, .faults = {}});
    runs.push_back({.seed = seed, .settings = {}, .faults = {}});
    runs.back().settings.granularity = Granularity::page;
  }
  expect_replayed(*GetParam(), runs);
}

INSTANTIATE_TEST_SUITE_P(engines, Replay, testing::ValuesIn(kv::engines()),
                         [](const testing::TestParamInfo<const kv::Engine*>& param) {
                           std::string name(param.param->name());
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Replay, of_a_planted_bug_finds_the_same_violation) {
  std::vector<CrashRun> runs;
  for (const Fault* fault : kv::engines().front()->faults()) {
    runs.push_back({.seed = 108, .settings = {}, .faults = Faults(*fault)});
  }
  expect_replayed(*kv::engines().front(), runs);
}

}  // namespace
}  // namespace remora::lab
