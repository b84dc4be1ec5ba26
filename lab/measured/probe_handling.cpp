#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "base/random.h"
#include "lab/measured/probes.h"
#include "pmem/open_region.h"
#include "runtime/poll_loop.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t handled_bytes = 64 << 20;  // larger than the caches of a core
constexpr std::uint64_t index_bytes = 1 << 20;     // of some thousand keys
constexpr double ns_per_s = 1e9;

double clock_ns() {
  static const PollLoop clock;
  return static_cast<double>(clock.now_ns());
}

// What one piece takes: the least of several goes at many, since nothing makes a go faster but what
// others do makes some slower.
template <typename Piece>
double piece_ns(std::uint64_t count, Piece piece) {
  double least_ns = 1e18;
  for (int go = 0; go < 7; ++go) {
    const double begin_ns = clock_ns();
    for (std::uint64_t i = 0; i < count; ++i) {
      piece(i);
    }
    least_ns = std::min(least_ns, (clock_ns() - begin_ns) / static_cast<double>(count));
  }
  return least_ns;
}

// Keeps the compiler from leaving out what nobody looks at.
void look_at(const void* pointer) {
  asm volatile("" : : "g"(pointer) : "memory");
}

// A walk through all lines in an order that no prefetcher guesses.
double load_ns(Bytes memory) {
  const std::size_t lines = memory.size() / cache_line_bytes;
  std::vector<std::uint32_t> order(lines);
  for (std::size_t i = 0; i < lines; ++i) {
    order[i] = static_cast<std::uint32_t>(i);
  }
  Random random(1);
  for (std::size_t i = lines - 1; i > 0; --i) {  // one cycle through all of them
    std::swap(order[i], order[random.below(i)]);
  }
  for (std::size_t i = 0; i < lines; ++i) {
    std::memcpy(memory.data() + i * cache_line_bytes, &order[i], sizeof order[i]);
  }
  std::uint32_t at = 0;
  return piece_ns(200'000, [&](std::uint64_t) {
    std::memcpy(&at, memory.data() + std::size_t{at} * cache_line_bytes, sizeof at);
    look_at(&at);
  });
}

}  // namespace

Result<Handling> measure_handling() {
  const Seat seat(0);  // the server's
  REMORA_TRY_RESULT(region, make_dram(handled_bytes));
  const Bytes memory = (*region)->bytes();
  std::memset(memory.data(), 1, memory.size());
  std::vector<std::byte> value(large_bytes, std::byte{3});
  const auto place = [&](std::uint64_t i) {
    return memory.subspan(i * 2 * large_bytes % memory.size(), large_bytes);
  };
  Handling work;
  std::uint32_t sum = 0;
  work.crc_kb_ns = piece_ns(2'000,
                            [&](std::uint64_t) {
                              sum ^= crc32c(value);
                              look_at(&sum);
                            }) /
                   4;
  work.copy_kb_ns = piece_ns(2'000,
                             [&](std::uint64_t i) {
                               std::memcpy(place(i).data(), value.data(), value.size());
                               look_at(place(i).data());
                             }) /
                    4;
  // Lines that were changed before, and then the same once more.
  const auto persist_ns = [&](std::uint64_t lines, bool dirty) {
    double least_ns = 1e18;
    for (int go = 0; go < 400; ++go) {
      const Bytes range = place(static_cast<std::uint64_t>(go)).first(lines * cache_line_bytes);
      std::memset(range.data(), go, dirty ? range.size() : 0);
      look_at(range.data());
      const double begin_ns = clock_ns();
      (*region)->flush(range);
      (void)(*region)->drain();
      least_ns = std::min(least_ns, clock_ns() - begin_ns);
    }
    return least_ns;
  };
  const double more = static_cast<double>(large_bytes / cache_line_bytes - 1);
  const double one_ns = persist_ns(1, true);
  work.line_ns = (persist_ns(large_bytes / cache_line_bytes, true) - one_ns) / more;
  const double one_clean_ns = persist_ns(1, false);
  work.clean_line_ns = (persist_ns(large_bytes / cache_line_bytes, false) - one_clean_ns) / more;
  work.fence_ns = one_ns - work.line_ns;
  work.store_ns = piece_ns(20'000, [&](std::uint64_t i) {
    std::memset(memory.data() + i * cache_line_bytes % memory.size(), static_cast<int>(i), 64);
    look_at(memory.data());
  });
  const auto bytes = static_cast<double>(memory.size());
  work.write_bytes_per_s = bytes * ns_per_s / piece_ns(1, [&](std::uint64_t i) {
                             std::memset(memory.data(), static_cast<int>(i), memory.size());
                           });
  std::uint64_t words = 0;
  work.read_bytes_per_s = bytes * ns_per_s / piece_ns(1, [&](std::uint64_t) {
                            for (std::size_t at = 0; at < memory.size(); at += 8) {
                              std::uint64_t word = 0;
                              std::memcpy(&word, memory.data() + at, sizeof word);
                              words += word;
                            }
                            look_at(&words);
                          });
  work.index_ns = load_ns(memory.first(index_bytes));
  work.syscall_ns = piece_ns(10'000, [](std::uint64_t) { (void)::getppid(); });
  return work;
}

}  // namespace remora::lab
