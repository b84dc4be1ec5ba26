// A server of the real command under the shim, with one Redis and one native client, for the tests
// of this folder.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/folder_testing.h"
#include "tests/support/process.h"

namespace remora::syscalls {

// An address of this process alone on this machine, and a port that is free there now.
std::string own_address_text();
int free_port();

// One connection that blocks, with patience.
class RedisClient {
 public:
  // Not connected where nobody listens.
  explicit RedisClient(int port, int patience_ms = 60'000);
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;
  ~RedisClient();

  bool connected() const { return socket_ >= 0; }
  // The first line of the reply; empty when the connection ended, "silence" when nothing came.
  std::string ask(const std::string& line);

 private:
  int socket_ = -1;
};

class Served {
 public:
  // `fail` as the shim reads it; empty: nothing fails. Calls count from begin_to_fail on, or from
  // the beginning.
  Served(const TestFolder& folder, const std::string& fail, std::vector<std::string> more = {},
         bool from_start = false);

  // Whether a call has failed.
  bool has_failed_a_call() const;
  // Calls count from here on, where the shim was told to fail some.
  void begin_to_fail();
  // Whether it lets clients in; false when it has ended instead.
  bool wait_until_it_serves();
  // Its exit status after SIGTERM, or why it did not end.
  int stop();
  // Whether it has ended within that time.
  bool ended_within(int seconds);
  // CPU time that it has used, in milliseconds.
  long cpu_ms() const;

  RunningProcess& process() { return *process_; }
  int redis_port() const { return port_; }
  int metrics_port() const { return metrics_port_; }
  const std::string& socket() const { return socket_; }

 private:
  std::string begin_;
  std::string told_;
  int port_ = 0;
  int metrics_port_ = 0;
  std::string socket_;
  std::unique_ptr<RunningProcess> process_;
};

}  // namespace remora::syscalls
