#include "tests/resp/redis_process.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace remora::resp {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  (void)::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
  (void)::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

bool is_answering(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  const bool answers =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return answers;
}

}  // namespace

// Somebody may take a free port before Redis does.
std::unique_ptr<RedisProcess> RedisProcess::start() {
  std::unique_ptr<RedisProcess> redis(new RedisProcess());
  for (int tries = 0; tries < 5; ++tries) {
    if (redis->try_port(free_port())) {
      return redis;
    }
  }
  return nullptr;
}

bool RedisProcess::try_port(std::uint16_t number) {
  port_ = number;
  const std::string port = std::to_string(port_);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execlp("redis-server", "redis-server", "--port", port.c_str(), "--bind", "127.0.0.1", "--dir",
             folder_.path().c_str(), "--save", "", "--databases", "1", "--logfile", "log",
             "--enable-debug-command", "yes", "--proto-max-bulk-len", "16777216", nullptr);
    std::_Exit(127);
  }
  for (int tries = 0; tries < 3000; ++tries) {
    if (::waitpid(process_, nullptr, WNOHANG) != 0) {
      process_ = 0;
      return false;
    }
    if (is_answering(port_)) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = 0;
  return false;
}

RedisProcess::~RedisProcess() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

}  // namespace remora::resp
