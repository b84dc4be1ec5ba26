// A store that the command serves, for tests that use it by the command: in a folder of its own.
#pragma once

#include <poll.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/support/files.h"

namespace remora {

class ServedStore : public testing::Test {
 protected:
  std::string pool() const { return folder_.file("a.pool"); }
  std::string socket() const { return folder_.file("a.sock"); }

  // Starts `remora serve`, and returns when it lets clients in.
  void serve(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {REMORA_COMMAND, "serve", "--pool", pool(), "--size", "4M"};
    words.insert(words.end(), more.begin(), more.end());
    server_ = std::make_unique<RunningProcess>(words);
    for (int i = 0; i < 6000 && server_->out().find("try ") == std::string::npos; ++i) {
      ASSERT_FALSE(server_->ended()) << server_->err();
      (void)poll(nullptr, 0, 10);
    }
  }
  // A command on that store.
  Outcome ask(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--socket", socket()});
    return remora_command(words);
  }
  std::string told(const std::vector<std::string>& words) {
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
    return outcome.out;
  }
  // A command on that store with something on its standard input.
  Outcome pipe(const std::string& input, const std::string& words) {
    write_text(folder_.file("input"), input);
    return run_process({"/bin/bash", "-c",
                        std::string(REMORA_COMMAND) + " " + words + " --socket " + socket() +
                            " < " + folder_.file("input")});
  }
  // Where the server says that Redis clients come.
  int redis_port() const {
    const std::string said = server_->out();
    const std::string before = "redis-cli -h 127.0.0.1 -p ";
    const std::size_t at = said.find(before);
    EXPECT_NE(at, std::string::npos) << said;
    return at == std::string::npos ? 0 : std::stoi(said.substr(at + before.size()));
  }
  void kill_server() {
    server_->signal(SIGKILL);
    EXPECT_EQ(server_->wait(), 128 + SIGKILL);
  }

  const TestFolder folder_{REMORA_DISK_FOLDER};
  std::unique_ptr<RunningProcess> server_;
};

}  // namespace remora
