#include "base/socket_address.h"

#include <gtest/gtest.h>

namespace remora {
namespace {

TEST(SocketAddress, is_read_and_shown_in_both_kinds) {
  for (const std::string text : {"127.0.0.1:6380", "[::1]:9464", "0.0.0.0:0", "[fe80::1]:65535"}) {
    const Result<SocketAddress> address = SocketAddress::parse(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(SocketAddress::of("::1", 7)->text(), "[::1]:7");
  EXPECT_EQ(SocketAddress::of("10.0.0.9", 7)->host(), "10.0.0.9");
}

TEST(SocketAddress, refuses_what_is_no_address_with_a_port) {
  for (const std::string text :
       {"", "here", "localhost:80", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536",
        "127.0.0.1:8x", "::1:80", "[127.0.0.1]:80", "[::1:80", "[]:80"}) {
    EXPECT_EQ(SocketAddress::parse(text).code(), Code::invalid_argument) << text;
  }
  EXPECT_FALSE(SocketAddress::of("localhost", 1));
}

}  // namespace
}  // namespace remora
