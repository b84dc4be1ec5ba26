// remora serve: how a store begins, goes on, and ends.
#include <sys/stat.h>

#include <filesystem>

#include "tests/cli/served_store.h"

namespace remora {
namespace {

using testing::HasSubstr;
using testing::Not;

using Serve = ServedStore;

TEST_F(Serve, says_what_it_serves_and_what_that_is_worth) {
  serve();
  const std::string said = server_->out();
  for (const std::string& text :
       {pool() + ", 4 MiB, engine efactory, new", std::string("survives a power cut"), socket(),
        "put --socket " + socket(), std::string("Ctrl-C")}) {
    EXPECT_THAT(said, HasSubstr(text));
  }
}

TEST_F(Serve, ends_in_order_when_it_is_told_to) {
  for (const int signal : {SIGTERM, SIGINT}) {
    serve();
    EXPECT_EQ(told({"put", "key", "value"}), "visible\n");
    server_->signal(signal);
    EXPECT_EQ(server_->wait(), kept) << server_->err();
    EXPECT_THAT(server_->out(), HasSubstr("all that was acknowledged is persistent"));
    struct stat facts = {};
    EXPECT_NE(stat(socket().c_str(), &facts), 0) << "it leaves its socket behind";
  }
  serve();
  EXPECT_EQ(told({"get", "key"}), "value");
  EXPECT_THAT(server_->out(), HasSubstr("1 keys recovered"));
  EXPECT_THAT(told({"stop"}), HasSubstr("stops"));
  EXPECT_EQ(server_->wait(), kept) << server_->err();
}

TEST_F(Serve, ends_in_order_however_often_it_is_told_to) {
  for (int i = 0; i < 10; ++i) {
    serve();
    EXPECT_THAT(told({"stop"}), HasSubstr("stops"));
    while (!server_->ended()) {
      server_->signal(SIGTERM);
    }
    // One that comes before all is at rest hurries the server, which then says what may be lost.
    const int status = server_->wait();
    EXPECT_TRUE(status == kept || status == environment) << status << server_->err();
  }
}

TEST_F(Serve, comes_back_after_kill_9_with_what_was_acknowledged) {
  serve();
  EXPECT_EQ(told({"put", "--persistent", "key", "value"}), "persistent\n");
  EXPECT_EQ(told({"put", "other", "thing"}), "visible\n");
  kill_server();
  expect_refusal(ask({"get", "key"}), environment, "no store listens at " + socket());
  serve();  // over the socket that the dead one left
  EXPECT_EQ(told({"get", "key"}), "value");
  EXPECT_EQ(told({"get", "other"}), "thing");
}

TEST_F(Serve, a_pool_and_a_socket_have_one_owner) {
  serve();
  expect_refusal(remora_command({"serve", "--pool", pool(), "--socket", folder_.file("b.sock")}),
                 environment, "a.pool");
  expect_refusal(remora_command({"serve", "--pool", folder_.file("b.pool"), "--socket", socket()}),
                 environment, "a.sock");
  EXPECT_EQ(told({"put", "key", "value"}), "visible\n");
}

TEST_F(Serve, without_an_RDMA_device_says_how_to_make_one) {
  std::error_code none;
  if (std::filesystem::exists("/sys/class/infiniband", none) &&
      !std::filesystem::is_empty("/sys/class/infiniband", none)) {
    GTEST_SKIP() << "this machine has one";
  }
  const Outcome outcome =
      remora_command({"serve", "--pool", "", "--socket", socket(), "--fabric", "verbs"});
  expect_refusal(outcome, environment, "rdma link add rxe0 type rxe netdev");
  expect_refusal(ask({"get", "--fabric", "verbs", "key"}), environment,
                 "rdma link add rxe0 type rxe netdev");
  serve();
  expect_refusal(ask({"get", "--fabric", "verbs", "key"}), environment,
                 "rdma link add rxe0 type rxe netdev");
}

TEST_F(Serve, knows_the_fabrics_that_there_are) {
  expect_refusal(remora_command({"serve", "--pool", "", "--fabric", "copper"}), usage,
                 "choose auto, roce, verbs or verbs:DEVICE");
  expect_refusal(remora_command({"serve", "--pool", pool(), "--fabric", "roce"}), usage,
                 "--listen HOST:PORT");
  EXPECT_FALSE(std::filesystem::exists(pool()));
  serve();
  expect_refusal(ask({"get", "--fabric", "copper", "key"}), usage, "choose roce or verbs[:DEVICE]");
  expect_refusal(ask({"get", "--fabric", "roce", "key"}), usage,
                 "--fabric roce needs --server HOST[:PORT]");
}

TEST_F(Serve, leaves_nothing_behind_where_it_cannot_listen) {
  serve({"--resp", "localhost:0"});
  const std::string said = server_->out();
  const std::size_t at = said.find(" -p ");
  ASSERT_NE(at, std::string::npos) << said;
  const std::string port = said.substr(at + 4, said.find(',', at) - at - 4);
  const std::string other = folder_.file("b.pool");
  expect_refusal(remora_command({"serve", "--pool", other, "--resp", "localhost:" + port}),
                 environment, "Address already in use");
  EXPECT_FALSE(std::filesystem::exists(other));
  const std::string long_path = folder_.file(std::string(200, 's'));
  EXPECT_NE(remora_command({"serve", "--pool", other, "--socket", long_path}).exit_status, kept);
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_F(Serve, says_of_an_engine_that_persists_nothing_that_it_does_not) {
  serve({"--engine", "ca", "--resp", ""});
  EXPECT_THAT(server_->out(), HasSubstr("never persistent by itself"));
  EXPECT_THAT(server_->out(), Not(HasSubstr("moment later")));
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), kept) << server_->err();
  EXPECT_THAT(server_->out(), HasSubstr("stopped: persistent is what was put with --persistent; a "
                                        "power cut may still take the rest"));
}

TEST_F(Serve, refuses_wrong_settings_by_name) {
  const std::pair<const char*, const char*> wrong[] = {{"--size", "64MB"},
                                                       {"--media", "tape"},
                                                       {"--engine", "steam"},
                                                       {"--metrics", "here"},
                                                       {"--clients", "0"}};
  for (const auto& [flag, value] : wrong) {
    expect_refusal(remora_command({"serve", "--pool", pool(), flag, value}), usage,
                   std::string(flag) + ": ");
  }
  write_text(folder_.file("remora.toml"), "pool = \"x\"\n\nclients = \"many\"\n");
  expect_refusal(remora_command({"serve", "--config", folder_.file("remora.toml")}), usage,
                 "remora.toml: line 3: clients: 'many'");
  expect_refusal(remora_command({"serve", "--config", folder_.file("none.toml")}), usage,
                 "none.toml");
}

TEST_F(Serve, flags_win_over_the_file) {
  write_text(folder_.file("remora.toml"),
             "pool = \"elsewhere\"\nengine = \"saw\"\nsize = \"8M\"\n");
  serve({"--config", folder_.file("remora.toml")});
  EXPECT_EQ(told({"stat", "engine"}), "saw\n");
  EXPECT_EQ(told({"stat", "pool"}), pool() + "\n");
  EXPECT_EQ(told({"stat", "pool_bytes"}), std::to_string(4 << 20) + "\n");
}

TEST_F(Serve, memory_is_called_memory) {
  server_ = std::make_unique<RunningProcess>(std::vector<std::string>{
      REMORA_COMMAND, "serve", "--pool", "", "--size", "4M", "--socket", socket()});
  for (int i = 0; i < 6000 && server_->out().find("try ") == std::string::npos; ++i) {
    (void)poll(nullptr, 0, 10);
  }
  EXPECT_THAT(server_->out(), HasSubstr("nothing survives the end of this process"));
  EXPECT_THAT(server_->out(), HasSubstr("what it holds is gone then"));
  EXPECT_EQ(told({"put", "--persistent", "key", "value"}),
            "visible; this store's memory goes with its process\n");
  const std::string explained = told({"explain"});
  EXPECT_THAT(explained, HasSubstr("none: memory that is gone with the server's process"));
  EXPECT_THAT(explained, Not(HasSubstr("put --persistent ")));
  EXPECT_THAT(explained, Not(HasSubstr("survives kill -9")));
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), kept) << server_->err();
  EXPECT_THAT(server_->out(),
              HasSubstr("stopped: the pool was memory, and all that it held is gone\n"));
}

TEST_F(Serve, roles_hold) {
  write_text(folder_.file("remora.toml"), "[access.tokens]\n\"a token for reading\" = \"read\"\n");
  chmod(folder_.file("remora.toml").c_str(), 0600);
  serve({"--config", folder_.file("remora.toml")});
  EXPECT_EQ(told({"put", "key", "value"}), "visible\n");
  EXPECT_EQ(told({"get", "--token", "a token for reading", "key"}), "value");
  EXPECT_EQ(told({"stat", "--token", "a token for reading", "role"}), "read\n");
  expect_refusal(ask({"put", "--token", "a token for reading", "key", "other"}), environment,
                 "read-only client");
  expect_refusal(ask({"stop", "--token", "a token for reading"}), environment, "admin");
  expect_refusal(ask({"get", "--token", "a token of nobody", "key"}), environment, "no such token");
  write_text(folder_.file("token"), "a token for reading\n");
  EXPECT_EQ(told({"get", "--token", "@" + folder_.file("token"), "key"}), "value");
  expect_refusal(ask({"get", "--token", "@" + folder_.file("none"), "key"}), usage,
                 "cannot read a token from");
}

// Other users need a role; they come by the ring, and see the store with the rights they were
// given.
TEST_F(Serve, other_users_get_the_role_of_the_settings) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can be another user";
  }
  const TestFolder open_to_all;  // which the folder of the build need not be
  const std::string door = open_to_all.file("a.sock");
  const auto as_nobody = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--socket", door});
    return remora_command(words, {.folder = "", .unprivileged = true});
  };
  serve({"--socket", door});
  EXPECT_EQ(as_nobody({"get", "key"}).exit_status, environment);
  server_->signal(SIGTERM);
  EXPECT_EQ(server_->wait(), kept);
  write_text(folder_.file("remora.toml"),
             "[access]\nclients_per_user = 1\n[access.users]\n65534 = \"read\"\n");
  serve({"--socket", door, "--config", folder_.file("remora.toml")});
  EXPECT_EQ(remora_command({"put", "--socket", door, "key", "value"}).out, "visible\n");
  EXPECT_EQ(as_nobody({"get", "key"}).out, "value");
  EXPECT_EQ(as_nobody({"stat", "wire"}).out, "ring\n");
  EXPECT_EQ(as_nobody({"stat", "role"}).out, "read\n");
  expect_refusal(as_nobody({"put", "key", "other"}), environment, "read-only client");
  RunningProcess top({REMORA_COMMAND, "top", "--socket", door},
                     {.folder = "", .unprivileged = true});
  for (int i = 0; i < 6000 && top.out().empty() && !top.ended(); ++i) {
    (void)poll(nullptr, 0, 10);
  }
  expect_refusal(as_nobody({"get", "key"}), environment, "reached the limit of connections");
  EXPECT_EQ(remora_command({"get", "--socket", door, "key"}).out, "value");
}

TEST_F(Serve, offers_metrics) {
  // A port that is free now; another program may take it before the server does, hence the tries.
  std::string got;
  for (int port = 29464; port < 29474 && got.empty(); ++port) {
    const std::string address = "127.0.0.1:" + std::to_string(port);
    server_ = std::make_unique<RunningProcess>(std::vector<std::string>{
        REMORA_COMMAND, "serve", "--pool", pool(), "--size", "4M", "--metrics", address});
    for (int i = 0;
         i < 6000 && !server_->ended() && server_->out().find("try ") == std::string::npos; ++i) {
      (void)poll(nullptr, 0, 10);
    }
    if (!server_->ended()) {
      got = run_process({"/bin/bash", "-c",
                         "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port) +
                             "; printf 'GET /metrics HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"})
                .out;
    }
  }
  EXPECT_THAT(got, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(got, HasSubstr("remora_keys 0\n"));
  EXPECT_TRUE(got.ends_with("# EOF\n"));
}

TEST(Demo, shows_kills_cuts_and_a_mistake) {
  const TestFolder folder(REMORA_DISK_FOLDER);
  const Outcome outcome =
      remora_command({"demo", "--kills", "1", "--runs", "5", "--folder", folder.path()});
  EXPECT_EQ(outcome.exit_status, kept) << outcome.out << outcome.err;
  for (const char* part : {"kill 1: ", "every promise kept", "Noticed, with seed ",
                           "Nothing that was acknowledged as persistent was lost"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  EXPECT_TRUE(folder.empty());
}

}  // namespace
}  // namespace remora
