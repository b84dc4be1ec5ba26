// MONITOR: what is shown to whom, and what becomes of those who do not look.
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "front/resp/commands_testing.h"
#include "front/resp/limits.h"
#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class MonitorTest : public CommandsTest {
 protected:
  MonitorTest() {
    session_.peer = "127.0.0.1:1234";
    EXPECT_EQ(ask(watcher_, "MONITOR"), "+OK|");
  }
  // What was shown since the last call, without times and the client's address.
  std::string shown() {
    const std::optional<std::string> lines = executor_.monitor_feed().take();
    return lines ? std::regex_replace(
                       *lines, std::regex("\\+[0-9]+\\.[0-9]{6} \\[0 127.0.0.1:1234\\] "), "")
                 : "lost";
  }

  Session watcher_;
};

TEST_F(MonitorTest, shows_what_is_run_as_redis_does) {
  (void)ask("SET k \"a\\\"\\n\\x00\"");
  (void)ask("get k");
  EXPECT_EQ(shown(), "\"SET\" \"k\" \"a\\\"\\n\\x00\"\r\n\"get\" \"k\"\r\n");
  (void)ask("INCRBY n 7");
  const std::optional<std::string> line = executor_.monitor_feed().take();
  ASSERT_TRUE(line);
  const std::string second = std::to_string(loop_.wall_ms() / 1000);
  EXPECT_THAT(*line, StartsWith("+" + second + "."));
  EXPECT_THAT(*line, EndsWith(" [0 127.0.0.1:1234] \"INCRBY\" \"n\" \"7\"\r\n"));
}

TEST_F(MonitorTest, hides_passwords) {
  settings_.needs_password = true;
  settings_.authenticate = [](std::string_view, std::string_view password) {
    return password == "secret" ? Access::admin : Access::none;
  };
  (void)ask("AUTH secret");
  (void)ask("AUTH default wrong");
  (void)ask("HELLO 3 AUTH default secret SETNAME me");
  (void)ask("HELLO 2 auth default");  // is wrong, and hidden all the same
  EXPECT_EQ(shown(),
            "\"AUTH\" \"(redacted)\"\r\n"
            "\"AUTH\" \"(redacted)\" \"(redacted)\"\r\n"
            "\"HELLO\" \"3\" \"AUTH\" \"(redacted)\" \"(redacted)\" \"SETNAME\" \"me\"\r\n"
            "\"HELLO\" \"2\" \"auth\" \"(redacted)\"\r\n");
}

TEST_F(MonitorTest, hides_passwords_wherever_they_stand) {
  const std::vector<std::pair<std::string, std::string>> requests = {
      // The first "auth" is a name, and a later password counts as the first one does.
      {"HELLO 3 SETNAME auth AUTH default secret", R"("3" "SETNAME" "auth" "AUTH" # #)"},
      {"HELLO 3 AUTH default no AUTH default secret", R"("3" "AUTH" # # "AUTH" # #)"},
      {"HELLO 3 AUTH auth secret setname auth", R"("3" "AUTH" # # "setname" "auth")"},
      // What is no HELLO may have one anywhere.
      {"HELLO 3 AUHT default secret", R"("3" # # #)"},
      {"HELLO AUTH default secret", R"(# # #)"},
      {"HELLO 3 SETNAME AUTH default secret", R"("3" "SETNAME" "AUTH" # #)"},
      {"HELLO 3 SETNAME me", R"("3" "SETNAME" "me")"},
      {"HELLO", ""}};
  for (const auto& [request, arguments] : requests) {
    (void)ask(request);
    const std::string hidden = std::regex_replace(arguments, std::regex("#"), "\"(redacted)\"");
    EXPECT_EQ(shown(), "\"HELLO\"" + (hidden.empty() ? "" : " " + hidden) + "\r\n") << request;
  }
}

TEST_F(MonitorTest, shows_nothing_that_was_refused_and_nothing_of_an_administrator) {
  (void)ask("NOSUCH x");
  (void)ask("GET");
  (void)ask("CONFIG GET save");
  (void)ask("SLOWLOG LEN");
  (void)ask("LATENCY LATEST");
  (void)ask("DEBUG SLEEP 0");
  (void)ask("CLIENT LIST");
  (void)ask("CLIENT KILL ID 77");
  (void)ask("MONITOR");
  session_.access = Access::read;
  (void)ask("SET k v");
  EXPECT_EQ(shown(), "");
  (void)ask("CLIENT ID");
  EXPECT_EQ(shown(), "\"CLIENT\" \"ID\"\r\n");
}

TEST_F(MonitorTest, shows_a_transaction_once_and_when_it_has_happened) {
  (void)ask("MULTI");
  (void)ask("SET k v");
  (void)ask("GET other");
  (void)ask("AUTH x");
  (void)ask("CONFIG GET save");
  EXPECT_EQ(shown(), "\"MULTI\"\r\n");
  // It runs again: somebody changes what it has read.
  store_.before_together = [this] { (void)store_.put(as_bytes("other"), {}, 0); };
  EXPECT_THAT(ask("EXEC"), HasSubstr("|$0||"));
  EXPECT_EQ(shown(),
            "\"SET\" \"k\" \"v\"\r\n\"GET\" \"other\"\r\n\"AUTH\" \"(redacted)\"\r\n\"EXEC\"\r\n");
  (void)ask("MULTI");
  (void)ask("SET k w");
  (void)ask("DISCARD");
  EXPECT_EQ(shown(), "\"MULTI\"\r\n\"DISCARD\"\r\n");
  EXPECT_EQ(ask("MULTI"), "+OK|");
  EXPECT_EQ(ask("MONITOR"), "+QUEUED|");
  EXPECT_EQ(ask("EXEC"), "*1|-ERR MONITOR isn't allowed for DENY BLOCKING client|");
}

TEST_F(MonitorTest, shows_a_command_that_waited_when_it_has_happened) {
  store_.refusals = 1;
  (void)ask("SET k v");
  EXPECT_EQ(done_, Done::no_room);
  EXPECT_EQ(shown(), "");
  (void)ask("SET k v");
  EXPECT_EQ(shown(), "\"SET\" \"k\" \"v\"\r\n");
}

TEST_F(MonitorTest, bounds_a_line) {
  const std::string large(limits::monitor_line_bytes + 5, 'v');
  (void)ask("SET k " + large);
  EXPECT_EQ(shown(), "\"SET\" \"k\" \"" + large.substr(0, limits::monitor_line_bytes - 4) +
                         "... (9 more bytes)\"\r\n");
  (void)ask("MSET k " + large + " l x");
  EXPECT_THAT(shown(), EndsWith("more bytes)\" \"... (2 more arguments)\"\r\n"));
  std::string many = "DEL";
  for (std::size_t i = 0; i < limits::monitor_line_bytes; ++i) {
    many += " ''";
  }
  (void)ask(many);
  EXPECT_THAT(shown(), EndsWith(" \"\" \"... (3 more arguments)\"\r\n"));
}

TEST_F(MonitorTest, loses_all_rather_than_to_grow_without_end) {
  const std::string line = "SET k " + std::string(limits::monitor_line_bytes, 'v');
  for (std::size_t i = 0; i <= limits::monitor_text_bytes / limits::monitor_line_bytes; ++i) {
    (void)ask(line);
  }
  EXPECT_EQ(shown(), "lost");
  (void)ask("PING");
  EXPECT_EQ(shown(), "\"PING\"\r\n");
}

TEST_F(MonitorTest, ends_with_reset) {
  EXPECT_TRUE(executor_.monitor_feed().any());
  EXPECT_EQ(ask(watcher_, "MONITOR"), "");  // it is one already: no reply, as in Redis
  EXPECT_EQ(ask(watcher_, "RESET"), "+RESET|");
  EXPECT_FALSE(executor_.monitor_feed().any());
  (void)executor_.monitor_feed().take();
  (void)ask("PING");
  EXPECT_EQ(shown(), "");
}

TEST_F(MonitorTest, is_for_an_admin) {
  settings_.needs_password = true;
  settings_.authenticate = [](std::string_view, std::string_view) { return Access::write; };
  EXPECT_EQ(ask(watcher_, "AUTH writer"), "+OK|");
  EXPECT_FALSE(watcher_.is_monitor);
  for (const Access access : {Access::read, Access::write}) {
    session_.access = access;
    EXPECT_THAT(ask("MONITOR"), StartsWith("-NOPERM "));
    EXPECT_FALSE(session_.is_monitor);
  }
}

TEST_F(MonitorTest, is_seen_in_the_list_of_clients) {
  executor_.each_session = [&](const Executor::Visitor& visit) { visit(watcher_, {}); };
  EXPECT_THAT(ask("CLIENT LIST"), HasSubstr(" flags=O "));
}

TEST_F(MonitorTest, shows_a_time_that_goes_on_within_a_millisecond) {
  double last = 0;
  for (int i = 0; i < 100; ++i) {
    (void)loop_.run_for(100'000);
    (void)ask("PING");
    const double now = std::stod(executor_.monitor_feed().take()->substr(1));
    EXPECT_GT(now, last);
    EXPECT_NEAR(now, static_cast<double>(loop_.wall_ms()) / 1000, 0.002);
    last = now;
  }
}

// --- With sockets ---

class MonitorServerTest : public RespServerTest {
 protected:
  // What comes up to this text and a line end.
  static std::string until(Guest& guest, const std::string& text) {
    std::string all;
    for (int looks = 0; !all.ends_with(text + "\r\n") && looks < 100'000; ++looks) {
      all += guest.came(100'000);
    }
    return all;
  }
};

TEST_F(MonitorServerTest, tells_every_monitor_what_all_clients_ask_for) {
  serve();
  const auto one = guest();
  const auto other = guest();
  const auto client = guest();
  EXPECT_EQ(one->ask("MONITOR"), "+OK\r\n");
  other->send("HELLO 3\r\nMONITOR\r\n");
  EXPECT_THAT(until(*other, "+OK"), StartsWith("%7\r\n"));
  EXPECT_THAT(until(*one, "\"HELLO\" \"3\""), StartsWith("+"));
  EXPECT_EQ(client->ask("SET k v"), "+OK\r\n");
  for (Guest* monitor : {one.get(), other.get()}) {
    const std::string line = until(*monitor, "] \"SET\" \"k\" \"v\"");
    EXPECT_THAT(line, StartsWith("+"));
    EXPECT_THAT(line, HasSubstr(" [0 127.0.0.1:"));
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  }
  // A monitor's own commands, behind its reply.
  one->send("PING\r\n");
  EXPECT_THAT(until(*one, "\"PING\""), StartsWith("+PONG\r\n+"));
}

TEST_F(MonitorServerTest, ends_with_the_connection_or_before) {
  serve();
  const auto client = guest();
  const auto leaving = guest();
  const auto quitting = guest();
  const auto resetting = guest();
  for (Guest* each : {leaving.get(), quitting.get(), resetting.get()}) {
    EXPECT_EQ(each->ask("MONITOR"), "+OK\r\n");
  }
  quitting->send("QUIT\r\n");
  EXPECT_EQ(quitting->reply_of(11), "+OK\r\nclosed");
  resetting->send("RESET\r\n");
  EXPECT_THAT(until(*resetting, "+RESET"), HasSubstr("\"QUIT\"\r\n"));
  EXPECT_EQ(client->ask("PING"), "+PONG\r\n");
  EXPECT_EQ(resetting->came(), "");
  EXPECT_THAT(until(*leaving, "\"PING\""), HasSubstr("\"RESET\"\r\n"));
  EXPECT_THAT(client->ask("CLIENT LIST"), HasSubstr(" flags=O "));
  leaving->break_off();
  for (int looks = 0; looks < 1'000 && server_->counters().clients != 2; ++looks) {
    (void)loop_.run_for(moment_ns);
  }
  EXPECT_THAT(client->ask("CLIENT LIST"), testing::Not(HasSubstr(" flags=O ")));
  EXPECT_EQ(client->ask("PING"), "+PONG\r\n");
}

TEST_F(MonitorServerTest, cuts_off_a_monitor_that_takes_nothing) {
  serve({.client_bytes = 4 << 20});
  const auto idler = guest();
  const auto client = guest();
  EXPECT_EQ(idler->ask("MONITOR"), "+OK\r\n");
  const std::string request = set("key", std::string(limits::monitor_line_bytes / 2, 'v'));
  // The system keeps some of it, too.
  for (int i = 0; i < 10'000 && server_->counters().clients == 2; ++i) {
    client->send(request);
    ASSERT_EQ(client->reply(), "+OK\r\n");
    EXPECT_LT(server_->kept_bytes(), 16u << 20);
  }
  EXPECT_EQ(server_->counters().clients, 1u);
  EXPECT_EQ(client->ask("PING"), "+PONG\r\n");
}

TEST_F(MonitorServerTest, tells_a_slow_one_that_has_quit_what_it_is_owed_and_no_more) {
  serve();
  const auto slow = guest();
  const auto client = guest();
  EXPECT_EQ(slow->ask("MONITOR"), "+OK\r\n");
  const std::string value(limits::monitor_line_bytes / 2, 'v');
  const std::uint64_t owed_bytes = 2 * value.size();
  // The system keeps some of it first.
  for (int i = 0; i < 10'000 && server_->kept_bytes() < owed_bytes; ++i) {
    client->send(set("early", value));
    ASSERT_EQ(client->reply(), "+OK\r\n");
  }
  ASSERT_GE(server_->kept_bytes(), owed_bytes);
  const std::uint64_t before = server_->counters().all_commands();
  slow->send("QUIT\r\n");
  for (int looks = 0; looks < 10'000 && server_->counters().all_commands() == before; ++looks) {
    (void)loop_.run_for(1'000'000);
  }
  ASSERT_EQ(server_->counters().all_commands(), before + 1);
  EXPECT_EQ(client->ask("SET late v"), "+OK\r\n");
  EXPECT_EQ(client->ask("PING"), "+PONG\r\n");  // what was asked before has been told
  std::string all;
  for (int looks = 0; !all.ends_with("closed") && looks < 100'000; ++looks) {
    all += slow->came(100'000);
  }
  EXPECT_TRUE(all.ends_with("\r\n+OK\r\nclosed"));
  EXPECT_EQ(all.find("late"), std::string::npos);
}

TEST_F(MonitorServerTest, tells_of_requests_that_had_to_wait) {
  serve();
  const auto monitor = guest();
  const auto client = guest();
  EXPECT_EQ(monitor->ask("MONITOR"), "+OK\r\n");
  store_.refusals = 1;
  client->send("SET k v\r\n");
  EXPECT_EQ(client->reply(), "+OK\r\n");
  EXPECT_THAT(until(*monitor, "] \"SET\" \"k\" \"v\""), StartsWith("+"));
}

TEST_F(MonitorServerTest, tells_nothing_where_no_replies_are_wanted) {
  serve();
  const auto monitor = guest();
  const auto client = guest();
  EXPECT_EQ(monitor->ask("MONITOR"), "+OK\r\n");
  monitor->send("CLIENT REPLY OFF\r\n");
  EXPECT_EQ(monitor->came(), "");
  EXPECT_EQ(client->ask("PING"), "+PONG\r\n");
  EXPECT_EQ(monitor->came(), "");
}

}  // namespace
}  // namespace remora::resp
