// Counts every allocation of the program, and shows that drawing operations makes none.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "lab/workload/meter.h"
#include "lab/workload/stream.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

// Not inlined, so that the compiler does not see new paired with free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace remora::workload {
namespace {

constexpr const char* mixes[] = {"a", "d", "e", "read:1,update:1,insert:1,scan:1,rmw:1,delete:1"};

TEST(Allocation, is_counted) {
  const std::uint64_t before = allocations;
  const auto meter = std::make_unique<Meter>();
  EXPECT_EQ(allocations, before + 1);
}

TEST(Allocation, has_no_part_in_drawing_filling_and_recording) {
  for (const char* mix : mixes) {
    for (const char* sizes : {"100", "64-200", "zipf:24-256", "24:0.5,256:0.5"}) {
      Plan plan;
      plan.workload = std::move(parse_workload(mix)).value();
      plan.values = std::move(ValueSizes::parse(sizes)).value();
      plan.keys = KeyTexts({8, 64});
      Inserts inserts(plan.records, plan.clients);
      Stream stream(plan, inserts, 0);
      const auto meter = std::make_unique<Meter>();
      std::array<std::byte, 256> value;
      KeyBuffer buffer;
      Operation operation;
      bool drawn = true;
      const std::uint64_t before = allocations;
      for (int i = 0; i < 5'000; ++i) {
        drawn = stream.next(operation) && drawn;
        const std::string_view key = plan.keys.text_of(operation.key, buffer);
        if (writes_value(operation.kind)) {
          fill(key, operation.id, Bytes(value).first(operation.value_bytes));
        }
        if (operation.kind == Kind::insert) {
          stream.inserted(operation);
        }
        meter->record(operation.kind, key.size());
      }
      EXPECT_EQ(allocations, before) << mix << " " << sizes;
      EXPECT_TRUE(drawn);
    }
  }
}

}  // namespace
}  // namespace remora::workload
