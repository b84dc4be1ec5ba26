// The server with a thread that checks values: a program of its own, for ThreadSanitizer.
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "kv/efactory/engine.h"
#include "kv/store_testing.h"
#include "pmem/pmem_testing.h"
#include "runtime/runtime_testing.h"

namespace remora::kv {
namespace {

// The worker's thread checks and flushes what the loop flags.
class EfactoryWorkerTest : public StoreFixture, public testing::WithParamInterface<Granularity> {
 protected:
  EfactoryWorkerTest() : StoreFixture(efactory::engine()) {
    make_region_ = [](std::size_t size) { return std::make_unique<FakeRegion>(size, GetParam()); };
    worker_ = std::make_unique<Worker>(loop_);
    start(4 << 20, {.create = true, .expected_keys = 16});
    medium().commit_when_asked();
  }
  FakeRegion& medium() { return static_cast<FakeRegion&>(*region_); }
  void wait_for_worker() {
    for (int i = 0; i < 5000 && server_->busy(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      loop_.block_on(nap(loop_, 10'000));  // an event, at which the loop looks for its end
    }
    EXPECT_FALSE(server_->busy());
  }
  void cut_and_restart() {
    client_.reset();
    server_.reset();
    pool_.reset();
    medium().cut();
    restart();
  }
};

INSTANTIATE_TEST_SUITE_P(media, EfactoryWorkerTest,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "pages" : "lines";
                         });

TEST_P(EfactoryWorkerTest, what_it_has_verified_survives_a_cut) {
  const std::string value(4000, 'v');
  ASSERT_TRUE(put("key", value).ok());
  wait_for_worker();
  EXPECT_EQ(counter("verified_by_worker"), 1u);
  cut_and_restart();
  EXPECT_EQ(get("key"), value);
}

// The log is cleaned some times meanwhile.
TEST_P(EfactoryWorkerTest, puts_gets_and_deletions_go_on_beside_it) {
  const std::string absent(to_string(Code::not_found));
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "key-" + std::to_string(i * 7 % 16);
    if (i % 11 == 10) {
      ASSERT_TRUE(del(key).ok());
      expected[key] = absent;
    } else {
      expected[key] = std::string(4000, static_cast<char>('a' + i % 26));
      ASSERT_TRUE(put(key, expected[key]).ok());
    }
    if (i % 3 == 0) {
      ASSERT_EQ(get(key), expected[key]);
    }
  }
  wait_for_worker();
  EXPECT_GT(counter("verified_by_worker"), 0u);
  EXPECT_GT(counter("cleanings") + counter("cleaned_parts"), 0u);
  cut_and_restart();
  for (const auto& [key, value] : expected) {
    EXPECT_EQ(get(key), value) << key;
  }
}

}  // namespace
}  // namespace remora::kv
