#include "fabric/nic/wire/roce/path_mtu.h"

#include <gtest/gtest.h>

#include "fabric/nic/wire/roce/control_stream.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"

namespace remora::fabric::nic::roce {
namespace {

TEST(PathMtu, is_the_largest_that_the_interface_carries) {
  EXPECT_EQ(roce_mtu(65'536), 4096u);
  EXPECT_EQ(roce_mtu(9000), 4096u);
  EXPECT_EQ(roce_mtu(4200), 2048u);
  EXPECT_EQ(roce_mtu(1500), 1024u);
  EXPECT_EQ(roce_mtu(576), 256u);
  EXPECT_EQ(roce_mtu(300), 0u);
}

TEST(PathMtu, is_that_of_the_interface_with_the_address) {
  EXPECT_EQ(interface_mtu_of(parse_address("127.0.0.1").value()).value(), 4096u);
  EXPECT_EQ(interface_mtu_of(parse_address("127.9.8.7").value()).value(), 4096u);
  EXPECT_EQ(interface_mtu_of(parse_address("192.0.2.7").value()).code(), Code::not_found);
}

TEST(PathMtu, is_the_smaller_of_what_two_sides_can_carry) {
  EXPECT_EQ(agreed_mtu(4096, 1024).value(), 1024u);
  EXPECT_EQ(agreed_mtu(1024, 4096).value(), 1024u);
  EXPECT_EQ(agreed_mtu(256, 256).value(), 256u);
}

TEST(PathMtu, is_none_that_the_standard_does_not_know) {
  for (const std::uint32_t bytes : {0u, 1u, 128u, 255u, 257u, 1500u, 8192u, 1u << 31, ~0u}) {
    EXPECT_FALSE(is_roce_mtu(bytes)) << bytes;
    EXPECT_EQ(agreed_mtu(1024, bytes).code(), Code::invalid_argument) << bytes;
  }
}

TEST(PathMtu, is_asked_of_connected_sockets_of_both_families) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    const IpEndpoint at{parse_address(address).value(), 0};
    const Descriptor listener(socket(at.is_v4() ? AF_INET : AF_INET6, SOCK_STREAM, 0));
    const SocketAddress name = socket_address(at);
    if (bind(listener.number(), name.plain(), name.size_bytes) != 0) {
      continue;  // a machine without IPv6
    }
    ASSERT_EQ(listen(listener.number(), 1), 0);
    EXPECT_EQ(path_mtu_of(listener.number()).value(), 4096u) << "it has no way to anybody";
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ASSERT_EQ(getsockname(listener.number(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
    const Result<ControlStream> stream = connect_stream(endpoint_of(bound));
    ASSERT_TRUE(stream.ok());
    EXPECT_EQ(path_mtu_of(stream->descriptor()).value(), 4096u);
  }
}

}  // namespace
}  // namespace remora::fabric::nic::roce
