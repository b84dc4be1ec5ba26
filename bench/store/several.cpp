// A write of eight keys at once beside one put and beside eight puts, one after the other and all
// in flight: by a native client over `mapped`, on a store in memory and on one in a file.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/measure.h"
#include "bench/store/served_objects.h"
#include "bench/store/store.h"

namespace remora::bench {
namespace {

constexpr std::size_t keys_at_once = 8;
constexpr std::size_t bytes_of_each = 100;
constexpr std::uint64_t most_keys = 10'000;
constexpr std::uint64_t rounds_for_each = 31;  // for each round that is asked for
constexpr std::uint64_t slice_of_side_ns = 10'000'000;

// Puts of keys by chance, in three ways. The first failure stays.
class Putter {
 public:
  Putter(PollLoop& loop, kv::StoreClient& store, kv::PutOptions options)
      : loop_(loop), store_(store), options_(options), value_(bytes_of_each, std::byte{0x5a}) {
    for (std::uint64_t i = 0; i < most_keys; ++i) {
      names_.push_back(fmt::format("together/{:08}", i));
    }
  }

  const Status& status() const { return status_; }

  void one() { keep(loop_.block_on(store_.put(as_bytes(name(0)), value_, options_))); }
  void in_turn() {
    const std::uint64_t first = draw();
    for (std::size_t i = 0; i < keys_at_once; ++i) {
      keep(loop_.block_on(store_.put(as_bytes(name(first + i)), value_, options_)));
    }
  }
  void in_flight() {
    const std::uint64_t first = draw();
    std::vector<Task<Status>> puts;
    puts.reserve(keys_at_once);
    for (std::size_t i = 0; i < keys_at_once; ++i) {
      puts.push_back(store_.put(as_bytes(name(first + i)), value_, options_));
    }
    for (Task<Status>& put : puts) {
      keep(loop_.block_on(std::move(put)));
    }
  }
  void together() {
    const std::uint64_t first = draw();
    std::array<kv::Write, keys_at_once> writes;
    for (std::size_t i = 0; i < keys_at_once; ++i) {
      writes[i] = {.key = as_bytes(name(first + i)), .value = value_};
    }
    keep(loop_.block_on(store_.write_together({.writes = writes}, options_)));
  }

 private:
  std::uint64_t draw() { return random_.below(most_keys); }
  const std::string& name(std::uint64_t number) const { return names_[number % most_keys]; }
  // The store may be making room: that put did not happen, and is no failure of what is measured.
  void keep(Status status) {
    if (!status.ok() && status.code() != Code::in_use && status_.ok()) {
      status_ = std::move(status);
    }
  }

  PollLoop& loop_;
  kv::StoreClient& store_;
  const kv::PutOptions options_;
  const std::vector<std::byte> value_;
  std::vector<std::string> names_;
  Random random_{1};
  Status status_;
};

Side repeat(Putter& putter, void (Putter::*way)()) {
  return [&putter, way](std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      (putter.*way)();
    }
  };
}

void show_ratio(const char* what, const std::vector<double>& ours,
                const std::vector<double>& theirs) {
  const std::vector<double> factors = ratios(ours, theirs);
  const Spread factor = spread_of(factors);
  const Interval median = median_interval(factors);
  std::printf("  %-28s %9.0f ns   at once takes %5.2f of it (median within %.2f to %.2f)\n", what,
              spread_of(theirs).median, factor.median, median.low, median.high);
}

Status measure_on(const StoreBenchOptions& options, const char* medium, const std::string& pool,
                  kv::Durability durability) {
  ServedObjects served(options.folder, pool);
  REMORA_TRY(served.start());
  if (served.loop().block_on(served.link().wire_taken()) != link::WireKind::mapped) {
    return Status(Code::unsupported, "the server does not let this process map its memory");
  }
  Putter putter(served.loop(), served.link().store(), {.durability = durability});
  const std::array<Side, 4> sides = {repeat(putter, &Putter::together),
                                     repeat(putter, &Putter::one), repeat(putter, &Putter::in_turn),
                                     repeat(putter, &Putter::in_flight)};
  const std::vector<std::vector<double>> taken =
      interleave(sides, {.rounds = options.rounds * rounds_for_each,
                         .slice_ns = slice_of_side_ns,
                         .work = Work::own});
  REMORA_TRY(putter.status());
  std::printf("%s: %zu keys of %zu B at once %.0f ns\n", medium, keys_at_once, bytes_of_each,
              spread_of(taken[0]).median);
  show_ratio("one put", taken[0], taken[1]);
  show_ratio("eight puts in turn", taken[0], taken[2]);
  show_ratio("eight puts in flight", taken[0], taken[3]);
  std::fflush(stdout);
  return {};
}

}  // namespace

Status measure_several(const StoreBenchOptions& options) {
  std::printf("measured: a write of several keys by a client on mapped, beside puts\n");
  REMORA_TRY(measure_on(options, "in memory", "", kv::Durability::standard));
  return measure_on(options, "in a file, persistent", options.folder + "/together.pool",
                    kv::Durability::persistent);
}

}  // namespace remora::bench
