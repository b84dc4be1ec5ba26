// A redis-server of this test: its own folder, a port of the loopback, and it ends with the test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

namespace remora::resp {

class RedisProcess {
 public:
  // Null when there is no redis-server.
  static std::unique_ptr<RedisProcess> start();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;
  ~RedisProcess();

  std::uint16_t port() const { return port_; }

 private:
  RedisProcess() = default;

  pid_t process_ = 0;
  std::uint16_t port_ = 0;
  std::string folder_;
};

}  // namespace remora::resp
