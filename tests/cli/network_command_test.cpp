// remora serve --listen, and put, get, stat and stop by --server: what a person at another machine
// sees, on loopback here.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/served_store.h"

namespace remora {
namespace {

using testing::HasSubstr;

class NetworkStore : public ServedStore {
 protected:
  void serve_on_network(const std::string& settings) {
    write_text(folder_.file("settings.toml"), settings);
    chmod(folder_.file("settings.toml").c_str(), 0600);
    serve({"--config", folder_.file("settings.toml"), "--listen", "127.0.0.1:0", "--fabric", "roce",
           "--resp", ""});
    // "network      127.0.0.1:PORT, TCP and UDP"
    const std::string said = server_->out();
    const std::size_t at = said.find("127.0.0.1:");
    ASSERT_NE(at, std::string::npos) << said;
    where_ = said.substr(at, said.find(',', at) - at);
  }
  Outcome from_afar(std::vector<std::string> words, const std::string& token) {
    words.insert(words.begin() + 1, {"--server", where_});
    if (!token.empty()) {
      words.insert(words.begin() + 1, {"--token", token});
    }
    return remora_command(words);
  }
  std::string where_;
};

constexpr const char* tokens =
    "[access.tokens]\n\"the token of an admin\" = \"admin\"\n\"the token of a reader\" = "
    "\"read\"\n";

TEST_F(NetworkStore, is_used_with_a_token) {
  serve_on_network(tokens);
  EXPECT_THAT(server_->out(), HasSubstr("not encrypted"));
  const std::string admin = "the token of an admin";
  const std::string reader = "the token of a reader";
  EXPECT_EQ(from_afar({"put", "key", "a value"}, admin).out, "visible\n");
  EXPECT_EQ(from_afar({"put", "--persistent", "key", "another"}, admin).out, "persistent\n");
  EXPECT_EQ(from_afar({"get", "key"}, reader).out, "another");
  EXPECT_THAT(from_afar({"scan"}, reader).out, HasSubstr("key"));
  EXPECT_THAT(from_afar({"stat"}, reader).out, HasSubstr("clients_roce"));
  EXPECT_EQ(from_afar({"put", "key", "no"}, reader).exit_status, environment);
  EXPECT_THAT(from_afar({"explain"}, reader).out, HasSubstr("roce: requests go by UDP"));
  EXPECT_EQ(from_afar({"get", "--fabric", "roce", "key"}, reader).out, "another");
  expect_refusal(from_afar({"get", "key"}, ""), environment, "needs a token");
  expect_refusal(from_afar({"get", "key"}, "some wrong token."), environment, "no such token");
  EXPECT_EQ(from_afar({"stop"}, admin).exit_status, kept);
  EXPECT_EQ(server_->wait(), kept);
}

TEST_F(NetworkStore, is_used_from_its_own_machine_at_the_same_time) {
  serve_on_network(tokens);
  const std::string admin = "the token of an admin";
  EXPECT_EQ(told({"put", "key", "from here"}), "visible\n");
  EXPECT_EQ(from_afar({"get", "key"}, admin).out, "from here");
  EXPECT_EQ(from_afar({"put", "key", "from afar"}, admin).out, "visible\n");
  EXPECT_EQ(told({"get", "key"}), "from afar");
  EXPECT_THAT(told({"explain"}), HasSubstr("mapped"));
  EXPECT_THAT(from_afar({"explain"}, admin).out, HasSubstr("roce: requests go by UDP"));
  EXPECT_EQ(ask({"stop"}).exit_status, kept);
  EXPECT_EQ(server_->wait(), kept);
}

TEST_F(NetworkStore, lets_nobody_in_without_tokens_in_its_settings) {
  serve_on_network("");
  EXPECT_THAT(server_->out(), HasSubstr("for nobody"));
  expect_refusal(from_afar({"get", "key"}, "some wrong token."), environment, "lets nobody in");
}

TEST(NetworkStoreUsage, wrong_places_are_refused_with_what_would_be_right) {
  expect_refusal(remora_command({"get", "--server", "127.0.0.1:1", "--token", "x", "key"}),
                 environment, "no store listens at 127.0.0.1:1");
  expect_refusal(remora_command({"get", "--server", "127.0.0.1:x", "key"}), usage, "no port");
  expect_refusal(remora_command({"serve", "--pool", "", "--listen", "nowhere"}), usage,
                 "not an address to listen at");
  expect_refusal(remora_command({"serve", "--pool", "", "--resp", "", "--insecure", "--listen",
                                 "0.0.0.0:4791"}),
                 usage, "one address of this machine");
}

}  // namespace
}  // namespace remora
