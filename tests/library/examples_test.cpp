// The examples do what they show, and the library that is installed is one that a stranger can
// build against. The paths come from the build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <remora/store.h>
#include <signal.h>

#include <filesystem>
#include <optional>

#include "tests/support/files.h"
#include "tests/support/process.h"

namespace remora {
namespace {

using testing::HasSubstr;
using testing::Not;

class ExamplesTest : public testing::Test {
 protected:
  Outcome example(const std::string& name, const std::string& argument) {
    return run_process({std::string(REMORA_EXAMPLES) + "/example_" + name, argument});
  }
  void expect_says(const Outcome& outcome, const std::string& text) {
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
  RunningProcess serve(const std::string& size = "64M", const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        REMORA_COMMAND, "serve", "--pool", folder_.file("example.pool"), "--size", size};
    words.insert(words.end(), more.begin(), more.end());
    RunningProcess server(words);
    for (int i = 0; i < 6000 && server.out().find("try ") == std::string::npos; ++i) {
      (void)poll(nullptr, 0, 10);
    }
    return server;
  }
  // In the folder; it must succeed.
  Outcome shell(const std::string& command) {
    const Outcome outcome =
        run_process({"/bin/bash", "-e", "-c", command}, {folder_.path(), false});
    EXPECT_EQ(outcome.exit_status, 0) << command << "\n" << outcome.out << outcome.err;
    return outcome;
  }
  const TestFolder folder_{REMORA_DISK_FOLDER};
};

TEST_F(ExamplesTest, embedded_remembers_between_runs) {
  expect_says(example("01_embedded", folder_.path()), "has run 1 times");
  expect_says(example("01_embedded", folder_.path()), "has run 2 times");
}

// Not an example, but what every program that stays connected meets.
TEST_F(ExamplesTest, a_connected_store_outlives_its_server) {
  std::optional<RunningProcess> server(serve());
  Store store = Store::connect(folder_.file("example.sock")).value();
  EXPECT_TRUE(store.put("key", "value").ok());
  server->signal(SIGKILL);
  server->wait();
  // What this process reads by itself it may read until it has heard.
  bool has_heard = false;
  for (int looks = 0; looks < 200 && !has_heard; ++looks) {
    (void)poll(nullptr, 0, 100);
    has_heard = store.get("key").is(ErrorCode::closed);
  }
  EXPECT_TRUE(has_heard);
  EXPECT_TRUE(store.wait(store.get_async("key")).is(ErrorCode::closed));
  server.reset();
  server.emplace(serve());
  EXPECT_TRUE(store.reconnect().ok());
  EXPECT_EQ(store.get("key").value(), "value");
  EXPECT_EQ(store.role(), "admin");
}

// Cleaning waits for each client to follow it, and does without those that stand still.
TEST_F(ExamplesTest, an_idle_store_does_not_notice_that_others_had_the_log_cleaned) {
  const RunningProcess server = serve("4M");
  Store idle = Store::connect(folder_.file("example.sock")).value();
  Store busy = Store::connect(folder_.file("example.sock")).value();
  EXPECT_TRUE(idle.put("key", "value").ok());
  const std::string value(10'000, 'v');
  for (int i = 0; i < 2000; ++i) {
    Expected<void> put = busy.put("other", value);
    for (int attempts = 0; attempts < 10 && put.is(ErrorCode::timed_out); ++attempts) {
      put = busy.put("other", value);  // the machine stood still, or its disk
    }
    ASSERT_TRUE(put.ok()) << i << ": " << put.error().message;
  }
  EXPECT_EQ(idle.get("key").value(), "value");
  EXPECT_TRUE(idle.put("key", "another").ok());
  EXPECT_EQ(busy.get("key").value(), "another");
}

TEST_F(ExamplesTest, connect_uses_a_store_that_is_served) {
  const std::string socket = folder_.file("example.sock");
  const Outcome nobody = example("02_connect", socket);
  EXPECT_EQ(nobody.exit_status, 1);
  EXPECT_NE(nobody.err, "");
  RunningProcess server = serve();
  expect_says(example("02_connect", socket),
              "from another process\n1 keys, by the wire mapped, with the role admin");
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(ExamplesTest, network_reaches_a_store_that_listens) {
  const std::string settings = folder_.file("settings.toml");
  write_text(settings, "[access.tokens]\n\"a token of some length\" = \"write\"\n");
  write_text(folder_.file("token"), "a token of some length\n");
  std::filesystem::permissions(settings, std::filesystem::perms::owner_read);
  RunningProcess server =
      serve("64M", {"--config", settings, "--listen", "127.0.0.1:0", "--resp", ""});
  const std::string said = server.out();
  const std::size_t at = said.find("127.0.0.1:");  // "network      127.0.0.1:PORT, TCP and UDP"
  ASSERT_NE(at, said.npos) << said << server.err();
  const std::string where = said.substr(at, said.find(',', at) - at);
  const Outcome outcome =
      run_process({REMORA_EXAMPLES "/example_06_network", where, folder_.file("token")});
  expect_says(outcome, "from another machine: ");
  expect_says(outcome, "by the wire roce, with the role write, engine efactory");
  // With no token it is nobody's.
  const Expected<Store> stranger = Store::connect(where);
  EXPECT_TRUE(stranger.is(ErrorCode::permission_denied)) << stranger.error().message;
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.err();
}

TEST_F(ExamplesTest, a_place_where_nobody_listens_is_said_to_be_one) {
  const Expected<Store> nobody = Store::connect("127.0.0.1:1", {.token = "a token"});
  ASSERT_TRUE(nobody.is(ErrorCode::not_found)) << nobody.error().message;
  EXPECT_THAT(nobody.error().message, HasSubstr("no store listens at 127.0.0.1:1"));
  const Expected<Store> astray = Store::connect(folder_.file("no.sock"), {.fabric = "roce"});
  EXPECT_TRUE(astray.is(ErrorCode::invalid_argument));
}

TEST_F(ExamplesTest, a_connected_store_makes_room_for_larger_values) {
  const RunningProcess server = serve();
  Store store = Store::connect(folder_.file("example.sock"), {.largest_value_bytes = 4096}).value();
  const std::string large(3 << 20, 'v');
  EXPECT_FALSE(store.put("large", large).ok());
  EXPECT_TRUE(store.make_room(large.size()).ok());
  EXPECT_TRUE(store.put("large", large).ok());
  EXPECT_EQ(store.get("large").value(), large);
  const Facts facts = store.facts().value();
  EXPECT_EQ(find_fact(facts, "keys"), "1");
  EXPECT_TRUE(store.make_room(std::size_t{17} << 20).is(ErrorCode::invalid_argument));
}

TEST_F(ExamplesTest, batches_add_up) {
  expect_says(example("03_batches", folder_.path()), "144 + 900 = 1044");
}

TEST_F(ExamplesTest, flows_transfer) {
  expect_says(example("04_flows", folder_.path()), "4 transfers; account 7 has 160");
}

TEST_F(ExamplesTest, durability_tells_what_holds) {
  expect_says(example("05_durability", folder_.path()), "order/2: not_found");
}

// A project of its own that finds the installed package, and one line of a compiler with
// pkg-config.
TEST_F(ExamplesTest, the_installed_library_can_be_built_against) {
  const std::string prefix = folder_.file("prefix");
  shell("cmake --install " REMORA_BUILD_FOLDER " --prefix " + prefix);
  write_text(folder_.file("CMakeLists.txt"),
             "cmake_minimum_required(VERSION 3.24)\n"
             "project(stranger CXX)\n"
             "find_package(Remora 0.1 REQUIRED)\n"
             "add_executable(stranger " REMORA_SOURCE_ROOT
             "/examples/01_embedded.cpp)\n"
             "target_link_libraries(stranger PRIVATE Remora::remora)\n");
  shell("cmake -S . -B b -G Ninja -DCMAKE_PREFIX_PATH=" + prefix + " && cmake --build b");
  EXPECT_THAT(shell("b/stranger .").out, HasSubstr("has run 1 times"));
  shell("export PKG_CONFIG_PATH=$(dirname $(find " + prefix +
        " -name remora.pc)); "
        "c++ -std=c++20 " REMORA_SOURCE_ROOT
        "/examples/01_embedded.cpp $(pkg-config --cflags --libs remora) -o by_hand");
  EXPECT_THAT(shell("./by_hand .").out, HasSubstr("has run 2 times"));
  EXPECT_THAT(shell(prefix + "/bin/remora --version").out, HasSubstr("0.1.0"));
}

TEST_F(ExamplesTest, settings_and_a_unit_for_systemd_are_installed) {
  const std::string prefix = folder_.file("prefix");
  shell("cmake --install " REMORA_BUILD_FOLDER " --prefix " + prefix);
  EXPECT_TRUE(std::filesystem::exists(prefix + "/share/remora/remora.toml"));
  const std::string unit = prefix + "/lib/systemd/system/remora.service";
  EXPECT_THAT(shell("cat " + unit).out,
              HasSubstr("ExecStart=" + prefix + "/bin/remora serve --config"));
  if (shell("command -v systemd-analyze || true").out.empty()) {
    GTEST_SKIP() << "there is no systemd-analyze here: nobody has verified the unit";
  }
  EXPECT_THAT(shell("systemd-analyze verify " + unit).err, Not(HasSubstr("remora.service:")))
      << "a line that systemd ignores";
}

}  // namespace
}  // namespace remora
