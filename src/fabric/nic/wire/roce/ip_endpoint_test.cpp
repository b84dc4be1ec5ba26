#include "fabric/nic/wire/roce/ip_endpoint.h"

#include <gtest/gtest.h>

namespace remora::fabric::nic::roce {
namespace {

TEST(IpEndpoint, is_written_as_people_do) {
  const IpEndpoint v4{parse_address("192.0.2.7").value(), 4791};
  EXPECT_TRUE(v4.is_v4());
  EXPECT_EQ(to_string(v4), "192.0.2.7:4791");
  const IpEndpoint v6{parse_address("fd00::7").value(), 80};
  EXPECT_FALSE(v6.is_v4());
  EXPECT_EQ(to_string(v6), "[fd00::7]:80");
  EXPECT_EQ(parse_address("::ffff:192.0.2.7").value(), v4.address);
}

TEST(IpEndpoint, refuses_what_is_no_address) {
  for (const char* text : {"", "localhost", "1.2.3", "1.2.3.4.5", "fe80::g", "1.2.3.4:5"}) {
    const Result<Gid> parsed = parse_address(text);
    EXPECT_EQ(parsed.code(), Code::invalid_argument) << text;
  }
}

TEST(IpEndpoint, is_found_by_what_people_write) {
  EXPECT_EQ(to_string(look_up("127.0.0.2").value()), "127.0.0.2:4791");
  EXPECT_EQ(to_string(look_up("127.0.0.2:80").value()), "127.0.0.2:80");
  EXPECT_EQ(to_string(look_up("::1").value()), "[::1]:4791");
  EXPECT_EQ(to_string(look_up("[::1]").value()), "[::1]:4791");
  EXPECT_EQ(to_string(look_up("[::1]:80").value()), "[::1]:80");
  for (const char* text : {"", ":80", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:99999", "[::1]:x"}) {
    EXPECT_EQ(look_up(text).code(), Code::invalid_argument) << text;
  }
}

TEST(IpEndpoint, survives_the_way_through_the_system) {
  for (const char* text : {"127.0.0.1", "fd00::12"}) {
    const IpEndpoint endpoint{parse_address(text).value(), 1234};
    EXPECT_EQ(endpoint_of(socket_address(endpoint).storage), endpoint);
  }
}

TEST(IpEndpoint, knows_any_address) {
  EXPECT_TRUE((IpEndpoint{parse_address("0.0.0.0").value(), 1}).is_any());
  EXPECT_TRUE((IpEndpoint{parse_address("::").value(), 1}).is_any());
  EXPECT_FALSE((IpEndpoint{parse_address("::1").value(), 1}).is_any());
  EXPECT_FALSE((IpEndpoint{parse_address("10.0.0.0").value(), 1}).is_any());
}

}  // namespace
}  // namespace remora::fabric::nic::roce
