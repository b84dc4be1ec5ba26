#include "tests/resp/served_store.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <string>

#include "base/folder_testing.h"
#include "runtime/poll_loop.h"

namespace remora::resp {

struct ServedStore::Program {
  PollLoop loop;
  std::atomic<bool> ending = false;
  const TestFolder folder;
};

ServedStore::ServedStore(ServedOptions options) : program_(std::make_unique<Program>()) {
  std::promise<std::uint16_t> port;
  functions_ = std::make_unique<Functions>();
  thread_ = std::thread([this, options, &port] {
    server::StoreHostOptions host_options;
    host_options.socket_path = program_->folder.file("socket");
    host_options.pool_bytes = options.pool_bytes;
    host_options.pool_path = options.pool_path;
    Result<std::unique_ptr<server::StoreHost>> host =
        server::StoreHost::open(program_->loop, host_options);
    if (!host.ok()) {
      std::fprintf(stderr, "%s\n", std::string(host.status().message()).c_str());
      std::abort();
    }
    RespOptions front = options.front;
    front.port = 0;
    Result<std::unique_ptr<Server>> server =
        Server::open(program_->loop, *(*host)->store().local(), front);
    if (!server.ok()) {
      std::fprintf(stderr, "%s\n", std::string(server.status().message()).c_str());
      std::abort();
    }
    functions_->server = server->get();
    functions_->store = &(*host)->store();
    port.set_value((*server)->port());
    while (!program_->ending) {
      (void)program_->loop.turn();
    }
  });
  port_ = port.get_future().get();
}

ServedStore::~ServedStore() {
  program_->ending = true;
  program_->loop.wake();
  thread_.join();
}

void ServedStore::on_loop(const std::function<void(Server&, kv::StoreServer&)>& function) {
  std::promise<void> done;
  const Status status = program_->loop.post([&] {
    function(*functions_->server, *functions_->store);
    done.set_value();
  });
  if (!status.ok()) {
    std::abort();
  }
  done.get_future().wait();
}

}  // namespace remora::resp
