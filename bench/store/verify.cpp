// What it costs to compute a value's checksum at a get, beside gets that do not: by size, for
// clients on the wires of one machine, and for the server's own process. verify_reads = auto
// verifies where that is under a tenth.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "bench/measure.h"
#include "bench/store/served_objects.h"
#include "bench/store/store.h"
#include "kv/local_store.h"
#include "server/store_host.h"

namespace remora::bench {
namespace {

constexpr std::array<std::size_t, 6> sizes = {64, 256, 1024, 4096, 16384, 65536};
constexpr std::uint64_t bytes_of_values = 64 << 20;  // more than a core has to itself
constexpr std::uint64_t most_objects = 100'000;
constexpr std::uint64_t rounds_of_one = 31;  // for each round that is asked for
constexpr std::uint64_t slice_ns = 4'000'000;
constexpr double tenth = 1.1;

std::uint64_t objects_of(std::size_t size) {
  return std::min<std::uint64_t>(most_objects, bytes_of_values / size);
}

std::string name_of(std::size_t size, std::uint64_t number) {
  return fmt::format("{}/{:08}", size, number);
}

// One way to get a value, verified or not. The first failure stays.
struct Getter {
  std::function<Status(const std::string& name, Bytes value)> get;
  Random random;
  Status status = {};

  void go(std::size_t size, std::uint64_t gets) {
    std::vector<std::byte> value(size);
    for (std::uint64_t i = 0; i < gets && status.ok(); ++i) {
      status = get(name_of(size, random.below(objects_of(size))), value);
    }
  }
};

// Returns whether it is under a tenth, by the median.
Result<bool> measure_size(const StoreBenchOptions& options, const char* way, std::size_t size,
                          Getter& always, Getter& never) {
  const std::array<Side, 2> sides = {[&](std::uint64_t gets) { always.go(size, gets); },
                                     [&](std::uint64_t gets) { never.go(size, gets); }};
  const std::vector<std::vector<double>> taken =
      interleave(sides, {.rounds = options.rounds * rounds_of_one, .slice_ns = slice_ns});
  REMORA_TRY(always.status);
  REMORA_TRY(never.status);
  const std::vector<double> factors = ratios(taken[0], taken[1]);
  const Spread factor = spread_of(factors);
  const Interval median = median_interval(factors);
  std::printf(
      "%-7s %6zu B   verified %8.0f ns   unverified %8.0f ns   %.3f (median within %.3f to %.3f, "
      "rounds %.2f to %.2f)   %s\n",
      way, size, spread_of(taken[0]).median, spread_of(taken[1]).median, factor.median, median.low,
      median.high, factor.low, factor.high,
      median.high < tenth   ? "under a tenth"
      : median.low >= tenth ? "a tenth or more"
                            : "near a tenth");
  std::fflush(stdout);
  return factor.median < tenth;
}

// The largest size up to which all are under a tenth.
Result<std::uint64_t> measure_way(const StoreBenchOptions& options, const char* way, Getter& always,
                                  Getter& never) {
  std::uint64_t most = 0;
  bool so_far = true;
  for (const std::size_t size : sizes) {
    REMORA_TRY_RESULT(under, measure_size(options, way, size, always, never));
    so_far = so_far && *under;
    most = so_far ? size : most;
  }
  return most;
}

Getter by(PollLoop& loop, link::StoreLink& link, std::uint64_t seed) {
  return {[&loop, &link](const std::string& name, Bytes value) {
            return loop.block_on(link.store().get(as_bytes(name), value)).status();
          },
          Random(seed)};
}

Status put_all(ServedObjects& served) {
  for (const std::size_t size : sizes) {
    const std::vector<std::byte> value(size, std::byte{0x5a});
    for (std::uint64_t i = 0; i < objects_of(size); ++i) {
      const std::string name = name_of(size, i);
      Status status;
      do {
        status = served.loop().block_on(served.link().store().put(as_bytes(name), value));
      } while (status.code() == Code::in_use);
      REMORA_TRY(std::move(status));
    }
  }
  return served.rest();
}

Status measure_clients(const StoreBenchOptions& options) {
  ServedObjects served(options.folder, "", true);
  REMORA_TRY(served.start());
  REMORA_TRY(put_all(served));
  for (const auto& [way, wire] :
       {std::pair{"mapped", link::WireKind::mapped}, std::pair{"ring", link::WireKind::ring},
        std::pair{"roce", link::WireKind::roce}}) {
    // A loop that has several clients sleeps in another way than one that has one.
    std::array<PollLoop, 2> loops;
    std::array<std::unique_ptr<link::StoreLink>, 2> links;
    for (std::size_t i = 0; i < links.size(); ++i) {
      REMORA_TRY_RESULT(link,
                        served.another(loops[i], wire,
                                       i == 0 ? kv::VerifyReads::always : kv::VerifyReads::never));
      links[i] = std::move(link).value();
    }
    Getter always = by(loops[0], *links[0], 1);
    Getter never = by(loops[1], *links[1], 2);
    REMORA_TRY_RESULT(most, measure_way(options, way, always, never));
    std::printf("%-7s under a tenth up to %llu B\n", way, static_cast<unsigned long long>(*most));
  }
  return {};
}

// A store in this process.
Result<std::unique_ptr<server::StoreHost>> open_here(PollLoop& loop, const std::string& socket,
                                                     kv::VerifyReads policy) {
  server::StoreHostOptions options;
  options.socket_path = socket;
  options.pool_bytes = std::uint64_t{1} << 30;
  options.server.verify_reads = policy;
  Result<std::unique_ptr<server::StoreHost>> host =
      server::StoreHost::open(loop, std::move(options));
  if (!host.ok()) {
    return host;
  }
  kv::LocalStore& store = *(*host)->store().local();
  for (const std::size_t size : sizes) {
    const std::vector<std::byte> value(size, std::byte{0x5a});
    const ConstBytes pieces[] = {value};
    for (std::uint64_t i = 0; i < objects_of(size); ++i) {
      const std::string name = name_of(size, i);
      REMORA_TRY(store.put(as_bytes(name), std::span(pieces)).status());
      if (i % 256 == 0) {
        (void)loop.turn();
      }
    }
  }
  REMORA_TRY(loop.block_on(store.persistent(store.now())));
  return host;
}

Getter by(server::StoreHost& host, std::uint64_t seed) {
  return {[store = host.store().local()](const std::string& name, Bytes value) {
            const std::optional<kv::LocalStore::Found> found = store->get(as_bytes(name));
            if (!found || found->value.size() != value.size()) {
              return Status(Code::damaged, name + " is not there as it was put");
            }
            copy_bytes(value.data(), found->value);
            return Status();
          },
          Random(seed)};
}

Status measure_server(const StoreBenchOptions& options) {
  PollLoop loop;
  Result<std::unique_ptr<server::StoreHost>> verifying =
      open_here(loop, options.folder + "/always.sock", kv::VerifyReads::always);
  Result<std::unique_ptr<server::StoreHost>> trusting =
      open_here(loop, options.folder + "/never.sock", kv::VerifyReads::never);
  if (!verifying.ok() || !trusting.ok()) {
    return verifying.ok() ? trusting.status() : verifying.status();
  }
  Getter always = by(**verifying, 1);
  Getter never = by(**trusting, 2);
  const Result<std::uint64_t> most = measure_way(options, "server", always, never);
  if (most.ok()) {
    std::printf("%-7s under a tenth up to %llu B\n", "server",
                static_cast<unsigned long long>(*most));
  }
  return most.status();
}

}  // namespace

Status measure_verify(const StoreBenchOptions& options) {
  std::printf(
      "measured: gets whose value is verified beside gets whose value is not, values by chance "
      "of 64 MB of each size\n");
  REMORA_TRY(measure_clients(options));
  return measure_server(options);
}

}  // namespace remora::bench
