// Load: a store server and its clients on a machine whose power will be cut, and the account of
// them.
//
// Every step goes to the journal before it is begun, and its outcome when that is known. The
// journal is a file outside of the machine: a line is there when the write has returned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "lab/lives/server_process.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "tests/vm/cuts/account.h"

namespace remora::vm {

struct LoadOptions {
  std::string program;  // the command
  std::string pool;     // made if it is not there
  std::string socket;
  std::string journal;
  std::uint64_t seed = 1;
  std::uint32_t clients = 2;  // by mapped and by ring in turn
  std::uint32_t flows_per_client = 3;
  std::uint32_t keys_per_flow = 6;
  std::uint32_t longest_value_bytes = 2000;
};

class Load {
 public:
  explicit Load(LoadOptions options);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load();

  // Reads the journal, starts the server, which recovers, and compares every key. Fails with
  // `damaged`, and what was lost or torn; or with why there is no server.
  Status start_and_check();
  // Works until the power is cut, or so long. Fails with what went wrong before that.
  Status work_for(std::uint64_t span_ns);
  // Ends the server in order.
  Status stop();
  // By itself, or badly.
  bool server_ended();

  const Account& account() const { return account_; }

 private:
  Status connect_all();
  Status note(Event::Kind kind, std::uint32_t key, std::uint64_t version);
  // What the store has of a key; 0: nothing.
  Task<Result<std::uint64_t>> look(kv::StoreClient& store, std::uint32_t key);
  Task<Status> check_all();
  Task<void> flow(kv::StoreClient& store, std::uint32_t first_key, std::uint64_t seed);
  Task<Status> step(kv::StoreClient& store, std::uint32_t key, Random& random);
  Task<Status> change(kv::StoreClient& store, std::uint32_t key, std::uint64_t dice,
                      std::uint64_t size_bytes);

  const LoadOptions options_;
  Account account_;
  int journal_ = -1;
  PollLoop loop_;
  std::optional<lab::ServerProcess> server_;
  std::vector<std::unique_ptr<link::StoreLink>> links_;
  std::uint64_t end_ns_ = 0;
  Status wrong_;
};

}  // namespace remora::vm
