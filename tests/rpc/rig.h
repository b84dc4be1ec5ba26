// What every test of RPC designs stands on: a world of the fabric's contract
// (tests/fabric/world.h), a server of the design on its far side, and clients on its near side.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rpc/designs/design.h"
#include "tests/fabric/world.h"

namespace remora::rpc::contract {

// Echoes, and keeps account. Some kinds make it behave in other ways.
enum : Kind { echo = 1, refuse = 2, later = 3, whole = 4 };

class Echo final : public Service {
 public:
  Reply handle(const Session& session, std::uint32_t call, Kind kind, ConstBytes request,
               Bytes body) override {
    ++handled;
    seen[session.id].emplace_back(request.begin(), request.end());
    if (kind == refuse) {
      return Reply::failure(body, Code::not_found, "there is nothing of that name");
    }
    if (kind == later) {
      late.push_back({session.id, call});
      return {.later = true};
    }
    if (kind == whole) {
      std::memset(body.data(), 0x5a, body.size());
      return {.size_bytes = static_cast<std::uint32_t>(body.size())};
    }
    std::copy(request.begin(), request.end(), body.begin());
    return {.size_bytes = static_cast<std::uint32_t>(request.size())};
  }
  bool client_left(const Session& session) override {
    left.push_back(session.id);
    return true;
  }

  std::uint64_t handled = 0;
  std::map<SessionId, std::vector<std::vector<std::byte>>> seen;
  std::vector<std::pair<SessionId, std::uint32_t>> late;
  std::vector<SessionId> left;
};

class Rig {
 public:
  Rig(const Design& design, fabric::contract::World& world, DesignOptions options = {});

  fabric::contract::World& world() { return world_; }
  const Design& design() const { return design_; }
  const DesignOptions& options() const { return options_; }
  Echo& service() { return service_; }
  Server& server() { return *server_; }
  bool is_reliable() const { return design_.transports.front() == fabric::Transport::rc; }

  void start_server();
  void stop_server() { server_.reset(); }
  Result<std::unique_ptr<DesignClient>> try_connect();
  std::unique_ptr<DesignClient> connect();

  // One call on this slot, as a flow; its outcome is the echo or the failure in words.
  static Task<std::string> say(DesignClient& client, std::uint32_t slot, Kind kind,
                               std::string text);
  // The same, run until it has ended.
  std::string ask(DesignClient& client, Kind kind, const std::string& text);
  template <typename T>
  bool ends(const Task<T>& task) {
    return world_.run_until([&task] { return task.finished(); });
  }

 private:
  const Design& design_;
  fabric::contract::World& world_;
  DesignOptions options_;
  Echo service_;
  std::unique_ptr<Server> server_;
};

// A text of so many bytes that tells its place and its number.
std::string text_of(std::size_t size, std::uint64_t number);

}  // namespace remora::rpc::contract
