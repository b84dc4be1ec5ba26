// The real server where the system grants it few open files.
#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/folder_testing.h"
#include "tests/resp/client.h"
#include "tests/support/process.h"

namespace remora::resp {
namespace {

class OpenFiles : public testing::Test {
 protected:
  // Starts `remora serve` under a shell's limits.
  void serve(const std::string& limits) {
    server_ = std::make_unique<RunningProcess>(std::vector<std::string>{
        "/bin/bash", "-c",
        limits + "; exec " REMORA_COMMAND " serve --size 4M --resp 127.0.0.1:0 --pool " +
            folder_.file("a.pool")});
    for (int i = 0; i < 6000 && server_->out().find("try ") == std::string::npos; ++i) {
      ASSERT_FALSE(server_->ended()) << server_->err();
      (void)poll(nullptr, 0, 10);
    }
    const std::string said = server_->out();
    const std::size_t at = said.find(" -p ");
    ASSERT_NE(at, std::string::npos) << said;
    port_ = static_cast<std::uint16_t>(std::stoi(said.substr(at + 4)));
  }
  // Lets so many clients come, which stay, and returns how many of them were let in.
  std::size_t come(std::size_t count) {
    std::size_t served = 0;
    for (std::size_t i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<Client>(port_));
      clients_.back()->send("PING\r\n");
    }
    for (const std::unique_ptr<Client>& client : clients_) {
      if (!client->is_readable(10'000)) {
        ADD_FAILURE() << "client " << served << " waits for an answer";
        break;
      }
      const std::string reply = client->read();
      served += reply == "+PONG\r\n" ? 1u : 0u;
      if (reply != "+PONG\r\n" && reply != "closed") {
        EXPECT_EQ(reply, "-ERR max number of clients reached\r\n");
      }
    }
    return served;
  }
  Outcome ask(std::vector<std::string> words) {
    words.insert(words.begin(), REMORA_COMMAND);
    words.insert(words.end(), {"--socket", folder_.file("a.sock")});
    return run_process(words);
  }
  // Of the processor, that the server has used.
  std::uint64_t ticks() const {
    std::ifstream file("/proc/" + std::to_string(server_->pid()) + "/stat");
    std::string word;
    std::uint64_t ticks = 0;
    for (int i = 1; i <= 15 && file >> word; ++i) {
      ticks += i >= 14 ? std::stoull(word) : 0;
    }
    return ticks;
  }

  const TestFolder folder_{REMORA_DISK_FOLDER};
  std::unique_ptr<RunningProcess> server_;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(OpenFiles, of_a_soft_limit_are_as_many_as_the_hard_one_has) {
  ASSERT_NO_FATAL_FAILURE(serve("ulimit -Sn 100"));
  EXPECT_EQ(come(260), 260u);
  EXPECT_EQ(ask({"put", "key", "value"}).out, "visible\n");
}

TEST_F(OpenFiles, few_are_shared_with_native_clients) {
  ASSERT_NO_FATAL_FAILURE(serve("ulimit -n 200"));
  const std::size_t served = come(260);
  EXPECT_GE(served, 50u);
  EXPECT_LT(served, 200u);
  const Outcome put = ask({"put", "key", "value"});
  EXPECT_EQ(put.out, "visible\n") << put.err;
  const Outcome get = ask({"get", "key"});
  EXPECT_EQ(get.out, "value") << get.err;
  // It sleeps, with all of them there, when it has done what they left it to do.
  constexpr int looks = 50;
  bool sleeps = false;
  for (int attempts = 0; attempts < 20 && !sleeps; ++attempts) {
    const std::uint64_t before = ticks();
    for (int i = 0; i < looks; ++i) {
      (void)poll(nullptr, 0, 10);
    }
    sleeps = ticks() - before < looks / 4u;
  }
  EXPECT_TRUE(sleeps);
  // And lets others in when some have gone.
  clients_.clear();
  std::size_t again = 0;
  for (int i = 0; again == 0 && i < 1000; ++i) {
    again = come(1);
    clients_.clear();
  }
  EXPECT_EQ(again, 1u);
}

}  // namespace
}  // namespace remora::resp
