// A pool in a file grows while its store is served: what is asked, what is refused, what clients
// see.
#include "server/pool_growth.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/folder_testing.h"
#include "kv/local_store.h"
#include "link/store_link.h"
#include "pmem/pmem_testing.h"
#include "runtime/poll_loop.h"
#include "server/store_host.h"

namespace remora::server {
namespace {

constexpr std::uint64_t small_bytes = 4 << 20;
constexpr std::uint64_t large_bytes = 24 << 20;

ConstBytes of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class PoolGrowthTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !disk_place()) {
      GTEST_SKIP() << "every folder for tests is in memory here";
    }
    folder_ = std::make_unique<TestFolder>(GetParam() ? *disk_place() : memory_place());
    options_.socket_path = folder_->file("socket");
    options_.pool_path = folder_->file("pool");
    options_.pool_bytes = small_bytes;
    open();
  }
  void open() {
    client_.reset();
    host_.reset();
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop_, options_);
    ASSERT_TRUE(host.ok()) << host.status().message();
    host_ = std::move(host).value();
  }
  std::unique_ptr<link::StoreLink> connected(link::WireKind fabric = link::WireKind::mapped) {
    link::StoreLinkOptions options;
    options.fabric = fabric;
    Result<std::unique_ptr<link::StoreLink>> link =
        loop_.block_on(link::StoreLink::connect(loop_, options_.socket_path, options));
    EXPECT_TRUE(link.ok()) << link.status().message();
    return std::move(link).value();
  }
  static std::string value(std::size_t number) {
    return std::string(20'000, static_cast<char>('a' + number % 26));
  }
  Status put(link::StoreLink& link, const std::string& key, const std::string& value) {
    return loop_.block_on(link.store().put(of(key), of(value), {}));
  }
  std::string get(link::StoreLink& link, const std::string& key) {
    std::string value(60'000, '\0');
    const Result<std::size_t> size =
        loop_.block_on(link.store().get(of(key), std::as_writable_bytes(std::span(value))));
    return size.ok() ? value.substr(0, *size) : std::string(to_string(size.status().code()));
  }
  // How many keys there was room for.
  std::size_t fill_up(link::StoreLink& link) {
    const std::size_t before = written_;
    while (put(link, "key-" + std::to_string(written_), value(written_)).ok()) {
      ++written_;
    }
    return written_ - before;
  }
  void expect_all(link::StoreLink& link) {
    for (std::size_t i = 0; i < written_; ++i) {
      ASSERT_EQ(get(link, "key-" + std::to_string(i)), value(i)) << i;
    }
  }
  Status await_growth() {
    while (host_->growing_to() != 0) {
      (void)loop_.turn();
    }
    return host_->last_growth();
  }

  std::unique_ptr<TestFolder> folder_;
  PollLoop loop_;
  StoreHostOptions options_;
  std::unique_ptr<StoreHost> host_;
  std::unique_ptr<link::StoreLink> client_;
  std::size_t written_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Places, PoolGrowthTest, testing::Bool(),
                         [](const auto& place) { return place.param ? "on_disk" : "in_memory"; });

// The rest of both is in the room that has grown, and small enough to be reached by READs.
TEST_P(PoolGrowthTest, clients_of_both_wires_find_the_new_room) {
  const auto mapped = connected();
  const auto ring = connected(link::WireKind::ring);
  const std::size_t before = fill_up(*mapped);
  EXPECT_GT(before, 50u);
  ASSERT_TRUE(host_->grow(large_bytes).ok());
  EXPECT_EQ(host_->growing_to(), large_bytes);
  EXPECT_TRUE(host_->busy());
  EXPECT_EQ(host_->grow(2 * large_bytes).code(), Code::in_use);
  ASSERT_TRUE(await_growth().ok()) << host_->last_growth().message();
  EXPECT_EQ(host_->pool_bytes(), large_bytes);
  EXPECT_EQ(std::filesystem::file_size(options_.pool_path), large_bytes);
  EXPECT_GT(fill_up(*ring), before);
  EXPECT_GT(fill_up(*mapped) + written_, 4 * before);
  const std::uint64_t violations = host_->counters().access_violations;
  expect_all(*mapped);
  expect_all(*ring);
  expect_all(*connected());
  EXPECT_EQ(host_->counters().access_violations, violations);
  EXPECT_EQ(loop_.block_on(mapped->wire_taken()), link::WireKind::mapped);
}

TEST_P(PoolGrowthTest, what_has_grown_is_there_after_a_restart) {
  {
    const auto link = connected();
    fill_up(*link);
    ASSERT_TRUE(host_->grow(large_bytes).ok());
    ASSERT_TRUE(await_growth().ok());
    fill_up(*link);
  }
  open();
  EXPECT_EQ(host_->pool_bytes(), large_bytes);
  expect_all(*connected());
  ASSERT_TRUE(host_->grow(2 * large_bytes).ok());
  ASSERT_TRUE(await_growth().ok());
  EXPECT_EQ(host_->pool_bytes(), 2 * large_bytes);
}

TEST_P(PoolGrowthTest, a_client_asks_for_it_and_looks_how_it_goes) {
  const auto link = connected();
  Result<Facts> facts = loop_.block_on(link->grow(large_bytes, options_.pool_path));
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(find_fact(*facts, "pool_growing_to"), std::to_string(large_bytes));
  while (facts.ok() && find_fact(*facts, "pool_growing_to") != "0") {
    facts = loop_.block_on(link->stat());
  }
  EXPECT_EQ(find_fact(*facts, "pool_bytes"), std::to_string(large_bytes));
  EXPECT_EQ(find_fact(*facts, "pool_growth_failure"), "none");
}

TEST_P(PoolGrowthTest, refuses_what_cannot_be_and_says_why) {
  const auto link = connected();
  const auto refused = [&](std::uint64_t bytes, const std::string& file, const char* why) {
    const Result<Facts> facts = loop_.block_on(link->grow(bytes, file));
    EXPECT_FALSE(facts.ok());
    EXPECT_NE(facts.status().message().find(why), std::string_view::npos)
        << facts.status().message();
  };
  refused(small_bytes, "", "4 MiB already");
  refused(small_bytes / 2, "", "cannot become smaller");
  refused(small_bytes + 4096, "", "32 KiB or more");
  refused(std::uint64_t{1} << 50, "", "64 TiB");
  std::filesystem::copy_file(options_.pool_path, folder_->file("other"));
  refused(large_bytes, folder_->file("other"), "serves another pool");
  refused(large_bytes, folder_->file("nothing"), "No such file");
  for (const char* request : {"", "much", "-"}) {
    EXPECT_EQ(host_->grow(std::string_view(request)).code(), Code::invalid_argument) << request;
  }
  EXPECT_EQ(host_->pool_bytes(), small_bytes);
  EXPECT_EQ(std::filesystem::file_size(options_.pool_path), small_bytes);
}

// The disk has no room for it.
TEST_P(PoolGrowthTest, one_that_fails_on_the_way_is_told_of_and_the_store_goes_on) {
  const auto link = connected();
  ASSERT_TRUE(put(*link, "a", "b").ok());
  if (!GetParam()) {
    GTEST_SKIP() << "what has no end is not asked of memory";
  }
  ASSERT_TRUE(host_->grow(std::uint64_t{1} << 45).ok());
  const Status status = await_growth();
  EXPECT_EQ(status.code(), Code::no_space) << status.message();
  EXPECT_EQ(host_->pool_bytes(), small_bytes);
  EXPECT_EQ(get(*link, "a"), "b");
  ASSERT_TRUE(put(*link, "c", "d").ok());
  ASSERT_TRUE(host_->grow(large_bytes).ok());
  EXPECT_TRUE(await_growth().ok());
}

TEST_P(PoolGrowthTest, stores_of_other_engines_and_in_memory_say_what_to_do) {
  host_.reset();
  std::filesystem::remove(options_.pool_path);
  options_.engine = "saw";
  open();
  EXPECT_EQ(host_->grow(large_bytes).code(), Code::unsupported);
  host_.reset();
  options_.engine = "efactory";
  options_.pool_path = "";
  open();
  EXPECT_EQ(host_->grow(large_bytes).code(), Code::unsupported);
}

}  // namespace
}  // namespace remora::server
