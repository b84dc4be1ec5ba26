// A store whose worker verifies large values while the loop serves.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/folder_testing.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "server/patience_testing.h"
#include "server/store_host.h"

namespace remora::server {
namespace {

std::uint64_t counter(StoreHost& host, std::string_view name) {
  for (const kv::StoreServer::Counter& counter : host.store().counters()) {
    if (counter.name == name) {
      return counter.value;
    }
  }
  return 0;
}

class StoreThreadsTest : public testing::TestWithParam<Media> {
 protected:
  static StoreHostOptions with_two_threads(const TestFolder& folder, std::uint64_t pool_bytes) {
    StoreHostOptions options;
    options.socket_path = folder.file("socket");
    options.pool_path = GetParam() == Media::file ? folder.file("pool") : "";
    options.pool_bytes = pool_bytes;
    options.threads = 2;
    be_patient(options.server);
    return options;
  }
  static link::StoreLinkOptions patient_link() {
    link::StoreLinkOptions options;
    be_patient(options.client);
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(media, StoreThreadsTest, testing::Values(Media::dram, Media::file),
                         [](const testing::TestParamInfo<Media>& param) {
                           return param.param == Media::dram ? "lines" : "pages";
                         });

// Many times what the pool holds: the log is cleaned while the worker looks at its versions.
TEST_P(StoreThreadsTest, a_worker_verifies_while_the_log_is_cleaned) {
  constexpr int keys = 32;
  constexpr int rounds = 40;
  const TestFolder folder;
  PollLoop loop;
  const StoreHostOptions options = with_two_threads(folder, 8 << 20);
  Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop, options);
  ASSERT_TRUE(host.ok()) << host.status().message();
  Result<std::unique_ptr<link::StoreLink>> link =
      loop.block_on(link::StoreLink::connect(loop, options.socket_path, patient_link()));
  ASSERT_TRUE(link.ok()) << link.status().message();

  const auto key_of = [](int key) { return "key " + std::to_string(key); };
  const auto value_of = [](int round, int key) {
    return std::string(16 << 10, static_cast<char>('a' + (round + key) % 26));
  };
  std::string found(32 << 10, 0);
  for (int round = 0; round < rounds; ++round) {
    for (int key = 0; key < keys; ++key) {
      const std::string name = key_of(key);
      const std::string value = value_of(round, key);
      const Status status = loop.block_on(
          (*link)->store().put(std::as_bytes(std::span(name)), std::as_bytes(std::span(value))));
      ASSERT_TRUE(status.ok()) << status.message();
    }
    for (int key = 0; key < keys; ++key) {
      const std::string name = key_of(key);
      const Result<std::size_t> size = loop.block_on((*link)->store().get(
          std::as_bytes(std::span(name)), std::as_writable_bytes(std::span(found))));
      ASSERT_TRUE(size.ok()) << size.status().message();
      ASSERT_EQ(found.substr(0, *size), value_of(round, key));
    }
  }
  for (int i = 0; i < 60'000 && (*host)->store().busy(); ++i) {
    (void)loop.run_for(1'000'000);
  }
  EXPECT_FALSE((*host)->store().busy());
  EXPECT_GT(counter(**host, "verified_by_worker"), 0u);
  EXPECT_GT(counter(**host, "cleanings") + counter(**host, "cleaned_parts"), 0u);
}

// Whatever the worker is at when the store is closed.
TEST_P(StoreThreadsTest, a_store_closes_while_its_worker_works) {
  const TestFolder folder;
  PollLoop loop;
  StoreHostOptions options = with_two_threads(folder, 16 << 20);
  const std::string value(1 << 20, 'v');
  for (int life = 0; life < 10; ++life) {
    Result<std::unique_ptr<StoreHost>> host = StoreHost::open(loop, options);
    ASSERT_TRUE(host.ok()) << host.status().message();
    Result<std::unique_ptr<link::StoreLink>> link =
        loop.block_on(link::StoreLink::connect(loop, options.socket_path, patient_link()));
    ASSERT_TRUE(link.ok()) << link.status().message();
    const std::string name = "key " + std::to_string(life % 3);
    const Status status = loop.block_on(
        (*link)->store().put(std::as_bytes(std::span(name)), std::as_bytes(std::span(value))));
    EXPECT_TRUE(status.ok()) << status.message();
    (void)loop.run_for(static_cast<std::uint64_t>(life) * 10'000);
    link->reset();
  }
}

}  // namespace
}  // namespace remora::server
