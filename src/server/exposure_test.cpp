#include "server/exposure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remora::server {
namespace {

using testing::HasSubstr;

class Exposure : public testing::Test {
 protected:
  std::string refusal() const { return std::string(check_exposure(settings_).message()); }
  void add_token() { settings_.access.tokens = {{"a token of some length", Role::read}}; }
  void add_tls() { settings_.tls_cert = settings_.tls_key = "some.pem"; }

  Settings settings_;
};

TEST_F(Exposure, is_none_within_a_machine) {
  settings_.listen = "127.0.0.1:4791";
  settings_.resp = "[::1]:6380";
  settings_.metrics = "127.8.9.1:9464";
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(check_exposure(Settings()).ok());
}

TEST_F(Exposure, of_sessions_needs_tokens) {
  for (const char* place : {"192.0.2.7:4791", "[2001:db8::7]:4791", "0.0.0.0:4791"}) {
    settings_.listen = place;
    settings_.access.tokens.clear();
    EXPECT_EQ(check_exposure(settings_).code(), Code::invalid_argument);
    EXPECT_THAT(refusal(), HasSubstr(std::string("listen: other machines reach ") + place));
    EXPECT_THAT(refusal(), HasSubstr("[access.tokens]"));
    add_token();
    EXPECT_EQ(refusal(), "");
  }
}

TEST_F(Exposure, of_redis_needs_tokens_and_tls) {
  settings_.resp = "0.0.0.0:6380";
  EXPECT_THAT(refusal(), HasSubstr("resp: other machines reach 0.0.0.0:6380"));
  add_token();
  EXPECT_THAT(refusal(), HasSubstr("--tls-cert"));
  add_tls();
  EXPECT_EQ(refusal(), "");
  settings_.access.tokens.clear();
  EXPECT_THAT(refusal(), HasSubstr("[access.tokens]"));
}

TEST_F(Exposure, of_metrics_is_always_asked_for) {
  settings_.metrics = "[::]:9464";
  add_token();
  add_tls();
  EXPECT_THAT(refusal(), HasSubstr("metrics: other machines reach [::]:9464"));
  settings_.insecure = true;
  EXPECT_EQ(refusal(), "");
}

TEST_F(Exposure, is_a_choice) {
  settings_.listen = settings_.resp = settings_.metrics = "192.0.2.7:1";
  EXPECT_THAT(refusal(), HasSubstr("--insecure"));
  settings_.insecure = true;
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace remora::server
