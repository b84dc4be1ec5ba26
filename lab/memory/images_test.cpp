#include "lab/memory/images.h"

#include "lab/memory/distinct.h"
#include "lab/memory/test_world.h"

namespace remora {
namespace {

std::uint64_t word_of(const Images& images, std::size_t word) {
  return load<std::uint64_t>(images.bytes().data() + word * word_bytes);
}

TEST(Images, nothing_in_doubt_is_one_image) {
  TestWorld world;
  Images images({.exhaustive = 0, .samples = 8});
  images.take(world.memory, Random(1));
  EXPECT_TRUE(images.next());
  EXPECT_FALSE(images.next());
}

TEST(Images, exhaustive_gives_every_subset_exactly_once) {
  TestWorld world;
  const std::size_t words[] = {0, 1, 9, 70, 600};
  for (std::size_t i = 0; i < std::size(words); ++i) {
    world.put(words[i], 1);
  }
  Images images;
  images.take(world.memory, Random(1));
  EXPECT_TRUE(images.exhaustive());
  std::vector<std::uint64_t> subsets;
  DistinctHashes hashes;
  while (images.next()) {
    std::uint64_t subset = 0;
    for (std::size_t i = 0; i < std::size(words); ++i) {
      subset |= word_of(images, words[i]) << i;
    }
    subsets.push_back(subset);
    hashes.insert(images.hash());
  }
  std::sort(subsets.begin(), subsets.end());
  std::vector<std::uint64_t> all(32);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  EXPECT_EQ(subsets, all);
  EXPECT_EQ(hashes.count(), 32u);
}

TEST(Images, exhaustive_gives_every_value_of_every_word) {
  TestWorld world;
  world.put(0, 1);
  world.cpu.flush(world.range(0));
  world.put(0, 2);
  world.post(1, 0, {3});
  world.put(100, 1);
  Images images;
  images.take(world.memory, Random(1));
  EXPECT_EQ(images.planned(), 8u);
  std::set<std::pair<std::uint64_t, std::uint64_t>> found;
  while (images.next()) {
    found.emplace(word_of(images, 0), word_of(images, 100));
  }
  EXPECT_EQ(found.size(), 8u);
}

TEST(Images, words_that_are_not_in_doubt_are_as_they_are) {
  TestWorld world;
  world.put(0, 1);
  (void)world.cpu.persist(world.range(0));
  world.put(1, 1);
  Images images;
  for (images.take(world.memory, Random(1)); images.next();) {
    EXPECT_EQ(word_of(images, 0), 1u);
  }
}

TEST(Images, the_limit_decides_between_all_and_a_sample) {
  TestWorld world;
  for (std::size_t word = 0; word < 8; ++word) {
    world.put(word, 1);
  }
  Images images({.exhaustive = 256, .samples = 10});
  images.take(world.memory, Random(1));
  EXPECT_TRUE(images.exhaustive());
  EXPECT_EQ(images.planned(), 256u);
  world.put(8, 1);
  images.take(world.memory, Random(1));
  EXPECT_FALSE(images.exhaustive());
  EXPECT_EQ(images.planned(), 10u);
}

// The numbers of kept words, of 40, over many samples.
std::set<std::size_t> kept_counts(TestWorld& world, std::uint64_t samples) {
  Images images({.exhaustive = 256, .samples = samples});
  std::set<std::size_t> counts;
  for (images.take(world.memory, Random(1)); images.next();) {
    std::size_t count = 0;
    for (std::size_t word = 0; word < 40; ++word) {
      count += word_of(images, word);
    }
    counts.insert(count);
  }
  return counts;
}

TEST(Images, sampling_covers_the_extremes) {
  TestWorld world;
  for (std::size_t word = 0; word < 40; ++word) {
    world.put(word, 1);
  }
  EXPECT_EQ(kept_counts(world, 2), (std::set<std::size_t>{0, 40}));
  const auto counts = kept_counts(world, 200);
  for (const std::size_t count : {0u, 1u, 39u, 40u, 20u}) {
    EXPECT_TRUE(counts.contains(count)) << count;
  }
}

TEST(Images, sampling_covers_whole_lines_and_torn_ones) {
  TestWorld world;
  for (std::size_t word = 0; word < 40; ++word) {
    world.put(word, 1);
  }
  Images images({.exhaustive = 256, .samples = 200});
  int whole = 0;
  int torn = 0;
  for (images.take(world.memory, Random(1)); images.next();) {
    (images.splits_line() ? torn : whole) += 1;
  }
  EXPECT_GT(whole, 10);
  EXPECT_GT(torn, 10);
}

TEST(Images, all_kept_is_the_newest_value_also_when_it_equals_the_oldest) {
  TestWorld world;
  for (std::size_t word = 0; word < 10; ++word) {
    world.put(word, 1);
  }
  world.cpu.flush(world.range(0, 10));
  for (std::size_t word = 0; word < 10; ++word) {
    world.put(word, 0);
  }
  world.post(1, 9, {2});
  Images images({.exhaustive = 16, .samples = 2});
  images.take(world.memory, Random(1));
  ASSERT_TRUE(images.next());
  ASSERT_TRUE(images.next());
  EXPECT_EQ(word_of(images, 0), 0u);
  EXPECT_EQ(word_of(images, 9), 2u);
}

TEST(Images, many_values_of_one_word_are_cut_short_and_keep_the_newest) {
  TestWorld world;
  for (std::uint64_t value = 1; value <= 100; ++value) {
    world.put(0, value);
    world.cpu.flush(world.range(0));
  }
  const Doubt doubt = world.memory.doubt();
  ASSERT_EQ(doubt.words.size(), 1u);
  EXPECT_LE(doubt.words[0].count, DoubtFinder::max_candidates + 1);
  EXPECT_EQ(doubt.of(doubt.words[0])[doubt.words[0].kept].value, 100u);
  Images images({.exhaustive = 1, .samples = 100});
  for (images.take(world.memory, Random(1)); images.next();) {
  }
}

// Whether the image with these words is labelled as tearing a line.
std::map<std::pair<std::uint64_t, std::uint64_t>, bool> labels(const CrashMemory& memory) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> found;
  Images images;
  for (images.take(memory, Random(1)); images.next();) {
    found[{word_of(images, 0), word_of(images, 1)}] = images.splits_line();
  }
  return found;
}

TEST(Images, a_torn_line_of_cpu_stores_is_labelled) {
  TestWorld world;
  world.put(0, 1);
  world.put(1, 1);
  auto label = labels(world.memory);
  EXPECT_FALSE((label[{0, 0}]));
  EXPECT_FALSE((label[{1, 1}]));
  EXPECT_TRUE((label[{0, 1}]));
  EXPECT_TRUE((label[{1, 0}]));
}

TEST(Images, a_line_as_a_snapshot_has_it_is_not_torn) {
  TestWorld world;
  world.put(0, 1);
  world.cpu.flush(world.range(0));
  world.put(1, 1);
  auto label = labels(world.memory);
  EXPECT_FALSE((label[{0, 0}]));
  EXPECT_FALSE((label[{1, 0}]));
  EXPECT_FALSE((label[{1, 1}]));
  EXPECT_TRUE((label[{0, 1}]));
}

TEST(Images, words_of_two_lines_are_not_a_torn_line) {
  TestWorld world;
  world.put(0, 1);
  world.put(8, 1);
  Images images;
  for (images.take(world.memory, Random(1)); images.next();) {
    EXPECT_FALSE(images.splits_line());
  }
}

TEST(Images, a_torn_line_of_dma_is_not_labelled) {
  for (const bool placed : {false, true}) {
    TestWorld world;
    world.post(1, 0, {1, 1});
    if (placed) {
      world.memory.place_all(1);
    }
    for (const auto& [image, torn] : labels(world.memory)) {
      EXPECT_FALSE(torn);
    }
  }
}

TEST(Images, the_hash_tells_images_of_different_cuts_apart_and_equal_ones_together) {
  TestWorld world;
  Images images;
  world.put(0, 1);
  images.take(world.memory, Random(1));
  ASSERT_TRUE(images.next());
  const std::uint64_t lost = images.hash();
  ASSERT_TRUE(images.next());
  const std::uint64_t kept = images.hash();
  EXPECT_NE(lost, kept);
  (void)world.cpu.persist(world.range(0));
  images.take(world.memory, Random(1));
  ASSERT_TRUE(images.next());
  EXPECT_EQ(images.hash(), kept);
}

TEST(Images, the_hash_minds_where_a_value_stands) {
  std::vector<std::uint64_t> hashes;
  for (const std::size_t word : {0u, 1u}) {
    TestWorld world;
    world.put(word, 1);
    (void)world.cpu.persist(world.range(word));
    Images images;
    images.take(world.memory, Random(1));
    ASSERT_TRUE(images.next());
    hashes.push_back(images.hash());
  }
  EXPECT_NE(hashes[0], hashes[1]);
}

TEST(DistinctHashes, counts_each_once_and_grows) {
  DistinctHashes hashes;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 5000; ++i) {
      EXPECT_EQ(hashes.insert(i == 0 ? 0 : mix(i)), round == 0);
    }
  }
  EXPECT_EQ(hashes.count(), 5000u);
  hashes.clear();
  EXPECT_EQ(hashes.count(), 0u);
  EXPECT_TRUE(hashes.insert(0));
}

}  // namespace
}  // namespace remora
