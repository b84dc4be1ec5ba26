// The small parts: tables, the page cache, timers of RNR, plain DMA, completion queues.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "fabric/nic/completions.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/queue_pair/rnr_timer.h"
#include "fabric/nic/translation/memory.h"
#include "fabric/nic/translation/page_cache.h"
#include "fabric/nic/translation/table.h"
#include "pmem/pmem_testing.h"
#include "runtime/virtual_loop.h"

namespace remora::fabric::nic {
namespace {

TEST(Table, finds_only_numbers_that_it_gave_out) {
  Table<int, 4, 24> table;
  Keys keys = Keys::from_seed(1);
  int object = 5;
  const std::uint32_t number = table.add(object, keys);
  EXPECT_EQ(table.find(number), &object);
  EXPECT_EQ(table.find(number ^ (1 << 8)), nullptr);
  EXPECT_EQ(table.find(number + 1), nullptr);
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(0xffffffff), nullptr);
  EXPECT_LT(number, 1U << 24);
}

TEST(Table, never_gives_the_same_number_twice_running) {
  Table<int, 4, 8> table;
  Keys keys = Keys::from_seed(1);
  int object = 5;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t number = table.add(object, keys);
    table.remove(number);
    EXPECT_EQ(table.find(number), nullptr);
    const std::uint32_t next = table.add(object, keys);
    EXPECT_NE(next, number);
    table.remove(next);
  }
}

TEST(Table, is_full_at_its_bound) {
  Table<int, 4, 24> table;
  Keys keys = Keys::from_seed(1);
  int object = 5;
  std::set<std::uint32_t> numbers;
  while (const std::uint32_t number = table.add(object, keys)) {
    EXPECT_NE(number & 15, 15U);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), 14U);
}

TEST(Memory, checks_bounds_without_overflow) {
  Memory memory;
  Keys keys = Keys::from_seed(1);
  std::vector<std::byte> bytes(100);
  RegisteredMemory what = {.bytes = bytes, .access = local_write | remote_read, .domain = 3};
  ASSERT_TRUE(memory.add(what, keys));
  const auto base = reinterpret_cast<std::uintptr_t>(bytes.data());
  const auto allows = [&](std::uint64_t address, std::uint64_t size, AccessFlags rights,
                          DomainId domain = 3) {
    return memory.allows({domain, what.key, address, size, rights});
  };
  EXPECT_TRUE(allows(base, 100, remote_read));
  EXPECT_TRUE(allows(base + 100, 0, remote_read));
  EXPECT_FALSE(allows(base + 1, 100, remote_read));
  EXPECT_FALSE(allows(base - 1, 2, remote_read));
  EXPECT_FALSE(allows(base + 50, UINT64_MAX, remote_read));
  EXPECT_FALSE(allows(base, UINT64_MAX - base + 1, remote_read));
  EXPECT_FALSE(allows(base, 8, remote_write));
  EXPECT_FALSE(allows(base, 8, remote_read | remote_write));
  EXPECT_FALSE(allows(base, 8, remote_read, 4));
  memory.remove(what);
  EXPECT_FALSE(allows(base, 8, remote_read));
}

TEST(PageCache, keeps_the_pages_used_last) {
  PageCache cache;
  constexpr std::uint64_t stride =
      std::uint64_t{limits::cached_pages / limits::cache_ways} * page_bytes;
  for (std::uint64_t way = 0; way < limits::cache_ways; ++way) {
    cache.touch(1, way * stride, 1);
  }
  EXPECT_EQ(cache.misses(), limits::cache_ways);
  cache.touch(1, 0, 1);                            // a hit; it is the newest now
  cache.touch(1, limits::cache_ways * stride, 1);  // the oldest leaves: way 1
  cache.touch(1, 0, 1);
  EXPECT_EQ(cache.hits(), 2U);
  cache.touch(1, stride, 1);
  EXPECT_EQ(cache.misses(), limits::cache_ways + 2);
}

TEST(PageCache, has_as_many_entries_as_it_is_made_for) {
  for (const std::uint32_t entries : {16u, 2048u, 16'384u}) {
    PageCache cache(entries);
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t page = 0; page < entries; ++page) {
        cache.touch(1, page * page_bytes, 1);
      }
    }
    EXPECT_EQ(cache.misses(), entries);
    EXPECT_EQ(cache.hits(), entries);
    for (std::uint64_t page = 0; page < 2 * entries; ++page) {
      cache.touch(2, page * page_bytes, 1);
    }
    cache.touch(2, 0, 1);
    EXPECT_EQ(cache.misses(), 3 * entries + 1);
  }
}

TEST(PageCache, holds_4096_pages_and_counts_every_page_of_a_range) {
  PageCache cache;
  for (int round = 0; round < 2; ++round) {
    cache.touch(1, 100, std::uint64_t{limits::cached_pages} * page_bytes - 200);
  }
  EXPECT_EQ(cache.misses(), limits::cached_pages);
  EXPECT_EQ(cache.hits(), limits::cached_pages);
  cache.forget(1);
  cache.touch(1, page_bytes - 1, 2);
  EXPECT_EQ(cache.misses(), limits::cached_pages + 2);
}

TEST(RnrTimer, rounds_up_to_what_five_bits_can_say) {
  EXPECT_EQ(rnr_code(0), 1);
  EXPECT_EQ(rnr_code(10'000), 1);
  EXPECT_EQ(rnr_code(10'001), 2);
  EXPECT_EQ(rnr_code(640'000), 12);
  EXPECT_EQ(rnr_code(491'520'000), 31);
  EXPECT_EQ(rnr_code(491'520'001), 0);
  EXPECT_EQ(rnr_delay_ns(12), 640'000U);
  EXPECT_EQ(rnr_delay_ns(0), 655'360'000U);
  for (std::uint8_t code = 1; code < 32; ++code) {
    EXPECT_EQ(rnr_code(rnr_delay_ns(code)), code);
  }
}

TEST(PlainDma, copies_at_every_alignment_and_touches_nothing_else) {
  PlainDma dma;
  std::vector<std::byte> from(64);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<std::byte>(i + 1);
  }
  for (std::size_t at = 8; at < 16; ++at) {
    for (std::size_t skip = 0; skip < 8; ++skip) {
      for (std::size_t size = 0; size + skip <= 40; ++size) {
        alignas(8) std::array<std::byte, 64> to{};
        dma.write(1, to.data() + at, ConstBytes(from).subspan(skip, size));
        for (std::size_t i = 0; i < to.size(); ++i) {
          const bool inside = i >= at && i < at + size;
          ASSERT_EQ(to[i], inside ? from[skip + i - at] : std::byte{0});
        }
      }
    }
  }
}

TEST(PlainDma, brings_large_and_small_to_aligned_and_other_places) {
  PlainDma dma;
  std::vector<std::byte> from(4096 + 64);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<std::byte>(i % 251 + 1);
  }
  for (const std::size_t at : {64U, 65U, 72U, 80U}) {
    for (const std::size_t skip : {0U, 1U, 16U, 64U}) {
      for (const std::size_t size :
           {0U, 1U, 64U, 1023U, 1024U, 1025U, 1280U, 2047U, 4095U, 4096U}) {
        alignas(64) std::array<std::byte, 4096 + 128> to{};
        dma.bring(1, to.data() + at, ConstBytes(from).subspan(skip, size));
        for (std::size_t i = 0; i < to.size(); ++i) {
          const bool inside = i >= at && i < at + size;
          ASSERT_EQ(to[i], inside ? from[skip + i - at] : std::byte{0});
        }
      }
    }
  }
}

TEST(PlainDma, tells_those_who_watch) {
  VirtualLoop loop;
  PlainDma dma(&loop);
  alignas(8) std::array<std::byte, 8> word{};
  const auto wait = [&]() -> Task<void> {
    co_await loop.watch(word, [&] { return word[0] != std::byte{0}; });
  };
  Task<void> task = wait();
  EXPECT_EQ(loop.run_until(task), RunState::stalled);
  dma.atomic_write(1, word.data(), 1);
  loop.block_on(std::move(task));
}

TEST(PlainDma, flushes_through_the_region) {
  FakeRegion medium(4096, Granularity::page);
  PlainDma dma;
  const Bytes bytes = medium.bytes().first(8);
  dma.atomic_write(1, bytes.data(), 1);
  EXPECT_TRUE(medium.persistent(dma.flush(1, bytes, FlushPlacement::visibility, &medium)));
  EXPECT_FALSE(medium.persistent(dma.flush(1, bytes, FlushPlacement::persistence, &medium)));
}

// As many as asked for, of a queue whose completions are numbered in the order in which they came.
std::size_t poll_numbers(Completions& queue, std::size_t most, std::uint64_t& next) {
  std::array<WorkCompletion, 8> out;
  const std::size_t taken = queue.poll(std::span(out).first(most));
  for (std::size_t i = 0; i < taken; ++i) {
    EXPECT_EQ(out[i].id, next);
    EXPECT_EQ(out[i].size_bytes, static_cast<std::uint32_t>(next * 3));
    EXPECT_EQ(out[i].immediate, static_cast<std::uint32_t>(next * 5));
    EXPECT_EQ(out[i].opcode, Opcode::read);
    ++next;
  }
  return taken;
}

void push_number(Completions& queue, std::uint64_t number, bool solicited = false) {
  queue.push({.id = number,
              .opcode = Opcode::read,
              .immediate = static_cast<std::uint32_t>(number * 5),
              .size_bytes = static_cast<std::uint32_t>(number * 3)},
             solicited);
}

TEST(Completions, come_out_in_their_order_however_many_wait) {
  std::mt19937_64 random(1);
  for (const std::uint32_t capacity : {1u, 2u, 5u, 8u}) {
    std::uint32_t overruns = 0;
    Completions queue(capacity, overruns);
    std::uint64_t pushed = 0;
    std::uint64_t polled = 0;
    for (int step = 0; step < 20'000; ++step) {
      if (random() % 50 == 0) {
        queue.arm(random() % 2 == 0);
      }
      if (random() % 2 == 0 && pushed - polled < capacity) {
        push_number(queue, pushed++, random() % 3 == 0);
      } else {
        const std::size_t most = random() % 4;
        const std::size_t there = std::min<std::size_t>(most, pushed - polled);
        ASSERT_EQ(poll_numbers(queue, most, polled), there);
      }
    }
    EXPECT_GT(polled, 1000u);
    EXPECT_FALSE(queue.overrun()) << "it never held more than its capacity";
  }
}

TEST(Completions, hold_their_capacity_and_no_more) {
  for (const std::uint32_t capacity : {1u, 3u, 8u}) {
    for (std::uint64_t before = 0; before < 10; ++before) {
      std::uint32_t overruns = 0;
      Completions queue(capacity, overruns);
      std::uint64_t polled = 0;
      for (std::uint64_t number = 0; number < before; ++number) {
        push_number(queue, number);
        EXPECT_EQ(poll_numbers(queue, 1, polled), 1u);
      }
      for (std::uint64_t number = 0; number < capacity; ++number) {
        push_number(queue, before + number);
      }
      EXPECT_FALSE(queue.overrun());
      push_number(queue, 999);
      EXPECT_TRUE(queue.overrun());
      EXPECT_EQ(overruns, 1u);
      EXPECT_EQ(poll_numbers(queue, 8, polled), capacity) << "those that it held are there";
      EXPECT_EQ(poll_numbers(queue, 1, polled), 0u);
    }
  }
}

TEST(Completions, raise_one_event_for_each_time_that_they_are_armed) {
  std::uint32_t overruns = 0;
  Completions queue(8, overruns);
  std::uint64_t polled = 0;
  push_number(queue, 0);
  queue.arm(false);
  EXPECT_EQ(queue.event_count(), 0u) << "what came before raises none";
  EXPECT_EQ(poll_numbers(queue, 1, polled), 1u);
  push_number(queue, 1);
  EXPECT_EQ(queue.event_count(), 1u);
  push_number(queue, 2);
  EXPECT_EQ(queue.event_count(), 1u);
  EXPECT_EQ(poll_numbers(queue, 8, polled), 2u);
  queue.arm(true);
  push_number(queue, 3);
  EXPECT_EQ(poll_numbers(queue, 1, polled), 1u);
  EXPECT_EQ(queue.event_count(), 1u) << "nobody was to be told of that one";
  push_number(queue, 4, true);
  EXPECT_EQ(queue.event_count(), 2u);
  EXPECT_EQ(poll_numbers(queue, 1, polled), 1u);
}

}  // namespace
}  // namespace remora::fabric::nic
