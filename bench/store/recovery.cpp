#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/store/store.h"
#include "kv/local_store.h"
#include "runtime/poll_loop.h"
#include "server/store_host.h"

namespace remora::bench {
namespace {

constexpr std::size_t value_sizes[] = {64, 4096};
constexpr std::uint64_t look_ns = 1'000'000;
constexpr std::uint64_t first_bytes = 128'000'000;  // of objects, as they lie

// So many values of that size.
struct Objects {
  std::uint64_t count = 0;
  std::size_t value_bytes = 0;

  // Of each, and of what leads to it, with room to clean.
  std::uint64_t bytes_of_one() const { return value_bytes + 192; }
  // What recovery reads: 64 of header, 24 of key, the value, in whole lines.
  std::uint64_t bytes() const { return count * (value_bytes + 128); }
};

server::StoreHostOptions host_options(const StoreBenchOptions& options, Objects objects) {
  server::StoreHostOptions host;
  host.pool_path = options.folder + "/recovery.pool";
  host.socket_path = options.folder + "/recovery.sock";
  host.pool_bytes = 3 * objects.count * objects.bytes_of_one() + (std::uint64_t{64} << 20);
  host.server.expected_keys = objects.count;
  return host;
}

Status fill(const StoreBenchOptions& options, Objects objects) {
  PollLoop loop;
  REMORA_TRY_RESULT(host, server::StoreHost::open(loop, host_options(options, objects)));
  kv::LocalStore& store = *(*host)->store().local();
  const std::vector<std::byte> value(objects.value_bytes);
  const ConstBytes pieces[] = {value};
  for (std::uint64_t i = 0; i < objects.count; ++i) {
    const std::string key = "object/" + std::to_string(i);
    REMORA_TRY_RESULT(put, store.put(std::as_bytes(std::span(key)), std::span(pieces)));
    if (i % 1024 == 0) {
      (void)loop.turn();
    }
  }
  return loop.block_on(store.persistent(store.now()));
}

std::uint64_t counter(kv::StoreServer& store, std::string_view name) {
  for (const kv::StoreServer::Counter& counter : store.counters()) {
    if (counter.name == name) {
      return counter.value;
    }
  }
  return 0;
}

struct Times {
  double opened = 0;
  double verified = 0;  // from then on, by a server that nobody asks for anything
};

Result<Times> open_and_verify(const StoreBenchOptions& options, Objects objects) {
  PollLoop loop;
  const std::uint64_t begin_ns = now_ns();
  Result<std::unique_ptr<server::StoreHost>> host =
      server::StoreHost::open(loop, host_options(options, objects));
  const std::uint64_t opened_ns = now_ns();
  REMORA_TRY(host.status());
  kv::StoreServer& store = (*host)->store();
  const std::uint64_t found = store.local()->keys();
  if (found != objects.count) {
    return Status(Code::damaged, "recovery found " + std::to_string(found) + " objects of " +
                                     std::to_string(objects.count));
  }
  while (counter(store, "verified_keys") != objects.count) {
    (void)loop.run_for(look_ns);
  }
  if (counter(store, "damaged_keys") != 0) {
    return Status(Code::damaged, "an object fails its checksum");
  }
  return Times{static_cast<double>(opened_ns - begin_ns) / 1e9,
               static_cast<double>(now_ns() - opened_ns) / 1e9};
}

// As many bytes of the file as objects take, from a cold cache as recovery has it.
Result<double> read_seconds(const StoreBenchOptions& options, Objects objects) {
  const std::string path = options.folder + "/recovery.pool";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return os_failure("cannot read " + path, errno);
  }
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t left = objects.bytes();
  const std::uint64_t begin_ns = now_ns();
  while (left != 0) {
    const ssize_t got = ::read(file, buffer.data(), std::min<std::uint64_t>(left, buffer.size()));
    if (got <= 0) {
      break;
    }
    left -= static_cast<std::uint64_t>(got);
  }
  const double seconds = static_cast<double>(now_ns() - begin_ns) / 1e9;
  ::close(file);
  return seconds;
}

Status measure_objects(const StoreBenchOptions& options, Objects objects) {
  REMORA_TRY(fill(options, objects));
  std::vector<double> opened;
  std::vector<double> verified;
  std::vector<double> read;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    const Result<double> bare = read_seconds(options, objects);
    REMORA_TRY(bare.status());
    const Result<Times> whole = open_and_verify(options, objects);
    REMORA_TRY(whole.status());
    read.push_back(*bare);
    opened.push_back(whole->opened);
    verified.push_back(whole->verified);
  }
  const double millions = static_cast<double>(objects.count) / 1e6;
  const Spread open = spread_of(opened);
  const Spread verify = spread_of(verified);
  const double bare = spread_of(read).median;
  std::printf(
      "%9llu objects of %4zu B   opened in %5.2f s (%.2f to %.2f; %.2f s a million)   then "
      "verified "
      "in %5.2f s (%.2f to %.2f; %.2f s a million)   bare read %5.2f s   %.1fx\n",
      static_cast<unsigned long long>(objects.count), objects.value_bytes, open.median, open.low,
      open.high, open.median / millions, verify.median, verify.low, verify.high,
      verify.median / millions, bare, open.median / bare);
  std::fflush(stdout);
  std::error_code ignored;
  std::filesystem::remove(options.folder + "/recovery.pool", ignored);
  return {};
}

}  // namespace

Status measure_recovery(const StoreBenchOptions& options) {
  std::printf(
      "measured: opening a store of so many objects, from a cold cache, and the verification of "
      "all "
      "their checksums in the background after it\n");
  for (const std::size_t value_bytes : value_sizes) {
    const std::uint64_t of_one = Objects{0, value_bytes}.bytes_of_one();
    const std::uint64_t of_small = Objects{0, value_sizes[0]}.bytes_of_one();
    // As many bytes of each size.
    for (std::uint64_t bytes = first_bytes; bytes <= options.most_objects * of_small; bytes *= 2) {
      REMORA_TRY(measure_objects(options, {bytes / of_one, value_bytes}));
    }
  }
  return {};
}

}  // namespace remora::bench
