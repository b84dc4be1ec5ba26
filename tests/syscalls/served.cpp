#include "tests/syscalls/served.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace remora::syscalls {
namespace {

constexpr int patience_s = 60;

// An address of this process alone: a port that is free there now is so until it is used, whatever
// other tests do.
std::uint32_t own_address() {
  constexpr std::uint32_t loopback_net = 127U << 24;
  return loopback_net | (static_cast<std::uint32_t>(::getpid()) & 0xffffffU) | 1U << 23;
}

sockaddr_in loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(own_address());
  return address;
}

}  // namespace

std::string own_address_text() {
  const in_addr address = {.s_addr = htonl(own_address())};
  char text[INET_ADDRSTRLEN] = {};
  return ::inet_ntop(AF_INET, &address, text, sizeof text);
}

int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  const bool is_bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  return is_bound ? ntohs(address.sin_port) : 0;
}

RedisClient::RedisClient(int port, int patience_ms)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in address = loopback(port);
  const timeval patience = {.tv_sec = patience_ms / 1000, .tv_usec = patience_ms % 1000 * 1000};
  if (::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

RedisClient::~RedisClient() {
  if (socket_ >= 0) {
    ::close(socket_);
  }
}

std::string RedisClient::ask(const std::string& line) {
  const std::string sent = line + "\r\n";
  if (::send(socket_, sent.data(), sent.size(), MSG_NOSIGNAL) < 0) {
    return "";
  }
  std::string reply;
  char letter = 0;
  while (!reply.ends_with("\r\n")) {
    const ssize_t count = ::recv(socket_, &letter, 1, 0);
    if (count < 0) {
      return errno == EAGAIN ? "silence" : "";
    }
    if (count == 0) {
      return "";
    }
    reply += letter;
  }
  return reply.substr(0, reply.size() - 2);
}

Served::Served(const TestFolder& folder, const std::string& fail, std::vector<std::string> more,
               bool from_start)
    : begin_(folder.file("begin")),
      told_(folder.file("told")),
      port_(free_port()),
      metrics_port_(free_port()),
      socket_(folder.file("a.sock")) {
  std::vector<std::string> words = {"/usr/bin/env"};
  if (!fail.empty()) {
    words.insert(words.end(), {"LD_PRELOAD=" REMORA_SYSCALL_SHIM, "REMORA_FAIL=" + fail,
                               "REMORA_FAIL_TOLD=" + told_});
    if (!from_start) {
      words.push_back("REMORA_FAIL_FROM=" + begin_);
    }
  }
  words.insert(words.end(),
               {REMORA_COMMAND, "serve", "--pool", folder.file("a.pool"), "--size", "4M", "--resp",
                own_address_text() + ":" + std::to_string(port_), "--metrics",
                own_address_text() + ":" + std::to_string(metrics_port_)});
  words.insert(words.end(), more.begin(), more.end());
  process_ = std::make_unique<RunningProcess>(words);
}

bool Served::has_failed_a_call() const {
  return std::filesystem::exists(told_);
}

void Served::begin_to_fail() {
  std::ofstream(begin_).put('x');
}

bool Served::wait_until_it_serves() {
  for (int i = 0; i < patience_s * 200; ++i) {
    if (process_->ended()) {
      return false;
    }
    if (RedisClient(port_).connected()) {
      return true;
    }
    (void)::poll(nullptr, 0, 5);
  }
  return false;
}

bool Served::ended_within(int seconds) {
  for (int i = 0; i < seconds * 200 && !process_->ended(); ++i) {
    (void)::poll(nullptr, 0, 5);
  }
  return process_->ended();
}

int Served::stop() {
  process_->signal(SIGTERM);
  return ended_within(patience_s) ? process_->wait() : -1;
}

long Served::cpu_ms() const {
  std::ifstream file("/proc/" + std::to_string(process_->pid()) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 2, text.size())));
  std::vector<std::string> words{std::istream_iterator<std::string>(rest), {}};
  constexpr std::size_t user = 11;  // behind the name, which ends with the bracket
  if (words.size() <= user + 1) {
    return 0;
  }
  return (std::stol(words[user]) + std::stol(words[user + 1])) * 1000 / ::sysconf(_SC_CLK_TCK);
}

}  // namespace remora::syscalls
