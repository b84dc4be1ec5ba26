// Requests that take long though their replies are short: between them others have their turn.
#include <gmock/gmock.h>

#include <algorithm>

#include "front/resp/limits.h"
#include "front/resp/server_testing.h"
#include "runtime/timer.h"

namespace remora::resp {
namespace {

// The most commands that were run from one turn of the loop to the next.
class MostInTurn final : private Timer {
 public:
  MostInTurn(PollLoop& loop, const Counters& counters)
      : loop_(loop), counters_(counters), before_(counters.all_commands()) {
    loop_.run_soon(*this);
  }

  std::uint64_t most() const { return most_; }

 private:
  void expire() override {
    most_ = std::max(most_, counters_.all_commands() - before_);
    before_ = counters_.all_commands();
    loop_.run_soon(*this);
  }

  PollLoop& loop_;
  const Counters& counters_;
  std::uint64_t before_;
  std::uint64_t most_ = 0;
};

class TurnsTest : public RespServerTest {
 protected:
  TurnsTest() {
    serve();
    put("half", std::string(limits::turn_search_bytes / 2, '\0'));
    put("large", std::string(limits::turn_search_bytes, '\0'));
    put("text", std::string(511, 'x'));  // whose table with itself is as large
  }
  void put(std::string_view key, std::string_view value) {
    const ConstBytes piece = as_bytes(value);
    EXPECT_TRUE(store_.put(as_bytes(key), std::span(&piece, 1), 0).ok());
  }
  static std::string times(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      all += text;
    }
    return all;
  }
  // How many of these are run in a turn, at most, when a client sends 60 of them at once.
  std::uint64_t most_in_turn(const std::string& request, const std::string& reply) {
    const auto client = guest();
    const MostInTurn turns(loop_, server_->counters());
    EXPECT_TRUE(client->send(times(60, request + "\r\n")));
    const std::string replies = times(60, reply);
    EXPECT_EQ(client->reply_of(replies.size()), replies) << request;
    return turns.most();
  }
};

TEST_F(TurnsTest, one_that_takes_long_is_run_in_a_turn) {
  EXPECT_EQ(most_in_turn("LCS text text LEN", ":511\r\n"), 1u);
  EXPECT_EQ(most_in_turn("BITCOUNT large", ":0\r\n"), 1u);
  EXPECT_EQ(most_in_turn("BITPOS large 1", ":-1\r\n"), 1u);
  EXPECT_EQ(most_in_turn("BITCOUNT half", ":0\r\n"), 2u);
  for (std::uint64_t i = 0; i < limits::turn_search_bytes / limits::key_search_bytes; ++i) {
    put(std::to_string(i), "");
  }
  EXPECT_EQ(most_in_turn("KEYS none", "*0\r\n"), 1u);
  EXPECT_EQ(most_in_turn("SCAN 0 COUNT 10000 MATCH none", "*2\r\n$1\r\n0\r\n*0\r\n"), 1u);
}

TEST_F(TurnsTest, so_is_a_transaction_with_one) {
  const std::string queued = "+QUEUED\r\n";
  EXPECT_EQ(most_in_turn("MULTI\r\nLCS text text LEN\r\nBITCOUNT half\r\nEXEC",
                         "+OK\r\n" + queued + queued + "*2\r\n:511\r\n:0\r\n"),
            4u);
}

TEST_F(TurnsTest, others_are_run_at_once) {
  EXPECT_GT(most_in_turn("LCS none none LEN", ":0\r\n"), 30u);
  EXPECT_GT(most_in_turn("GET none", "$-1\r\n"), 30u);
  // Of a long value a little is looked at.
  EXPECT_GT(most_in_turn("BITCOUNT large -9 -1", ":0\r\n"), 30u);
  EXPECT_GT(most_in_turn("BITPOS large 0", ":0\r\n"), 30u);
}

TEST_F(TurnsTest, clients_with_long_ones_take_turns) {
  std::vector<std::unique_ptr<Guest>> guests;
  const MostInTurn turns(loop_, server_->counters());
  for (int i = 0; i < 4; ++i) {
    guests.push_back(guest());
    EXPECT_TRUE(guests.back()->send(times(20, "LCS text text LEN\r\n")));
  }
  const std::string replies = times(20, ":511\r\n");
  for (const std::unique_ptr<Guest>& each : guests) {
    EXPECT_EQ(each->reply_of(replies.size()), replies);
  }
  // One that was waiting, and one of each that has just come.
  EXPECT_LE(turns.most(), 5u);
}

TEST_F(TurnsTest, one_that_waits_for_its_turn_may_leave) {
  const auto client = guest();
  const auto other = guest();
  const std::uint64_t before = server_->counters().all_commands();
  EXPECT_TRUE(client->send(times(1'000, "LCS text text LEN\r\n")));
  client->break_off();
  for (int looks = 0; looks < 10'000 && server_->counters().clients != 1; ++looks) {
    (void)loop_.run_for(100'000);
  }
  EXPECT_EQ(server_->counters().clients, 1u);
  EXPECT_LE(server_->counters().all_commands(), before + 1'000);
  EXPECT_EQ(other->ask("PING"), "+PONG\r\n");
}

}  // namespace
}  // namespace remora::resp
