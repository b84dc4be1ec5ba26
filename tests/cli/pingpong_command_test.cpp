// remora nic pingpong: two of them against each other on loopback, and what they say on the way.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cli/cli_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

// Addresses and a port that no other test run at the same time has.
std::string loopback(int last) {
  return "127." + std::to_string(getpid() % 200 + 10) + "." + std::to_string(getpid() / 200 % 250) +
         "." + std::to_string(last);
}

std::string free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  close(socket);
  return std::to_string(ntohs(address.sin_port));
}

int connected_to(const std::string& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int tries = 0; tries < 1000; ++tries) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      return socket;
    }
    close(socket);
    usleep(10'000);
  }
  return -1;
}

// The client tries until the server listens.
Outcome client_of(const std::vector<std::string>& arguments) {
  Outcome outcome;
  for (int tries = 0; tries < 200; ++tries) {
    outcome = remora_command(arguments);
    if (outcome.exit_status == kept || outcome.err.find("cannot reach") == std::string::npos) {
      break;
    }
    usleep(50'000);
  }
  return outcome;
}

TEST(NicPingpong, two_of_them_play) {
  for (const char* mtu : {"1024", "256", "4096"}) {
    const std::string port = free_port();
    RunningProcess server({REMORA_COMMAND, "nic", "pingpong", "--gid-addr", loopback(1), "--port",
                           port, "--iters", "200", "--size", "9000", "--mtu", mtu, "--json"});
    const Outcome client =
        client_of({"nic", "pingpong", "127.0.0.1", "--gid-addr", loopback(2), "--port", port,
                   "--iters", "200", "--size", "9000", "--mtu", mtu, "--json"});
    ASSERT_EQ(client.exit_status, kept) << client.err;
    const nlohmann::json json = json_of(client);
    EXPECT_EQ(json.at("own_gid"), loopback(2));
    EXPECT_EQ(json.at("peer_gid"), loopback(1));
    EXPECT_EQ(json.at("bytes"), 2 * 200 * 9000);
    EXPECT_GT(json.at("mbit_per_s"), 0);
    EXPECT_EQ(server.wait(), kept) << server.err();
    EXPECT_THAT(server.out(), HasSubstr("\"iterations\""));
  }
}

// Byte by byte what ibv_rc_pingpong says and expects.
TEST(NicPingpong, the_server_speaks_as_ibv_rc_pingpong_does) {
  const std::string port = free_port();
  RunningProcess server({REMORA_COMMAND, "nic", "pingpong", "--gid-addr", loopback(3), "--port",
                         port, "--iters", "1"});
  const int socket = connected_to(port);
  ASSERT_GE(socket, 0);
  const char hello[] = "0000:000123:0a0b0c:00000000000000000000ffff7f000009";
  ASSERT_EQ(send(socket, hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  char answer[sizeof hello] = {};
  ASSERT_EQ(recv(socket, answer, sizeof answer, MSG_WAITALL), static_cast<ssize_t>(sizeof answer));
  EXPECT_EQ(answer[sizeof answer - 1], '\0');
  EXPECT_THAT(answer, testing::MatchesRegex("0000:[0-9a-f]{6}:[0-9a-f]{6}:[0-9a-f]{32}"));
  EXPECT_THAT(answer, HasSubstr("00000000000000000000ffff7f"));
  close(socket);  // without the last word
  EXPECT_EQ(server.wait(), environment);
  EXPECT_THAT(server.err(), HasSubstr("hung up"));
}

TEST(NicPingpong, nonsense_is_refused) {
  const std::string port = free_port();
  RunningProcess server(
      {REMORA_COMMAND, "nic", "pingpong", "--gid-addr", loopback(4), "--port", port});
  const int socket = connected_to(port);
  ASSERT_GE(socket, 0);
  const std::string noise(52, 'x');
  ASSERT_EQ(send(socket, noise.data(), noise.size(), 0), 52);
  EXPECT_EQ(server.wait(), usage);
  EXPECT_THAT(server.err(), HasSubstr("does not speak as ibv_rc_pingpong"));
  close(socket);
}

TEST(NicPingpong, wrong_choices_are_refused_with_what_would_be_right) {
  expect_refusal(remora_command({"nic", "pingpong", "--mtu", "1000"}), usage, "256, 512, 1024");
  expect_refusal(remora_command({"nic", "pingpong", "--gid-addr", "here"}), usage,
                 "not an IP address");
  expect_refusal(remora_command({"nic", "pingpong", "--gid-addr", "192.0.2.9"}), usage,
                 "no network interface");
  expect_refusal(remora_command({"nic", "pingpong", "--iters", "0"}), usage, "whole number from 1");
}

}  // namespace
}  // namespace remora
