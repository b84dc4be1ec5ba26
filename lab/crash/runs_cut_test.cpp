// A run of a pool is split and its end freed, and the power is cut at every event on the way: the
// run is whole, or two, or only its first part; every byte of what lives is there, and no space
// leaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/memory/images.h"
#include "pmem/pool.h"

namespace remora {
namespace {

using pool_format::block_bytes;
constexpr std::uint64_t pool_bytes = 256 << 10;
using Live = std::vector<std::uint64_t>;  // sizes in blocks, by place

class RunsCut : public testing::TestWithParam<Granularity> {
 protected:
  static Platform platform() {
    Platform platform;
    platform.granularity = GetParam();
    return platform;
  }

  static std::vector<std::byte> make_image() {
    CrashMemory memory(pool_bytes, platform(), Random(1));
    CrashRegion region(memory);
    const auto pool = std::move(Pool::create(region, {})).value();
    const Offset run = *pool->reserve(4 * block_bytes, Account::files);
    std::ranges::fill(pool->object(run), std::byte{0x5a});
    Transaction transaction;
    EXPECT_TRUE(transaction.publish(run, 4 * block_bytes).ok());
    EXPECT_TRUE(transaction.set_root("files", run).ok());
    EXPECT_TRUE(pool->wait(*pool->commit(transaction)).ok());
    EXPECT_TRUE(pool->close().ok());
    EXPECT_TRUE(region.wait(region.persist(region.bytes())).ok());
    return {memory.bytes().begin(), memory.bytes().end()};
  }

  // Nothing when the pool is broken.
  static Live live_after(ConstBytes image) {
    CrashMemory memory(pool_bytes, platform(), Random(2));
    memory.restart(image, platform(), Random(2));
    CrashRegion region(memory);
    const Result<std::unique_ptr<Pool>> pool = Pool::open(region, "the pool");
    if (!pool.ok() || !(*pool)->check_in_full().ok()) {
      return {};
    }
    std::map<Offset, std::uint64_t> found;
    std::uint64_t held = 0;
    (*pool)->for_each_object([&](Offset offset, std::uint64_t size_bytes) {
      found[offset] = size_bytes / block_bytes;
      held += size_bytes;
      const Bytes bytes = (*pool)->object(offset);
      EXPECT_TRUE(
          std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0x5a}; }));
    });
    EXPECT_EQ((*pool)->usage().free_bytes + held, (*pool)->header().block_count * block_bytes);
    Live live;
    for (const auto& [place, blocks] : found) {
      live.push_back(blocks);
    }
    return live;
  }
};

INSTANTIATE_TEST_SUITE_P(media, RunsCut,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(RunsCut, leaves_one_run_or_two_or_the_first) {
  const std::vector<std::byte> image = make_image();
  std::set<Live> seen;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    CrashMemory memory(pool_bytes, platform(), Random(seed));
    memory.restart(image, platform(), Random(seed));
    CrashRegion region(memory);
    const auto pool = std::move(Pool::open(region, "the pool")).value();
    const Offset run = *pool->root("files");
    Images images({32, 16});
    std::set<Live> allowed = {{4}, {1, 3}, {1}};
    const auto cut = [&](const CrashEvent&) {
      images.take(memory, Random(seed));
      while (images.next()) {
        const Live live = live_after(images.bytes());
        EXPECT_TRUE(allowed.contains(live)) << testing::PrintToString(live);
        seen.insert(live);
      }
    };
    memory.on_event(cut);
    const Result<Ticket> ticket = pool->split(run, block_bytes);
    ASSERT_TRUE(ticket.ok() && pool->wait(*ticket).ok());
    allowed = {{1, 3}, {1}};
    Transaction transaction;
    ASSERT_TRUE(transaction.free(run + block_bytes).ok());
    ASSERT_TRUE(pool->wait(*pool->commit(transaction)).ok());
    allowed = {{1}};
    cut(CrashEvent{});
    ASSERT_TRUE(pool->close().ok());
  }
  EXPECT_EQ(seen.size(), 3u);
}

}  // namespace
}  // namespace remora
