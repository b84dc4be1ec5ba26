#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "bench/bare_disk.h"
#include "bench/claims.h"
#include "pmem/file_region.h"
#include "pmem/open_region.h"
#include "runtime/parallel.h"

namespace remora::bench {
namespace {

constexpr std::array<std::uint64_t, 3> thread_counts = {1, 8, 64};

std::uint64_t file_bytes(const MicroOptions& options) {
  return std::uint64_t{options.quick ? 2u : 16u} << 20;
}

// Alone, a waiter pays for its own msync and little more. A crowd shares: those who come while a
// sync runs wait for the next one, so that a persist takes up to two syncs.
double commit_target_ratio(std::uint64_t threads) {
  return threads == 1 ? 1.1 : 2.0;
}

// Threads that each write a record to a random page of their own, flush, drain and wait. Counts
// what one call made of it.
class Waiters {
 public:
  Waiters(FileRegion& region, std::uint64_t threads) : region_(region) {
    for (std::uint64_t i = 0; i < threads; ++i) {
      randoms_.push_back(std::make_unique<Random>(i));
    }
  }

  void persist(std::uint64_t times, FirstFailure& failure) {
    const std::uint64_t syncs_before = region_.syncs();
    parallel_for(randoms_.size(), randoms_.size(), [&](std::size_t thread) {
      for (std::uint64_t i = 0; i < times; ++i) {
        persist_once(thread, i, failure);
      }
    });
    const auto syncs = static_cast<double>(region_.syncs() - syncs_before);
    syncs_per_persist_.push_back(syncs / static_cast<double>(times * randoms_.size()));
  }

  // Of the last calls.
  double syncs_per_persist(std::uint64_t calls) const {
    return spread_of({syncs_per_persist_.end() - static_cast<std::ptrdiff_t>(calls),
                      syncs_per_persist_.end()})
        .median;
  }

 private:
  void persist_once(std::size_t thread, std::uint64_t value, FirstFailure& failure) {
    std::array<std::byte, record_bytes> record;
    record.fill(std::byte{0x5a});
    store(record.data(), value);
    const std::uint64_t share = region_.size() / page_bytes / randoms_.size();
    const std::uint64_t page = randoms_[thread]->below(share) * randoms_.size() + thread;
    std::byte* to = region_.data() + page * page_bytes;
    std::memcpy(to, record.data(), record.size());
    Region& region = region_;
    region.flush(ConstBytes(to, record.size()));
    if (Status status = region.wait(region.drain()); !status.ok()) {
      failure.note(std::move(status));
    }
  }

  FileRegion& region_;
  std::vector<std::unique_ptr<Random>> randoms_;  // apart from each other, one for each thread
  std::vector<double> syncs_per_persist_;
};

// One file for each way, so that none meets the dirty pages of another.
struct Disk {
  FileHandle region_file;
  FileHandle written_file;
  FileHandle mapped_file;
};

Result<Disk> prepare(const MicroOptions& options) {
  std::vector<FileHandle> files;
  while (files.size() < 3) {
    REMORA_TRY_RESULT(file, make_unnamed_file(options.path, file_bytes(options)));
    files.push_back(std::move(file).value());
  }
  return Disk{std::move(files[0]), std::move(files[1]), std::move(files[2])};
}

std::vector<double> divided(std::vector<double> series, std::uint64_t by) {
  for (double& sample : series) {
    sample /= static_cast<double>(by);
  }
  return series;
}

Wording shared_wording(std::uint64_t threads) {
  return {fmt::format("commit/{}", threads),
          threads == 1 ? std::string("a thread that waits alone pays for one msync")
                       : fmt::format("{} waiting threads share msyncs", threads),
          threads == 1 ? std::string("one thread: 64 B to a random mapped page + msync")
                       : fmt::format("one thread: 64 B to each of {} random mapped pages + one "
                                     "msync, for each page",
                                     threads),
          commit_target_ratio(threads)};
}

Wording written_wording(std::uint64_t threads) {
  return {fmt::format("commit-fdatasync/{}", threads),
          fmt::format("{} waiting thread{} beside writing and syncing one by one", threads,
                      threads == 1 ? "" : "s"),
          "one thread: pwrite of 64 B to a random page + fdatasync", std::nullopt};
}

void add_rates(Claim& claim, double syncs_per_persist) {
  const double persists_per_s = 1e9 / claim.obtained_ns.median;
  claim.beside = {{"persists_per_s", persists_per_s},
                  {"msyncs_per_s", persists_per_s * syncs_per_persist},
                  {"persists_per_msync", 1 / syncs_per_persist},
                  {"bare_per_s", 1e9 / claim.limit_ns.median}};
}

// The sides in this order: fdatasync, then for each number of threads the bare mapping and the
// region.
Result<Claims> measure(FileRegion& region, BareWriter& writer, BareMapping& mapping,
                       const Plan& plan) {
  FirstFailure failure;
  std::vector<std::unique_ptr<Waiters>> crowds;
  std::vector<Side> sides = {[&](std::uint64_t times) { writer.write(times, failure); }};
  for (std::uint64_t threads : thread_counts) {
    crowds.push_back(std::make_unique<Waiters>(region, threads));
    Waiters& crowd = *crowds.back();
    sides.emplace_back([&mapping, &failure, threads](std::uint64_t times) {
      mapping.write(times, threads, failure);
    });
    sides.emplace_back([&crowd, &failure](std::uint64_t times) { crowd.persist(times, failure); });
  }
  const auto series = interleave(sides, plan);
  REMORA_TRY(failure.status());
  Claims claims;
  for (std::size_t i = 0; i < thread_counts.size(); ++i) {
    const std::uint64_t threads = thread_counts[i];
    const std::vector<double> obtained_ns = divided(series[2 * i + 2], threads);
    const double syncs_per_persist = crowds[i]->syncs_per_persist(plan.rounds);
    claims.push_back(
        compare(shared_wording(threads), obtained_ns, divided(series[2 * i + 1], threads)));
    add_rates(claims.back(), syncs_per_persist);
    claims.push_back(compare(written_wording(threads), obtained_ns, series[0]));
    add_rates(claims.back(), syncs_per_persist);
  }
  return claims;
}

}  // namespace

Status check_commit(const MicroOptions& options) {
  return make_unnamed_file(options.path, page_bytes).status();
}

Result<Claims> measure_commit(const MicroOptions& options) {
  REMORA_TRY_RESULT(disk, prepare(options));
  REMORA_TRY_RESULT(region, open_region(disk->region_file, Media::file));
  REMORA_TRY_RESULT(mapping, BareMapping::map(disk->mapped_file, file_bytes(options)));
  BareWriter writer(disk->written_file, file_bytes(options));
  return measure(dynamic_cast<FileRegion&>(**region), writer, *mapping, disk_plan(options));
}

}  // namespace remora::bench
