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

constexpr std::uint64_t first_count = 500'000;
constexpr std::size_t value_bytes = 64;
constexpr std::uint64_t bytes_of_one =
    256;  // of an object and of what leads to it, with room to clean

server::StoreHostOptions host_options(const StoreBenchOptions& options, std::uint64_t objects) {
  server::StoreHostOptions host;
  host.pool_path = options.folder + "/recovery.pool";
  host.socket_path = options.folder + "/recovery.sock";
  host.pool_bytes = 3 * objects * bytes_of_one + (std::uint64_t{64} << 20);
  host.server.expected_keys = objects;
  return host;
}

Status fill(const StoreBenchOptions& options, std::uint64_t objects) {
  PollLoop loop;
  REMORA_TRY_RESULT(host, server::StoreHost::open(loop, host_options(options, objects)));
  kv::LocalStore& store = *(*host)->store().local();
  const std::vector<std::byte> value(value_bytes);
  const ConstBytes pieces[] = {value};
  for (std::uint64_t i = 0; i < objects; ++i) {
    const std::string key = "object/" + std::to_string(i);
    REMORA_TRY_RESULT(put, store.put(std::as_bytes(std::span(key)), std::span(pieces)));
    if (i % 1024 == 0) {
      (void)loop.turn();
    }
  }
  return loop.block_on(store.persistent(store.now()));
}

Result<double> open_seconds(const StoreBenchOptions& options, std::uint64_t objects) {
  PollLoop loop;
  const std::uint64_t begin_ns = now_ns();
  Result<std::unique_ptr<server::StoreHost>> host =
      server::StoreHost::open(loop, host_options(options, objects));
  const std::uint64_t end_ns = now_ns();
  REMORA_TRY(host.status());
  const std::uint64_t found = (*host)->store().local()->keys();
  if (found != objects) {
    return Status(Code::damaged, "recovery found " + std::to_string(found) + " objects of " +
                                     std::to_string(objects));
  }
  return static_cast<double>(end_ns - begin_ns) / 1e9;
}

// As many bytes of the file as objects take, from a cold cache as recovery has it.
Result<double> read_seconds(const StoreBenchOptions& options, std::uint64_t objects) {
  const std::string path = options.folder + "/recovery.pool";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return os_failure("cannot read " + path, errno);
  }
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  std::vector<char> buffer(std::size_t{1} << 20);
  std::uint64_t left = objects * 192;  // 64 of header, 24 of key, 64 of value, in whole lines
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

}  // namespace

Status measure_recovery(const StoreBenchOptions& options) {
  std::printf("measured: opening a store of so many objects of 64 B, from a cold cache\n");
  for (std::uint64_t objects = first_count; objects <= options.most_objects; objects *= 2) {
    REMORA_TRY(fill(options, objects));
    std::vector<double> opened;
    std::vector<double> read;
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
      const Result<double> bare = read_seconds(options, objects);
      const Result<double> whole = open_seconds(options, objects);
      if (!bare.ok() || !whole.ok()) {
        return bare.ok() ? whole.status() : bare.status();
      }
      read.push_back(*bare);
      opened.push_back(*whole);
    }
    const double seconds = spread_of(opened).median;
    std::printf(
        "%9llu objects   opened in %6.2f s (%.2f s a million)   bare read %6.2f s   %.1fx\n",
        static_cast<unsigned long long>(objects), seconds,
        seconds * 1e6 / static_cast<double>(objects), spread_of(read).median,
        seconds / spread_of(read).median);
    std::fflush(stdout);
    std::error_code ignored;
    std::filesystem::remove(options.folder + "/recovery.pool", ignored);
  }
  return {};
}

}  // namespace remora::bench
