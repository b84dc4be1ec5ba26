// Several keys at once: mistakes that are planted in it, and how it travels.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "kv/efactory/together_message.h"
#include "kv/local_store.h"
#include "kv/store_testing.h"

namespace remora::kv {
namespace {

// --- Planted mistakes ---

class TogetherFault : public StoreFixture, public testing::WithParamInterface<const Fault*> {
 protected:
  TogetherFault() : StoreFixture(efactory::engine()) {}

  // Whether a day with writes of several keys, and a cut that takes a part of one, shows what it
  // should.
  bool is_right(const Faults& faults) {
    start(4 << 20, {.create = true, .expected_keys = 16}, faults);
    LocalStore& local = *server_->local();
    const std::uint64_t soon = loop_.wall_ms() + 5;
    const std::array writes = {Write{as_bytes("a"), as_bytes("old"), 0},
                               Write{as_bytes("timed"), as_bytes("short"), soon}};
    bool right = local.write_together({{}, writes}).ok();
    (void)loop_.run_for(6'000'000);
    right = right && !local.get(as_bytes("timed"));
    const ConstBytes piece = as_bytes("dated");
    // Its time has come, and the background has not been there yet.
    (void)local.put(as_bytes("dated"), std::span(&piece, 1), loop_.wall_ms() - 1);
    const std::array absent = {Condition{as_bytes("dated"), 0}};
    right = local.write_together({absent, std::span(writes).first(1)}).ok() && right;
    (void)loop_.run_for(700'000'000);
    const std::array lost = {Write{as_bytes("a"), as_bytes("together"), 0},
                             Write{as_bytes("b"), as_bytes("lost value"), 0}};
    right = local.write_together({{}, lost}).ok() && right;
    const ConstBytes later = as_bytes("later");
    (void)local.put(as_bytes("a"), std::span(&later, 1), 0);
    const std::string_view pool = as_text(region_->bytes());
    std::fill_n(region_->data() + pool.find("lost value"), 10, std::byte{0});
    for (int life = 0; life < 2; ++life) {
      start(0, {.create = false}, faults);
      right = right && get("a") == "old" && get("b") == "not_found";
    }
    return right;
  }
};

INSTANTIATE_TEST_SUITE_P(planted, TogetherFault, testing::ValuesIn(efactory::faults::of_together),
                         [](const auto& each) {
                           std::string name(each.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(TogetherFault, is_noticed) {
  EXPECT_TRUE(is_right(Faults()));
  EXPECT_FALSE(is_right(Faults(*GetParam())));
}

// --- What comes over the wire ---

TEST(TogetherMessage, comes_back_as_it_was) {
  const std::vector<Condition> conditions = {{as_bytes("a"), 7}, {as_bytes("b"), 0}};
  const std::vector<Write> writes = {{as_bytes("a"), as_bytes("value"), 9},
                                     {as_bytes("b"), std::nullopt},
                                     {as_bytes("c"), ConstBytes()}};
  const std::vector<std::byte> bytes = efactory::pack({conditions, writes});
  const auto found = efactory::unpack_write(bytes);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->conditions.size(), 2u);
  EXPECT_EQ(as_text(found->conditions[0].key), "a");
  EXPECT_EQ(found->conditions[0].version, 7u);
  ASSERT_EQ(found->writes.size(), 3u);
  EXPECT_EQ(as_text(*found->writes[0].value), "value");
  EXPECT_EQ(found->writes[0].expires, 9u);
  EXPECT_FALSE(found->writes[1].value);
  EXPECT_TRUE(found->writes[2].value && found->writes[2].value->empty());
}

TEST(TogetherMessage, that_is_cut_short_or_too_long_is_none) {
  const std::vector<Condition> conditions = {{as_bytes("a"), 7}};
  const std::vector<Write> writes = {{as_bytes("a"), as_bytes("value"), 9}};
  std::vector<std::byte> bytes = efactory::pack({conditions, writes});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(efactory::unpack_write(ConstBytes(bytes).first(size))) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(efactory::unpack_write(bytes));
}

TEST(TogetherMessage, of_any_bytes_is_read_within_them) {
  Random random(1);
  const std::vector<Condition> conditions = {{as_bytes("a"), 7}};
  const std::vector<Write> writes = {{as_bytes("a"), as_bytes("value"), 9},
                                     {as_bytes("b"), std::nullopt}};
  const std::vector<std::byte> right = efactory::pack({conditions, writes});
  for (int i = 0; i < 20'000; ++i) {
    // On the heap, and no larger than it says, for sanitizers.
    std::vector<std::byte> bytes(
        right.begin(), right.begin() + static_cast<std::ptrdiff_t>(random.below(right.size() + 1)));
    for (std::uint64_t flips = random.below(6); flips != 0 && !bytes.empty(); --flips) {
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    }
    if (const auto found = efactory::unpack_write(bytes)) {
      EXPECT_LE(found->writes.size() + found->conditions.size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace remora::kv
