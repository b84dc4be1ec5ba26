// A pool grows, and the power is cut at every event on the way: the pool has its old size or its
// new one, all that it held, and can be grown to the new size.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lab/crash/pool_model.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/memory/images.h"
#include "pmem/pool.h"
#include "pmem/pool_faults.h"

namespace remora {
namespace {

constexpr std::uint64_t old_bytes = 256 << 10;
constexpr std::uint64_t new_bytes = 320 << 10;

struct Outcome {
  std::size_t old_size = 0;
  std::size_t new_size = 0;
  std::size_t broken = 0;
};

class GrowthCut : public testing::TestWithParam<Granularity> {
 protected:
  static Platform platform() {
    Platform platform;
    platform.granularity = GetParam();
    return platform;
  }

  // A pool with an object under a root, and anything behind it.
  static std::vector<std::byte> make_image() {
    std::vector<std::byte> image(new_bytes);
    Random random(3);
    for (std::size_t at = old_bytes; at < image.size(); at += word_bytes) {
      store(image.data() + at, random.next());
    }
    CrashMemory memory(new_bytes, platform(), Random(1));
    memory.restart(image, platform(), Random(1));
    CrashRegion region(memory);
    const auto pool = std::move(Pool::create(region, {}, Faults(), old_bytes)).value();
    const ModelObject object{7, 4096, *pool->reserve(4096), false};
    fill_object(pool->object(object.offset), object, 0);
    Transaction transaction;
    EXPECT_TRUE(transaction.publish(object.offset, object.size_bytes).ok());
    EXPECT_TRUE(transaction.set_root(model_root_name(0), object.offset).ok());
    EXPECT_TRUE(pool->wait(*pool->commit(transaction)).ok());
    EXPECT_TRUE(pool->close().ok());
    EXPECT_TRUE(region.wait(region.persist(region.bytes())).ok());
    image.assign(memory.bytes().begin(), memory.bytes().end());
    return image;
  }

  // What is there after a cut: the size, or nothing when the pool is broken.
  static std::optional<std::uint64_t> size_after(ConstBytes image, bool acknowledged) {
    CrashMemory memory(new_bytes, platform(), Random(2));
    memory.restart(image, platform(), Random(2));
    CrashRegion region(memory);
    const Result<std::unique_ptr<Pool>> pool = Pool::open(region, "the pool");
    if (!pool.ok() || !(*pool)->check_in_full().ok()) {
      return std::nullopt;
    }
    const std::uint64_t size = (*pool)->size_bytes();
    const Result<PoolState> found = read_state(**pool);
    if (!found.ok() || (*found)[0].size() != 1 || (acknowledged && size != new_bytes)) {
      return std::nullopt;
    }
    const bool again = size == new_bytes || (*pool)->grow(new_bytes).ok();
    return again && (*pool)->check_in_full().ok() ? std::optional(size) : std::nullopt;
  }

  static Outcome cut_everywhere(const Faults& faults) {
    const std::vector<std::byte> image = make_image();
    Outcome outcome;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CrashMemory memory(new_bytes, platform(), Random(seed));
      memory.restart(image, platform(), Random(seed));
      CrashRegion region(memory);
      const auto pool = std::move(Pool::open(region, "the pool", faults)).value();
      Images images({64, 16});
      bool acknowledged = false;
      const auto cut = [&](const CrashEvent&) {
        images.take(memory, Random(seed));
        while (images.next()) {
          const std::optional<std::uint64_t> size = size_after(images.bytes(), acknowledged);
          ++(!size ? outcome.broken : *size == old_bytes ? outcome.old_size : outcome.new_size);
        }
      };
      memory.on_event(cut);
      EXPECT_TRUE(pool->grow(new_bytes).ok());
      acknowledged = true;
      cut(CrashEvent{});
    }
    return outcome;
  }
};

INSTANTIATE_TEST_SUITE_P(media, GrowthCut,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(GrowthCut, leaves_the_old_size_or_the_new_one) {
  const Outcome outcome = cut_everywhere(Faults());
  EXPECT_EQ(outcome.broken, 0u);
  EXPECT_GT(outcome.old_size, 0u);
  EXPECT_GT(outcome.new_size, 0u);
}

TEST_P(GrowthCut, notices_each_mistake_that_can_be_planted) {
  for (const Fault* fault : {&pool_faults::grown_first, &pool_faults::growth_not_cleared,
                             &pool_faults::growth_not_awaited}) {
    EXPECT_GT(cut_everywhere(Faults(*fault)).broken, 0u) << fault->what;
  }
}

}  // namespace
}  // namespace remora
