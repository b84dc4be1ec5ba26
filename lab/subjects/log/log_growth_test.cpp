// A store moves to a larger table in a pool that was grown, and the power is cut at every event on
// the way: every key is there, in the old table or in the new one, and nothing leaks.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kv/log/log_testing.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "lab/memory/images.h"

namespace remora {
namespace {

constexpr std::uint64_t old_bytes = 256 << 10;
constexpr std::uint64_t new_bytes = 512 << 10;
constexpr std::uint64_t segment_bytes = 16 << 10;
const kv::LogOptions store_options = {"sim", segment_bytes};

// A machine with that memory, and what is opened there.
struct Machine {
  Machine(ConstBytes image, Granularity granularity, std::uint64_t seed)
      : memory(image.size(), {.granularity = granularity}, Random(seed)) {
    memory.restart(image);
    region.emplace(memory);
    parts.emplace(*region);
  }

  // How many objects are found whole, or why the store does not open.
  Result<std::uint64_t> recover() {
    std::uint64_t whole = 0;
    REMORA_TRY_RESULT(opened, kv::Log::recover(parts->host, *pool, store_options,
                                               [&whole](const kv::Object& object) {
                                                 whole += object.intact() ? 1u : 0u;
                                               }));
    log = std::move(opened).value();
    return whole;
  }
  std::uint64_t slots() const {
    kv::store_format::Head head;
    std::memcpy(&head, pool->object(*pool->root(kv::store_format::root_name)).data(), sizeof head);
    return head.slot_count;
  }

  CrashMemory memory;
  std::optional<CrashRegion> region;
  std::optional<kv::LogMachine> parts;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<kv::Log> log;
};

class LogGrowth : public testing::TestWithParam<Granularity> {
 protected:
  // A store that is full, in a pool that was grown afterwards.
  std::vector<std::byte> make_image() {
    Machine machine(std::vector<std::byte>(new_bytes), GetParam(), 1);
    machine.pool = Pool::create(*machine.region, {}, Faults(), old_bytes).value();
    machine.log = kv::Log::create(machine.parts->host, *machine.pool, store_options).value();
    for (;; ++objects_) {
      const std::string key = "key-" + std::to_string(objects_);
      const std::string value(3000, 'v');
      const auto placed =
          machine.log->append(kv::new_object(as_bytes(key), as_bytes(value), objects_ + 1));
      if (!placed.ok()) {
        break;
      }
      std::ranges::copy(as_bytes(value), placed->value.begin());
      machine.region->flush(placed->value);
    }
    EXPECT_TRUE(machine.region->wait(machine.log->seal()).ok());
    EXPECT_TRUE(machine.pool->grow(new_bytes).ok());
    EXPECT_TRUE(machine.pool->close().ok());
    EXPECT_TRUE(machine.region->wait(machine.region->persist(machine.region->bytes())).ok());
    return {machine.memory.bytes().begin(), machine.memory.bytes().end()};
  }
  void expect_whole(ConstBytes image) {
    Machine machine(image, GetParam(), 2);
    auto pool = Pool::open(*machine.region, "the pool");
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    machine.pool = std::move(pool).value();
    ++(machine.slots() == old_bytes / segment_bytes ? old_tables_ : new_tables_);
    const Result<std::uint64_t> whole = machine.recover();
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    EXPECT_EQ(*whole, objects_);
    EXPECT_EQ(machine.slots(), new_bytes / segment_bytes);
    EXPECT_EQ(machine.pool->usage().object_count, machine.log->usage().segments + 1);
    EXPECT_TRUE(machine.pool->check_in_full().ok());
  }

  std::uint64_t objects_ = 0;
  std::uint64_t old_tables_ = 0;
  std::uint64_t new_tables_ = 0;
};

INSTANTIATE_TEST_SUITE_P(media, LogGrowth,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(LogGrowth, a_cut_leaves_the_old_table_or_the_new_one) {
  const std::vector<std::byte> image = make_image();
  ASSERT_GT(objects_, 40u);
  Images images({16, 8});
  for (std::uint64_t seed = 1; seed <= 5 && !HasFailure(); ++seed) {
    Machine machine(image, GetParam(), seed);
    machine.pool = Pool::open(*machine.region, "the pool").value();
    machine.memory.on_event([&](const CrashEvent&) {
      images.take(machine.memory, Random(seed));
      while (images.next() && !HasFailure()) {
        expect_whole(images.bytes());
      }
    });
    const Result<std::uint64_t> whole = machine.recover();
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    EXPECT_EQ(machine.slots(), new_bytes / segment_bytes);
  }
  EXPECT_GT(old_tables_, 0u);
  EXPECT_GT(new_tables_, 0u);
}

}  // namespace
}  // namespace remora
