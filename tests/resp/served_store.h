// A store in memory with a Redis front end, on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "front/resp/server.h"
#include "server/store_host.h"

namespace remora::resp {

struct ServedOptions {
  RespOptions front = {};
  std::uint64_t pool_bytes = std::uint64_t{64} << 20;
  std::string pool_path = {};  // empty: memory
};

class ServedStore {
 public:
  // The port is one that is free. Aborts the test program when it cannot start.
  explicit ServedStore(ServedOptions options = {});
  ServedStore(const ServedStore&) = delete;
  ServedStore& operator=(const ServedStore&) = delete;
  ~ServedStore();

  std::uint16_t port() const { return port_; }
  // Runs the function on the server's thread, and waits.
  void on_loop(const std::function<void(Server&, kv::StoreServer&)>& function);

 private:
  struct Program;
  struct Functions {
    Server* server = nullptr;
    kv::StoreServer* store = nullptr;
  };

  std::unique_ptr<Program> program_;
  std::unique_ptr<Functions> functions_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace remora::resp
