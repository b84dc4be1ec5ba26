// A store as a transaction sees it, on a store in a map.
#include "front/resp/overlay.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "front/resp/memory_store.h"
#include "runtime/virtual_loop.h"

namespace remora::resp {
namespace {

class OverlayTest : public testing::Test {
 protected:
  static bool put(kv::LocalStore& store, std::string_view key, std::string_view value,
                  std::uint64_t expires = 0) {
    const ConstBytes piece = as_bytes(value);
    return store.put(as_bytes(key), std::span(&piece, 1), expires).ok();
  }
  static std::string get(kv::LocalStore& store, std::string_view key) {
    const auto found = store.get(as_bytes(key));
    return found ? std::string(as_text(found->value)) : "nothing";
  }
  static bool del(kv::LocalStore& store, std::string_view key) {
    return store.del(as_bytes(key)).ok();
  }
  static std::multiset<std::string> scan(kv::LocalStore& store, kv::ScanCursor from,
                                         std::size_t most = 2) {
    class Sink final : public kv::ScanSink {
     public:
      void key(ConstBytes key) override { keys.emplace(as_text(key)); }
      std::multiset<std::string> keys;
    } sink;
    do {
      from = store.scan(from, most, sink);
    } while (from != 0);
    return sink.keys;
  }
  Overlay over(std::uint64_t most_bytes = 1 << 20) {
    return Overlay(store_, loop_.wall_ms(), stable_, most_bytes);
  }

  VirtualLoop loop_;
  MemoryStore store_{loop_};
  const std::string stable_ = "a key and a value that lie where they stay";
};

TEST_F(OverlayTest, shows_what_was_written_in_it_and_the_store_below_does_not) {
  EXPECT_TRUE(put(store_, "a", "1") && put(store_, "b", "2"));
  Overlay overlay = over();
  EXPECT_EQ(get(overlay, "a"), "1");
  EXPECT_TRUE(put(overlay, "a", "3") && put(overlay, "c", "4") && del(overlay, "b"));
  EXPECT_EQ(get(overlay, "a"), "3");
  EXPECT_EQ(get(overlay, "b"), "nothing");
  EXPECT_EQ(get(overlay, "c"), "4");
  EXPECT_EQ(get(store_, "a") + get(store_, "b") + get(store_, "c"), "12nothing");
  EXPECT_TRUE(overlay.commit({}).ok());
  EXPECT_EQ(get(store_, "a") + get(store_, "b") + get(store_, "c"), "3nothing4");
  EXPECT_EQ(store_.together, 1u);
}

TEST_F(OverlayTest, keeps_values_that_came_from_somewhere_else) {
  Overlay overlay = over();
  for (int i = 0; i < 100; ++i) {  // more than a few
    const std::string text = "value-" + std::to_string(i) + std::string(40, 'x');
    EXPECT_TRUE(put(overlay, "key-" + std::to_string(i), text));
  }
  const std::string_view stable = stable_;
  EXPECT_TRUE(put(overlay, stable.substr(0, 5), stable.substr(10, 7)));
  // A value of one key becomes that of another.
  const auto found = overlay.get(as_bytes(std::string_view("key-7")));
  ASSERT_TRUE(found);
  EXPECT_TRUE(
      overlay.put(as_bytes(std::string_view("another")), std::span(&found->value, 1), 0).ok());
  EXPECT_TRUE(overlay.commit({}).ok());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(get(store_, "key-" + std::to_string(i)),
              "value-" + std::to_string(i) + std::string(40, 'x'));
  }
  EXPECT_EQ(get(store_, "a key"), "a value");
  EXPECT_EQ(get(store_, "another"), "value-7" + std::string(40, 'x'));
}

TEST_F(OverlayTest, what_is_over_is_not_there) {
  Overlay overlay = over();
  EXPECT_TRUE(put(overlay, "over", "1", 1) && put(overlay, "later", "2", loop_.wall_ms() + 1000));
  EXPECT_EQ(get(overlay, "over"), "nothing");
  EXPECT_EQ(get(overlay, "later"), "2");
  EXPECT_EQ(overlay.keys(), 1u);
}

TEST_F(OverlayTest, lists_and_counts_every_key_once) {
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    EXPECT_TRUE(put(store_, key, "old"));
  }
  Overlay overlay = over();
  EXPECT_EQ(get(overlay, "e"), "old");
  EXPECT_TRUE(put(overlay, "a", "new") && put(overlay, "x", "new") && del(overlay, "b") &&
              del(overlay, "nothing") && put(overlay, "y", "new") && del(overlay, "y"));
  EXPECT_EQ(scan(overlay, 0), (std::multiset<std::string>{"a", "c", "d", "e", "x"}));
  EXPECT_EQ(overlay.keys(), 5u);
  // A scan that had begun before goes on with keys of the store, also such as were written here.
  EXPECT_TRUE(put(overlay, "d", "new"));
  EXPECT_EQ(scan(overlay, 2), (std::multiset<std::string>{"c", "d", "e"}));
}

TEST_F(OverlayTest, what_was_read_is_a_condition_of_what_is_written) {
  EXPECT_TRUE(put(store_, "a", "1"));
  for (const std::string changed : {"a", "nothing"}) {
    Overlay overlay = over();
    EXPECT_NE(get(overlay, "a"), "nothing");
    EXPECT_EQ(get(overlay, "nothing"), "nothing");
    EXPECT_TRUE(put(overlay, "b", "2"));
    EXPECT_TRUE(put(store_, changed, "other"));
    EXPECT_EQ(overlay.commit({}).code(), Code::conflict);
    EXPECT_EQ(get(store_, "b"), "nothing");
    EXPECT_TRUE(del(store_, "nothing"));
  }
}

TEST_F(OverlayTest, what_was_read_of_several_keys_was_so_at_one_moment) {
  EXPECT_TRUE(put(store_, "a", "1") && put(store_, "b", "1"));
  Overlay torn = over();
  EXPECT_EQ(get(torn, "a"), "1");
  EXPECT_TRUE(put(store_, "a", "2") && put(store_, "b", "2"));
  EXPECT_EQ(get(torn, "b"), "2");
  EXPECT_EQ(torn.commit({}).code(), Code::conflict);
  Overlay whole = over();
  EXPECT_EQ(get(whole, "a") + get(whole, "b"), "22");
  EXPECT_TRUE(whole.commit({}).ok());
  Overlay twice = over();
  EXPECT_EQ(get(twice, "a"), "2");
  EXPECT_TRUE(put(store_, "a", "3"));
  EXPECT_EQ(get(twice, "a"), "3");
  EXPECT_EQ(twice.commit({}).code(), Code::conflict);
}

TEST_F(OverlayTest, conditions_of_a_write_in_it_hold_for_what_it_shows) {
  EXPECT_TRUE(put(store_, "a", "1"));
  Overlay overlay = over();
  const ConstBytes key = as_bytes(std::string_view("a"));
  const std::uint64_t below = overlay.get(key)->version;
  EXPECT_TRUE(put(overlay, "a", "2"));
  const kv::Condition was{key, below};
  const kv::Condition is{key, overlay.get(key)->version};
  const kv::LocalStore::Write write{as_bytes(std::string_view("b")), key};
  EXPECT_EQ(overlay.write_together({{&was, 1}, {&write, 1}}).code(), Code::conflict);
  EXPECT_EQ(get(overlay, "b"), "nothing");
  EXPECT_TRUE(overlay.write_together({{&is, 1}, {&write, 1}}).ok());
  EXPECT_EQ(get(overlay, "b"), "a");
}

TEST_F(OverlayTest, a_write_mends_what_is_damaged) {
  EXPECT_TRUE(put(store_, "a", "1"));
  store_.damaged_key = "a";
  Overlay overlay = over();
  EXPECT_TRUE(overlay.get(as_bytes(std::string_view("a")))->damaged);
  EXPECT_TRUE(put(overlay, "a", "2") && put(overlay, "b", "3"));
  EXPECT_TRUE(overlay.commit({}).ok());
  EXPECT_EQ(get(store_, "a"), "2");
}

TEST_F(OverlayTest, is_bounded) {
  Overlay overlay = over(1000);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(put(overlay, "a", std::string(500, 'v')));  // again and again
  }
  EXPECT_FALSE(put(overlay, "b", std::string(501, 'v')));
  EXPECT_EQ(overlay.commit({}).code(), Code::invalid_argument);
  EXPECT_EQ(get(store_, "a"), "nothing");
}

TEST_F(OverlayTest, refuses_what_the_store_below_would_refuse) {
  Overlay overlay = over();
  EXPECT_FALSE(put(overlay, std::string(1025, 'k'), "v"));
  EXPECT_FALSE(put(overlay, "k", std::string((16 << 20) + 1, 'v')));
  store_.read_only = true;
  EXPECT_FALSE(put(overlay, "k", "v"));
}

}  // namespace
}  // namespace remora::resp
