// A redis-server of this test: its own folder, a port of the loopback, and it ends with the test.
// Its values are as long as ours, and DEBUG is allowed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "base/folder_testing.h"

namespace remora::resp {

class RedisProcess {
 public:
  // Null when there is no redis-server, or it does not come up at any of some ports.
  static std::unique_ptr<RedisProcess> start();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;
  ~RedisProcess();

  std::uint16_t port() const { return port_; }

 private:
  RedisProcess() = default;
  bool try_port(std::uint16_t port);

  pid_t process_ = 0;
  std::uint16_t port_ = 0;
  TestFolder folder_;
};

}  // namespace remora::resp
