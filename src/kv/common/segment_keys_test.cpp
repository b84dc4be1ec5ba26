// Clients that are given the segments of the log, each with its key.
#include "kv/common/segment_keys.h"

#include <array>
#include <map>
#include <string>

#include "kv/efactory/engine.h"
#include "kv/store_testing.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t told_pool_bytes = 1 << 20;

// A reply as a server would write it.
std::vector<std::byte> reply_of(const SegmentsReply& head, const std::vector<SegmentKey>& keys) {
  std::vector<std::byte> reply(sizeof head + keys.size() * sizeof(SegmentKey));
  write_struct(Bytes(reply), head);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    write_struct(Bytes(reply).subspan(sizeof head + i * sizeof(SegmentKey)), keys[i]);
  }
  return reply;
}

const SegmentKey first_segment{4096, 8192, {.address = 0x70000, .key = 7}};
const SegmentKey second_segment{65536, 4096, {.address = 0x90000, .key = 9}};

TEST(SegmentTable, finds_bytes_within_a_segment_and_no_others) {
  SegmentTable table;
  ASSERT_EQ(
      table.take(reply_of({0, 2}, {second_segment, first_segment}), 0, told_pool_bytes).value(),
      0u);
  ASSERT_TRUE(table.find(4096 + 100, 64));
  EXPECT_EQ(table.find(4096 + 100, 64)->address, 0x70000u + 100);
  EXPECT_EQ(table.find(65536, 4096)->key, 9u);
  EXPECT_FALSE(table.find(0, 64));
  EXPECT_FALSE(table.find(4096 + 8192 - 64, 65));
  EXPECT_FALSE(table.find(4096 + 8192, 1));
  EXPECT_FALSE(table.find(65536 + 4095, UINT64_MAX));
  table.clear();
  EXPECT_FALSE(table.find(4096, 1));
}

TEST(SegmentTable, asks_on_where_a_reply_ends) {
  SegmentTable table;
  EXPECT_EQ(table.take(reply_of({65536, 1}, {first_segment}), 0, told_pool_bytes).value(), 65536u);
  EXPECT_EQ(table.take(reply_of({0, 1}, {second_segment}), 65536, told_pool_bytes).value(), 0u);
  EXPECT_TRUE(table.find(4096, 1) && table.find(65536, 1));
}

TEST(SegmentTable, takes_the_newer_key_of_a_place) {
  SegmentTable table;
  ASSERT_TRUE(table.take(reply_of({0, 1}, {first_segment}), 0, told_pool_bytes).ok());
  SegmentKey newer = first_segment;
  newer.first.key = 8;
  ASSERT_TRUE(table.take(reply_of({0, 1}, {newer}), 0, told_pool_bytes).ok());
  EXPECT_EQ(table.find(4096, 1)->key, 8u);
}

TEST(SegmentTable, refuses_what_is_no_list) {
  SegmentTable table;
  const std::array<std::byte, 3> few{};
  EXPECT_EQ(table.take(few, 0, told_pool_bytes).code(), Code::closed);
  EXPECT_EQ(table.take(reply_of({0, 2}, {first_segment}), 0, told_pool_bytes).code(), Code::closed);
  SegmentKey outside = first_segment;
  outside.offset = UINT64_MAX - 100;
  EXPECT_EQ(table.take(reply_of({0, 1}, {outside}), 0, told_pool_bytes).code(), Code::closed);
  // One that leads back does not keep the client asking.
  EXPECT_EQ(table.take(reply_of({4096, 0}, {}), 4096, told_pool_bytes).code(), Code::closed);
}

class BySegment : public StoreFixture, public testing::WithParamInterface<Cleaning> {
 protected:
  BySegment() : StoreFixture(efactory::engine(), true) {}
};

INSTANTIATE_TEST_SUITE_P(ways, BySegment,
                         testing::Values(Cleaning::whole, Cleaning::parts, Cleaning::cheapest),
                         [](const auto& way) { return "way_" + std::to_string(way.index); });

// Space comes back under other keys, time and again: a client that used a key of before would lose
// its queue pair.
TEST_P(BySegment, clients_follow_the_log_through_cleanings) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = GetParam()});
  std::unique_ptr<StoreClient> reader = connected_elsewhere();
  std::map<std::string, std::string> model;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "key-" + std::to_string(i * 7 % 40);
    model[key] =
        std::string(static_cast<std::size_t>(1500 + i % 100), static_cast<char>('a' + i % 26));
    const Status status = put(key, model[key]);
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
    const std::string other = "key-" + std::to_string(i % 40);
    if (model.contains(other)) {
      ASSERT_EQ(get(*reader, other), model[other]) << i;
    }
  }
  EXPECT_GT(counter("cleanings") + counter("cleaned_parts"), 3u);
  EXPECT_TRUE(reader->failure().ok());
  for (const auto& [key, value] : model) {
    EXPECT_EQ(get(key), value) << key;
  }
}

// Readers that sleep through cleanings come back with keys of long ago.
TEST_P(BySegment, a_client_that_slept_reads_on) {
  start(1 << 20, {.create = true, .expected_keys = 16, .cleaning = GetParam()});
  std::unique_ptr<StoreClient> sleeper = connected_elsewhere();
  ASSERT_TRUE(put("key-0", "first").ok());
  ASSERT_EQ(get(*sleeper, "key-0"), "first");
  for (int i = 0; i < 1500; ++i) {
    ASSERT_TRUE(put("key-" + std::to_string(i % 40), std::string(1500, 'v')).ok()) << i;
  }
  ASSERT_TRUE(put("key-0", "second").ok());
  EXPECT_EQ(get(*sleeper, "key-0"), "second");
}

}  // namespace
}  // namespace remora::kv
