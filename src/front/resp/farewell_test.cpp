// Connections that end because of what they send: they can read why, and stay no longer than that.
#include <gmock/gmock.h>

#include "front/resp/limits.h"
#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

using testing::StartsWith;

class FarewellTest : public RespServerTest {
 protected:
  void wait_for_clients(std::uint64_t count) {
    for (int looks = 0; looks < 10'000 && server_->counters().clients != count; ++looks) {
      (void)loop_.run_for(1'000'000);
    }
    EXPECT_EQ(server_->counters().clients, count);
  }

  const std::string too_long_ = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$16777217\r\n";
  const std::string error_ =
      "-ERR Protocol error: invalid bulk length: a value has at most 16777216 bytes\r\n";
};

TEST_F(FarewellTest, a_client_that_sends_all_of_its_request_can_read_why_it_was_refused) {
  serve();
  const auto client = guest();
  EXPECT_TRUE(client->send(too_long_));
  EXPECT_TRUE(client->send(std::string(16'777'217, 'v') + "\r\n"));
  EXPECT_EQ(client->reply_of(error_.size() + 6), error_ + "closed");
  EXPECT_LT(server_->kept_bytes(), 4096u);
  client->leave();
  wait_for_clients(0);
}

TEST_F(FarewellTest, what_it_sends_behind_is_not_run) {
  serve();
  const auto client = guest();
  client->send(too_long_ + "SET evil 1\r\n");
  EXPECT_THAT(client->reply_of(error_.size()), StartsWith(error_));
  EXPECT_TRUE(client->send("SET evil 1\r\n"));
  const auto other = guest();
  EXPECT_EQ(other->ask("EXISTS evil"), ":0\r\n");
}

TEST_F(FarewellTest, replies_before_it_are_sent_first) {
  serve({.durability = Durability::persistent});
  const auto client = guest();
  store_.automatic = false;
  client->send("SET k v\r\n" + too_long_ + std::string(100'000, 'v'));
  EXPECT_EQ(client->came(), "");
  store_.persist();
  EXPECT_EQ(client->reply_of(5 + error_.size() + 6), "+OK\r\n" + error_ + "closed");
  client->leave();
  wait_for_clients(0);
}

TEST_F(FarewellTest, it_is_cut_off_when_it_stays) {
  serve({.farewell_ns = 1'000'000});
  const auto client = guest();
  client->send(too_long_);
  EXPECT_EQ(client->reply_of(error_.size() + 6), error_ + "closed");
  wait_for_clients(0);
}

TEST_F(FarewellTest, those_that_stay_are_bounded) {
  serve();
  std::vector<std::unique_ptr<Guest>> guests;
  for (std::size_t i = 0; i < limits::farewells + 10; ++i) {
    guests.push_back(guest());
    guests.back()->send(too_long_);
    EXPECT_EQ(guests.back()->reply_of(error_.size()).substr(0, error_.size()), error_);
  }
  wait_for_clients(limits::farewells);
}

TEST(Farewells, bound_what_is_thrown_away) {
  Spares spares;
  Connection connection(spares);
  connection.to_discard = 100;
  EXPECT_TRUE(Farewells::discard(connection, 60));
  EXPECT_FALSE(Farewells::discard(connection, 60));
}

}  // namespace
}  // namespace remora::resp
