// A GET from a second process over `mapped`, beside the least that it can cost: two copies of a
// cold line, of which the second depends on the first. And what the server's processor does
// meanwhile, beside what it does while nobody asks for anything.
#include <fmt/format.h>
#include <time.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "bench/measure.h"
#include "bench/store/served_objects.h"
#include "bench/store/store.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t mapped_objects = 1'000'000;
constexpr std::uint64_t warm_gets = 20'000;  // until keys are granted and memory is mapped
constexpr double target_factor = 4;

struct Line {
  std::uint64_t next;
  std::array<std::byte, 56> rest;
};
static_assert(sizeof(Line) == 64);

// Two of as many lines as the store takes for its objects.
class ColdLines {
 public:
  ColdLines() : lines_(mapped_objects * 4) {
    Random random(1);
    for (Line& line : lines_) {
      line.next = random.below(lines_.size());
    }
  }
  double copy_two(Random& random) const {
    const std::uint64_t first = random.below(lines_.size());
    Line copy;
    const std::uint64_t begin_ns = now_ns();
    std::memcpy(&copy, &lines_[first], sizeof copy);
    asm volatile("" : "+m"(copy));
    std::memcpy(&copy, &lines_[copy.next], sizeof copy);
    asm volatile("" : "+m"(copy));
    return static_cast<double>(now_ns() - begin_ns);
  }

 private:
  std::vector<Line> lines_;
};

Result<double> time_get(ServedObjects& served, Random& random) {
  std::array<std::byte, ServedObjects::value_bytes> value;
  const std::string name = ServedObjects::name_of(random.below(mapped_objects));
  kv::StoreClient& store = served.link().store();
  const std::uint64_t begin_ns = now_ns();
  const Result<std::size_t> size = served.loop().block_on(store.get(as_bytes(name), value));
  const std::uint64_t end_ns = now_ns();
  REMORA_TRY(size.status());
  return static_cast<double>(end_ns - begin_ns);
}

// User and system time of a process, in nanoseconds; a clock finer than the ticks of /proc/*/stat.
std::uint64_t cpu_ns_of(pid_t process) {
  clockid_t clock = 0;
  timespec time = {};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// What the server spends in a while in which this process only sleeps, for each second.
double idle_share(ServedObjects& served) {
  constexpr timespec span = {.tv_sec = 0, .tv_nsec = 500'000'000};
  const std::uint64_t cpu_ns = cpu_ns_of(served.pid());
  const std::uint64_t begin_ns = now_ns();
  ::nanosleep(&span, nullptr);
  return static_cast<double>(cpu_ns_of(served.pid()) - cpu_ns) /
         static_cast<double>(now_ns() - begin_ns);
}

struct Figures {
  std::vector<double> get_ns = {};  // the median of each round
  std::vector<double> copies_ns = {};
  std::vector<double> factors = {};
  std::uint64_t gets = 0;
  std::uint64_t span_ns = 0;
  std::uint64_t server_ns = 0;  // of CPU time
};

Status measure_rounds(const StoreBenchOptions& options, ServedObjects& served, Figures& figures) {
  const ColdLines lines;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    Random random(round + 1);
    std::vector<double> gets;
    std::vector<double> copies;
    const std::uint64_t cpu_ns = cpu_ns_of(served.pid());
    const std::uint64_t begin_ns = now_ns();
    for (std::uint64_t i = 0; i < options.operations; ++i) {
      REMORA_TRY_RESULT(taken, time_get(served, random));
      gets.push_back(*taken);
    }
    figures.span_ns += now_ns() - begin_ns;
    figures.server_ns += cpu_ns_of(served.pid()) - cpu_ns;
    figures.gets += options.operations;
    for (std::uint64_t i = 0; i < options.operations; ++i) {
      copies.push_back(lines.copy_two(random));
    }
    figures.get_ns.push_back(spread_of(std::move(gets)).median);
    figures.copies_ns.push_back(spread_of(std::move(copies)).median);
    figures.factors.push_back(figures.get_ns.back() / figures.copies_ns.back());
  }
  return {};
}

}  // namespace

Status measure_mapped_get(const StoreBenchOptions& options) {
  ServedObjects served(options.folder, "");
  REMORA_TRY(served.start());
  REMORA_TRY(served.fill(mapped_objects));
  Random random(1);
  for (std::uint64_t i = 0; i < warm_gets; ++i) {
    REMORA_TRY(served.look(random.below(mapped_objects)));
  }
  if (served.loop().block_on(served.link().wire_taken()) != link::WireKind::mapped) {
    return Status(Code::unsupported, "the server does not let this process map its memory");
  }
  const Result<std::uint64_t> asked_before = served.told("get_requests");
  const double idle = idle_share(served);
  Figures figures;
  REMORA_TRY(measure_rounds(options, served, figures));
  const Result<std::uint64_t> asked_after = served.told("get_requests");
  if (!asked_before.ok() || !asked_after.ok()) {
    return asked_before.ok() ? asked_after.status() : asked_before.status();
  }
  const double factor = spread_of(figures.factors).median;
  const auto gets = static_cast<double>(figures.gets);
  std::printf(
      "measured: GET of %zu B over mapped from a second process, %llu objects: p50 %.0f ns; two "
      "dependent copies of a cold line: p50 %.0f ns; %.1fx, target %.0fx: %s\n",
      ServedObjects::value_bytes, static_cast<unsigned long long>(mapped_objects),
      spread_of(figures.get_ns).median, spread_of(figures.copies_ns).median, factor, target_factor,
      factor <= target_factor ? "met" : "missed");
  std::printf(
      "          the server during %.0f GETs in %.0f ms: %llu requests, %.2f ms of CPU time, %.1f "
      "ns for a GET; idle it takes %.1f ms in as long\n",
      gets, static_cast<double>(figures.span_ns) / 1e6,
      static_cast<unsigned long long>(*asked_after - *asked_before),
      static_cast<double>(figures.server_ns) / 1e6, static_cast<double>(figures.server_ns) / gets,
      idle * static_cast<double>(figures.span_ns) / 1e6);
  std::fflush(stdout);
  return {};
}

}  // namespace remora::bench
