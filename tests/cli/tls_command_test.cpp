// remora serve --tls-cert, as redis-cli and the command itself reach it; what is read again on
// SIGHUP, and what other machines may not reach by mistake.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/cli/served_store.h"
#include "tls/tls_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;
using testing::Not;

class TlsStore : public ServedStore {
 protected:
  void write_settings(const std::string& lines) {
    write_text(folder_.file("settings.toml"), "[access.tokens]\n" + lines);
    chmod(folder_.file("settings.toml").c_str(), 0600);
  }
  void serve_by_tls() {
    write_settings("\"the token of an admin\" = \"admin\"\n");
    serve({"--config", folder_.file("settings.toml"), "--listen", "127.0.0.1:0", "--resp",
           "127.0.0.1:0", "--tls-cert", files_.certificate, "--tls-key", files_.key});
    where_ = said_behind("network      ", ",");
    redis_port_ = said_behind(" -p ", " ");
  }
  std::string said_behind(const std::string& mark, const std::string& end) const {
    const std::string said = server_->out();
    const std::size_t at = said.find(mark);
    EXPECT_NE(at, std::string::npos) << said;
    return said.substr(at + mark.size(), said.find(end, at + mark.size()) - at - mark.size());
  }
  Outcome from_afar(std::vector<std::string> words, const std::string& authority,
                    const std::string& token = "the token of an admin") {
    write_text(folder_.file("token"), token + "\n");
    words.insert(words.begin() + 1, {"--server", where_, "--token", "@" + folder_.file("token")});
    if (!authority.empty()) {
      words.insert(words.begin() + 1, {"--tls-ca", authority});
    }
    return remora_command(words);
  }
  Outcome redis(const std::string& authority, const std::string& command) {
    return run_process(
        {"/usr/bin/redis-cli", "-p", redis_port_, "--tls", "--cacert", authority, command});
  }
  // Sends SIGHUP, and waits until the server has said so often that it has done what that asks for.
  void reread(std::size_t times) {
    server_->signal(SIGHUP);
    const auto count = [this] {
      const std::string said = server_->err();
      std::size_t lines = 0;
      for (std::size_t at = said.find("certificates"); at != said.npos;
           at = said.find("certificates", at + 1)) {
        ++lines;
      }
      return lines;
    };
    for (int i = 0; i < 6000 && count() < times; ++i) {
      ASSERT_FALSE(server_->ended()) << server_->err();
      (void)poll(nullptr, 0, 10);
    }
    EXPECT_GE(count(), times);
  }

  const TestCertificates files_ = make_certificates(folder_.file("tls-"));
  std::string where_;
  std::string redis_port_;
};

TEST_F(TlsStore, is_reached_by_who_knows_its_authority_alone) {
  serve_by_tls();
  EXPECT_THAT(server_->out(), HasSubstr("sessions by TLS; values (UDP) are not encrypted"));
  EXPECT_THAT(server_->out(), HasSubstr("can read and forge them"));
  EXPECT_EQ(from_afar({"put", "key", "a value"}, files_.authority).out, "visible\n");
  EXPECT_EQ(from_afar({"get", "key"}, files_.authority).out, "a value");
  EXPECT_THAT(from_afar({"explain"}, files_.authority).out,
              testing::AllOf(HasSubstr("by TLS"), HasSubstr("not encrypted"), HasSubstr("forge")));
  const TestCertificates others = make_certificates(folder_.file("others-"));
  expect_refusal(from_afar({"get", "key"}, others.authority), environment, "not believed");
  expect_refusal(from_afar({"get", "key"}, ""), environment, "--tls-ca");
  expect_refusal(from_afar({"get", "key"}, folder_.file("none.pem")), usage, "none.pem");
  expect_refusal(ask({"get", "--tls-ca", files_.authority, "key"}), usage,
                 "--tls-ca needs --server");
  EXPECT_EQ(told({"get", "key"}), "a value");
}

TEST_F(TlsStore, is_reached_by_redis_cli) {
  if (!std::filesystem::exists("/usr/bin/redis-cli")) {
    GTEST_SKIP() << "there is no redis-cli here";
  }
  serve_by_tls();
  EXPECT_THAT(server_->out(), HasSubstr(" --tls, for "));
  const Outcome answered = redis(files_.authority, "PING");
  EXPECT_EQ(answered.out, "PONG\n") << answered.err;
  const TestCertificates others = make_certificates(folder_.file("others-"));
  EXPECT_THAT(redis(others.authority, "PING").out, Not(HasSubstr("PONG")));
  const Outcome clear = run_process({"/usr/bin/redis-cli", "-p", redis_port_, "PING"});
  EXPECT_THAT(clear.out + clear.err, HasSubstr("this port speaks TLS alone"));
}

TEST_F(TlsStore, reads_tokens_and_certificates_again) {
  serve_by_tls();
  const std::string other = "the token of a reader";
  expect_refusal(from_afar({"get", "key"}, files_.authority, other), environment, "no such token");
  write_settings("\"the token of a reader\" = \"read\"\n");
  const TestCertificates changed = make_certificates(folder_.file("tls-"));
  reread(1);
  EXPECT_THAT(server_->err(), HasSubstr("the rules of [access] read again"));
  EXPECT_EQ(from_afar({"get", "key"}, changed.authority, other).exit_status, 1);
  expect_refusal(from_afar({"get", "key"}, changed.authority), environment, "no such token");
  // What is broken stays as it was.
  write_settings("\"short\" = \"read\"\n");
  write_text(changed.certificate, "broken");
  reread(2);
  EXPECT_THAT(server_->err(), HasSubstr("the rules of [access] stay as they were: "));
  EXPECT_THAT(server_->err(), HasSubstr("the certificates stay as they were: "));
  EXPECT_EQ(from_afar({"get", "key"}, changed.authority, other).exit_status, 1);
}

TEST_F(TlsStore, ends_by_a_hangup_where_there_is_nothing_to_read) {
  serve({"--resp", ""});
  server_->signal(SIGHUP);
  EXPECT_EQ(server_->wait(), kept) << server_->err();
}

TEST_F(TlsStore, needs_both_files_and_a_key_of_its_own) {
  const std::vector<std::string> begin = {"serve", "--pool", pool(), "--resp", ""};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = begin;
    words.insert(words.end(), more.begin(), more.end());
    return remora_command(words);
  };
  expect_refusal(with({"--tls-cert", files_.certificate}), usage, "--tls-cert FILE --tls-key FILE");
  expect_refusal(with({"--tls-cert", files_.certificate, "--tls-key", folder_.file("none")}), usage,
                 "none");
  chmod(files_.key.c_str(), 0644);
  expect_refusal(with({"--tls-cert", files_.certificate, "--tls-key", files_.key}), environment,
                 "chmod o= ");
  EXPECT_FALSE(std::filesystem::exists(pool()));
}

TEST_F(TlsStore, is_not_shown_to_other_machines_by_mistake) {
  const std::pair<const char*, const char*> doors[] = {
      {"--listen", "[access.tokens]"}, {"--resp", "--tls-cert"}, {"--metrics", "proxy"}};
  for (const auto& [flag, remedy] : doors) {
    const Outcome outcome = remora_command({"serve", "--pool", pool(), flag, "192.0.2.7:4791"});
    expect_refusal(outcome, usage, "--insecure");
    EXPECT_THAT(outcome.err, HasSubstr(remedy));
    EXPECT_FALSE(std::filesystem::exists(pool()));
    // Nobody has that address: it is tried.
    EXPECT_THAT(
        remora_command({"serve", "--pool", pool(), "--insecure", flag, "192.0.2.7:4791"}).err,
        Not(HasSubstr("--insecure")));
  }
}

}  // namespace
}  // namespace remora
