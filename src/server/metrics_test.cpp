#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "runtime/poll_loop.h"
#include "server/store_link.h"

namespace remora::server {
namespace {

using testing::HasSubstr;

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() {
    std::string folder = testing::TempDir() + "remora-metrics-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    StoreHostOptions options;
    options.socket_path = folder + "/socket";
    options.pool_bytes = 4 << 20;
    host_ = StoreHost::open(loop_, options).value();
  }
  ~MetricsTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string folder_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
};

TEST_F(MetricsTest, tell_what_clients_did) {
  const auto link =
      std::move(loop_.block_on(StoreLink::connect(loop_, folder_ + "/socket", {}))).value();
  EXPECT_TRUE(loop_.block_on(link->store().put(as_bytes("key"), as_bytes("value"))).ok());
  (void)loop_.block_on(link->wire_taken());
  const std::string text = metrics_text(*host_);
  EXPECT_THAT(text, HasSubstr("\nremora_keys 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_requests_total{op=\"put\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"mapped\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"ring\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\n# TYPE remora_durability_lag_seconds gauge\n"));
}

// What a collector insists on: one TYPE for each family, before its samples; counters end with
// _total; the end is marked.
TEST_F(MetricsTest, have_the_form_that_collectors_read) {
  std::istringstream lines(metrics_text(*host_));
  std::set<std::string> families;
  std::string family;
  std::string type;
  std::string last;
  for (std::string line; std::getline(lines, line); last = line) {
    std::istringstream words(line);
    std::string mark;
    std::string kind;
    words >> mark >> kind;
    if (mark == "#" && kind == "TYPE") {
      words >> family >> type;
      EXPECT_TRUE(families.insert(family).second) << line;
      EXPECT_TRUE(type == "gauge" || type == "counter") << line;
    } else if (mark != "#") {
      EXPECT_TRUE(line.starts_with(family + (type == "counter" ? "_total" : ""))) << line;
      EXPECT_NO_THROW((void)std::stod(line.substr(line.rfind(' ')))) << line;
    }
  }
  EXPECT_EQ(last, "# EOF");
  EXPECT_GT(families.size(), 15u);
}

}  // namespace
}  // namespace remora::server
