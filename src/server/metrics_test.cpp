#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <vector>

#include "base/folder_testing.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "server/patience_testing.h"

namespace remora::server {
namespace {

using testing::HasSubstr;
using testing::Not;

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() {
    StoreHostOptions options;
    options.socket_path = folder_.file("socket");
    options.pool_bytes = 4 << 20;
    be_patient(options.server);
    host_ = StoreHost::open(loop_, options).value();
  }

  const TestFolder folder_;
  PollLoop loop_;
  std::unique_ptr<StoreHost> host_;
};

TEST_F(MetricsTest, tell_what_clients_did) {
  const auto link =
      std::move(loop_.block_on(link::StoreLink::connect(loop_, folder_.file("socket"), {})))
          .value();
  EXPECT_TRUE(loop_.block_on(link->store().put(as_bytes("key"), as_bytes("value"))).ok());
  (void)loop_.block_on(link->wire_taken());
  const std::string text = metrics_text(*host_);
  EXPECT_THAT(text, HasSubstr("\nremora_keys 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_requests_total{op=\"put\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"mapped\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"ring\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\n# TYPE remora_durability_lag_seconds gauge\n"));
  EXPECT_TRUE(loop_
                  .block_on(link->store().put(as_bytes("key"), as_bytes("value"),
                                              {kv::Durability::persistent}))
                  .ok());
  EXPECT_THAT(metrics_text(*host_),
              HasSubstr("\nremora_durability_latency_seconds{quantile=\"0.99\"} "));
}

TEST_F(MetricsTest, count_clients_from_the_network_as_such) {
  StoreHostOptions options;
  options.listen =
      fabric::nic::roce::IpEndpoint{fabric::nic::roce::parse_address("127.0.0.1").value(), 0};
  options.pool_bytes = 4 << 20;
  options.access.tokens = {{"a token that may write", link::Role::write}};
  be_patient(options.server);
  const auto host = StoreHost::open(loop_, options).value();
  link::StoreLinkOptions far;
  far.network = host->network_endpoint();
  far.token = "a token that may write";
  far.fabric = link::WireKind::roce;
  const auto link = loop_.block_on(link::StoreLink::connect(loop_, "", far)).value();
  const std::string text = metrics_text(*host);
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"roce\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"ring\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_clients{wire=\"verbs\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nremora_medium_survives_process_end 0\n"));
}

TEST_F(MetricsTest, count_what_native_clients_were_refused) {
  const auto link =
      std::move(loop_.block_on(link::StoreLink::connect(loop_, folder_.file("socket"), {})))
          .value();
  std::array<std::byte, 8> value;
  EXPECT_EQ(loop_.block_on(link->store().get(as_bytes("none"), value)).code(), Code::not_found);
  EXPECT_THAT(metrics_text(*host_), HasSubstr("\nremora_failed_requests_total 0\n"));
  const std::vector<std::byte> large(400 << 10);
  Status status;
  for (int i = 0; i < 20 && status.ok(); ++i) {
    const std::string key = "key" + std::to_string(i);
    status = loop_.block_on(link->store().put(as_bytes(key), large, {kv::Durability::persistent}));
  }
  EXPECT_FALSE(status.ok()) << "4 MB hold no 8 MB";
  EXPECT_THAT(metrics_text(*host_), Not(HasSubstr("\nremora_failed_requests_total 0\n")));
}

// A counter without a row would be shown as a gauge, and lose its history at every look.
TEST_F(MetricsTest, name_every_counter_of_the_engine) {
  std::istringstream lines(metrics_text(*host_));
  std::set<std::string> families;
  std::set<std::string> helped;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mark;
    std::string kind;
    std::string family;
    words >> mark >> kind >> family;
    if (mark == "#" && kind != "EOF") {
      (kind == "HELP" ? helped : families).insert(family);
    }
  }
  EXPECT_EQ(families, helped);
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
      EXPECT_TRUE(type == "gauge" || type == "counter" || type == "summary") << line;
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
