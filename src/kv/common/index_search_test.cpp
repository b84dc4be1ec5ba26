#include "kv/common/index_search.h"

#include <gtest/gtest.h>

#include "kv/index/index_testing.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t searched_pool_bytes = 1 << 20;

// The table as a peer READs it, which names it by this address.
struct Searched {
  explicit Searched(TestIndex& test) : index(test) {}

  IndexSearch search(std::uint64_t number) const {
    return {{.address = 4096, .key = 7},
            index.index.geometry(),
            searched_pool_bytes,
            object_bytes(number)};
  }
  ConstBytes read(const fabric::RemoteAddress& from) const {
    return index.index.memory().subspan(from.address - 4096, window_bytes);
  }
  // How many windows it takes to find the key, and whether it is found.
  std::pair<int, bool> find(std::uint64_t number) const {
    IndexSearch one = search(number);
    int windows = 0;
    do {
      EXPECT_EQ(one.next().key, 7u);
      one.take(read(one.next()));
      ++windows;
    } while (one.goes_on());
    return {windows, !one.candidates().empty()};
  }

  TestIndex& index;
};

TEST(IndexSearch, finds_a_key_in_the_window_of_its_tag) {
  TestIndex test;
  test.insert(5);
  EXPECT_EQ(Searched(test).find(5), (std::pair{1, true}));
}

TEST(IndexSearch, ends_where_a_window_has_room) {
  TestIndex test;
  EXPECT_EQ(Searched(test).find(5), (std::pair{1, false}));
}

TEST(IndexSearch, goes_on_once_where_the_window_is_full) {
  TestIndex test(4);
  std::uint64_t spilled = 0;
  for (std::uint64_t number = 1; number <= 200 && spilled == 0; ++number) {
    test.insert(number);
    spilled = test.index.overflowed() != 0 ? number : 0;
  }
  ASSERT_NE(spilled, 0u);
  EXPECT_EQ(Searched(test).find(spilled), (std::pair{2, true}));
}

}  // namespace
}  // namespace remora::kv
