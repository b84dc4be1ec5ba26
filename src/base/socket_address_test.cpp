#include "base/socket_address.h"

#include <gtest/gtest.h>
#include <netdb.h>

#include <cerrno>

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

TEST(SocketAddress, looks_names_up) {
  const Result<SocketAddress> local = SocketAddress::look_up("localhost:6390");
  ASSERT_TRUE(local.ok()) << local.status().message();
  EXPECT_TRUE(local->text() == "127.0.0.1:6390" || local->text() == "[::1]:6390") << local->text();
  EXPECT_EQ(SocketAddress::look_up("127.0.0.1:80").value().text(), "127.0.0.1:80");
  EXPECT_EQ(SocketAddress::look_up("[::1]:80").value().text(), "[::1]:80");
  // Refused before any name server is asked.
  const Result<SocketAddress> nobody = SocketAddress::look_up("nobody..invalid:80");
  EXPECT_EQ(nobody.code(), Code::invalid_argument);
  EXPECT_NE(nobody.status().message().find("no host 'nobody..invalid'"), std::string_view::npos);
}

TEST(SocketAddress, tells_a_host_that_is_not_there_from_one_that_cannot_be_looked_up) {
  for (const int error : {EAI_NONAME, EAI_NODATA, EAI_ADDRFAMILY}) {
    EXPECT_EQ(look_up_failure("here", error).code(), Code::invalid_argument);
  }
  for (const int error : {EAI_AGAIN, EAI_FAIL, EAI_MEMORY}) {
    const Status failure = look_up_failure("here", error);
    EXPECT_EQ(failure.code(), Code::unsupported);
    EXPECT_NE(failure.message().find("cannot look up 'here' now: "), std::string_view::npos);
  }
  errno = EMFILE;
  const Status failure = look_up_failure("here", EAI_SYSTEM);
  EXPECT_EQ(failure.code(), Code::unsupported);
  EXPECT_NE(failure.message().find("Too many open files"), std::string_view::npos);
}

TEST(SocketAddress, tells_names_from_mistakes_without_looking_up) {
  for (const std::string text : {"localhost:80", "a-b.example:0", "127.0.0.1:80", "[::1]:80"}) {
    EXPECT_TRUE(SocketAddress::check_form(text).ok()) << text;
  }
  for (const std::string text :
       {"", "here", "localhost", "localhost:", "localhost:65536", ":80", "127.0.0.1.:80",
        "256.0.0.1:80", "[localhost]:80", "::1:80", "a b:80", "http://here:80"}) {
    EXPECT_EQ(SocketAddress::check_form(text).code(), Code::invalid_argument) << text;
    EXPECT_EQ(SocketAddress::look_up(text).code(), Code::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace remora
