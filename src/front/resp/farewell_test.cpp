// Connections that end because of what they send: they can read why, and stay no longer than that.
#include <gmock/gmock.h>

#include "front/resp/farewells.h"
#include "front/resp/server_testing.h"
#include "runtime/virtual_loop.h"

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
  serve({.farewell_ns = never_ns, .most_farewells = 4});
  std::vector<std::unique_ptr<Guest>> guests;
  for (std::size_t i = 0; i < 7; ++i) {
    guests.push_back(guest());
    guests.back()->send(too_long_);
    EXPECT_EQ(guests.back()->reply_of(error_.size()).substr(0, error_.size()), error_);
  }
  wait_for_clients(4);
}

TEST_F(FarewellTest, one_whose_next_request_waits_leaves_once) {
  serve({.farewell_ns = never_ns, .most_farewells = 1, .durability = Durability::persistent});
  store_.automatic = false;
  store_.will_fail = true;
  store_.on_its_way = UINT32_MAX;  // its second request waits for a value
  const auto client = guest();
  client->send("SET k v\r\nMSET a 1 b 2\r\n");
  const std::string failure = "-MISCONF the store has failed: the disk of this test is broken\r\n";
  EXPECT_EQ(client->reply_of(failure.size() + 6), failure + "closed");
  // Nothing looks for that value any more, and what it sends is still read.
  for (int looks = 0; looks < 10'000 && server_->busy(); ++looks) {
    (void)loop_.run_for(1'000'000);
  }
  EXPECT_FALSE(server_->busy());
  EXPECT_EQ(server_->counters().clients, 1u);
  EXPECT_TRUE(client->send("SET k v\r\n"));
  EXPECT_EQ(server_->counters().clients, 1u);
  client->leave();
  wait_for_clients(0);
}

class FarewellsTest : public testing::Test {
 protected:
  VirtualLoop loop_;
  Spares spares_;
  Connection one_{spares_};
  Connection other_{spares_};
  std::vector<const Connection*> closed_;
  Farewells farewells_{loop_, 1'000, 1, [this](Connection& connection) {
                         closed_.push_back(&connection);
                         farewells_.end(connection);
                       }};
};

TEST_F(FarewellsTest, the_one_that_began_first_makes_way) {
  farewells_.begin(one_);
  farewells_.begin(other_);
  EXPECT_EQ(closed_, std::vector<const Connection*>{&one_});
  EXPECT_FALSE(one_.is_leaving);
  EXPECT_TRUE(other_.is_leaving);
}

TEST_F(FarewellsTest, one_that_is_leaving_does_not_begin_again) {
  farewells_.begin(one_);
  (void)loop_.run_for(600);
  farewells_.begin(one_);
  EXPECT_TRUE(closed_.empty());
  EXPECT_EQ(farewells_.size(), 1u);
  (void)loop_.run_for(600);
  EXPECT_EQ(closed_, std::vector<const Connection*>{&one_});
  EXPECT_EQ(farewells_.size(), 0u);
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
