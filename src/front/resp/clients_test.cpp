// CLIENT on a store in a map, and what it does to connections.
#include <gmock/gmock.h>

#include "front/resp/commands_testing.h"
#include "front/resp/server_testing.h"

namespace remora::resp {
namespace {

using testing::HasSubstr;

TEST_F(CommandsTest, client_info_has_the_fields_that_tools_look_for) {
  session_.id = 7;
  session_.peer = "127.0.0.1:1234";
  session_.came_ms = loop_.wall_ms();
  const std::string info = ask("CLIENT INFO");
  for (const char* field : {"id=7 ",        "addr=127.0.0.1:1234 ",
                            "laddr=",       "fd=",
                            "name= ",       "age=0 ",
                            "idle=0 ",      "flags=N ",
                            "db=0 ",        "sub=0 ",
                            "psub=0 ",      "ssub=0 ",
                            "multi=-1 ",    "qbuf=0 ",
                            "qbuf-free=0 ", "argv-mem=0 ",
                            "multi-mem=0 ", "rbs=0 ",
                            "rbp=0 ",       "obl=0 ",
                            "oll=0 ",       "omem=0 ",
                            "tot-mem=0 ",   "events=r ",
                            "cmd=client ",  "user=default ",
                            "redir=-1 ",    "resp=2"}) {
    EXPECT_THAT(info, HasSubstr(field));
  }
  Session other;
  other.id = 8;
  executor_.each_session = [&](const Executor::Visitor& visit) { visit(other, {}); };
  EXPECT_EQ(ask(other, "MULTI"), "+OK|");
  EXPECT_EQ(ask(other, "SET k v"), "+QUEUED|");
  EXPECT_THAT(ask("CLIENT LIST"), HasSubstr(" flags=x db=0 sub=0 psub=0 ssub=0 multi=1 "));
}

TEST_F(RespServerTest, lists_what_connections_keep) {
  serve();
  const auto me = guest();
  const auto other = guest();
  EXPECT_EQ(other->ask("PING"), "+PONG\r\n");
  EXPECT_TRUE(other->send("*2\r\n$3\r\nGET\r\n$1000\r\n" + std::string(500, 'k')));
  std::string list;
  for (int looks = 0; looks < 10'000 && list.find(" qbuf=5") == list.npos; ++looks) {
    list = me->ask("CLIENT LIST");
  }
  EXPECT_THAT(list, HasSubstr(" qbuf=5"));
  EXPECT_THAT(list, HasSubstr(" qbuf=0 "));
}

TEST_F(RespServerTest, ends_the_clients_that_it_is_told_to) {
  serve();
  const auto me = guest();
  const auto other = guest();
  const auto third = guest();
  EXPECT_EQ(me->ask("CLIENT ID"), ":1\r\n");
  EXPECT_EQ(other->ask("CLIENT ID"), ":2\r\n");
  EXPECT_EQ(third->ask("CLIENT ID"), ":3\r\n");
  EXPECT_EQ(me->ask("CLIENT KILL 1.2.3.4:5"), "-ERR No such client\r\n");
  EXPECT_EQ(me->ask("CLIENT KILL ID 99"), ":0\r\n");
  EXPECT_EQ(me->ask("CLIENT KILL ID 0"), "-ERR client-id should be greater than 0\r\n");
  EXPECT_EQ(me->ask("CLIENT KILL USER nobody"), "-ERR No such user 'nobody'\r\n");
  EXPECT_EQ(me->ask("CLIENT KILL TYPE pubsub"), ":0\r\n");
  EXPECT_EQ(me->ask("CLIENT KILL ID"), "-ERR No such client\r\n");  // as an address
  EXPECT_EQ(me->ask("CLIENT KILL ID 1"), ":0\r\n");                 // not itself
  EXPECT_EQ(me->ask("CLIENT KILL ID 2"), ":1\r\n");
  EXPECT_EQ(other->came(), "closed");
  EXPECT_EQ(me->ask("CLIENT KILL TYPE normal"), ":1\r\n");
  EXPECT_EQ(third->came(), "closed");
  EXPECT_EQ(server_->counters().clients, 1u);
  me->send("CLIENT KILL TYPE normal SKIPME no\r\n");
  const std::string last = ":1\r\nclosed";
  EXPECT_EQ(me->reply_of(last.size()), last);
}

// Clients that wait, and such as are served in the same turn, can be ended too.
TEST_F(RespServerTest, ends_clients_whatever_they_wait_for) {
  serve({.durability = Durability::persistent});
  const auto me = guest();
  const auto writer = guest();
  const auto waiter = guest();
  EXPECT_EQ(writer->ask("PING"), "+PONG\r\n");
  EXPECT_EQ(waiter->ask("PING"), "+PONG\r\n");
  store_.automatic = false;
  writer->send("SET k v\r\n");
  waiter->send("WAITAOF 0 1 0\r\n");
  (void)loop_.run_for(1'000'000);
  me->send("CLIENT KILL TYPE normal\r\n");
  writer->send("PING\r\n");
  EXPECT_EQ(me->reply(), ":2\r\n");
  EXPECT_EQ(writer->came(), "closed");
  EXPECT_EQ(waiter->came(), "closed");
  store_.persist();
  EXPECT_EQ(me->ask("GET k"), bulk("v"));
}

TEST_F(RespServerTest, tells_a_client_nothing_that_wants_no_replies) {
  serve();
  const auto client = guest();
  client->send("CLIENT REPLY OFF\r\nSET k v\r\nGET k\r\nNOSUCH\r\nWAITAOF 0 1 1\r\n");
  EXPECT_EQ(client->came(), "");
  EXPECT_EQ(client->ask("CLIENT REPLY ON"), "+OK\r\n");
  EXPECT_EQ(client->ask("GET k"), bulk("v"));
  client->send("CLIENT REPLY SKIP\r\nSET k w\r\nGET k\r\n");
  EXPECT_EQ(client->reply_of(bulk("w").size()), bulk("w"));
  const std::string large(limits::gather_bytes + 1, 'v');
  client->send(set("large", large) + "CLIENT REPLY SKIP\r\nGET large\r\nPING\r\n");
  const std::string expected = "+OK\r\n+PONG\r\n";
  EXPECT_EQ(client->reply_of(expected.size()), expected);
  EXPECT_EQ(client->ask("CLIENT REPLY NEVER"), "-ERR syntax error\r\n");
}

}  // namespace
}  // namespace remora::resp
