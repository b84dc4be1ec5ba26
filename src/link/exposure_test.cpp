#include "link/exposure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remora::link {
namespace {

using testing::HasSubstr;

class Exposure : public testing::Test {
 protected:
  std::string refusal() const { return std::string(check_exposure(doors_).message()); }
  void add_token() { doors_.has_tokens = true; }
  void add_tls() { doors_.has_tls = true; }

  Doors doors_;
};

TEST_F(Exposure, is_none_within_a_machine) {
  doors_.listen = "127.0.0.1:4791";
  doors_.resp = "[::1]:6380";
  doors_.metrics = "127.8.9.1:9464";
  doors_.http = "127.0.0.1:6381";
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(check_exposure(Doors()).ok());
}

TEST_F(Exposure, of_sessions_needs_tokens) {
  for (const char* place : {"192.0.2.7:4791", "[2001:db8::7]:4791", "0.0.0.0:4791"}) {
    doors_.listen = place;
    doors_.has_tokens = false;
    EXPECT_EQ(check_exposure(doors_).code(), Code::invalid_argument);
    EXPECT_THAT(refusal(), HasSubstr(std::string("listen: other machines reach ") + place));
    EXPECT_THAT(refusal(), HasSubstr("[access.tokens]"));
    add_token();
    EXPECT_EQ(refusal(), "");
  }
}

TEST_F(Exposure, of_redis_needs_tokens_and_tls) {
  doors_.resp = "0.0.0.0:6380";
  EXPECT_THAT(refusal(), HasSubstr("resp: other machines reach 0.0.0.0:6380"));
  add_token();
  EXPECT_THAT(refusal(), HasSubstr("--tls-cert"));
  add_tls();
  EXPECT_EQ(refusal(), "");
  doors_.has_tokens = false;
  EXPECT_THAT(refusal(), HasSubstr("[access.tokens]"));
}

TEST_F(Exposure, of_metrics_is_always_asked_for) {
  doors_.metrics = "[::]:9464";
  add_token();
  add_tls();
  EXPECT_THAT(refusal(), HasSubstr("metrics: other machines reach [::]:9464"));
  doors_.is_insecure = true;
  EXPECT_EQ(refusal(), "");
}

TEST_F(Exposure, of_the_live_page_is_always_asked_for) {
  doors_.http = "192.0.2.7:6381";
  add_token();
  add_tls();
  EXPECT_THAT(refusal(), HasSubstr("http: other machines reach 192.0.2.7:6381"));
  doors_.is_insecure = true;
  EXPECT_EQ(refusal(), "");
}

TEST_F(Exposure, is_a_choice) {
  doors_.listen = doors_.resp = doors_.metrics = "192.0.2.7:1";
  EXPECT_THAT(refusal(), HasSubstr("--insecure"));
  doors_.is_insecure = true;
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace remora::link
