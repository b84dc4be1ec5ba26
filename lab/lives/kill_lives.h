// KillLives: a store server that lives many times and is ended by kill -9 each time, in the middle
// of a mixed load of native and Redis clients; and the account of what it may and may not have
// lost.
//
// Every key belongs to one flow, which works on it alone; every value says whose it is and which
// version. So what a later life may hold of a key follows from what its flow was told:
//   - the version of the last operation that was acknowledged as persistent, or of one that was
//     begun after it (a put that nobody acknowledged may or may not have happened);
//   - whole: of that key, of a version that was written, every byte of it.
// And since kill -9 takes the process and not the memory, the same is asked of operations that were
// acknowledged as visible. Those are counted apart: that promise is not one of a power cut.
//
// A life follows from its seed but for the timing of two processes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "lab/lives/resp_link.h"
#include "lab/lives/server_process.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"

namespace remora::lab {

struct KillOptions {
  std::string program;  // the command
  std::string folder;   // for the pool and its socket
  std::uint64_t seed = 1;
  std::vector<std::string> serve = {};  // more arguments for the server
  std::uint32_t clients = 3;            // by mapped and by ring in turn
  std::uint32_t redis_clients = 0;      // each one flow more; their writes are answered when they
                                        // are persistent
  std::uint32_t flows_per_client = 4;
  std::uint32_t keys_per_flow = 8;
  std::uint32_t longest_value_bytes = 3000;
  std::uint64_t grow_bytes = 0;  // by so much the pool grows near the end of every life
  std::uint64_t shortest_life_ops = 50;
  std::uint64_t longest_life_ops = 2000;
  std::uint64_t patience_ns = 120'000'000'000;  // with a server that lives and does not answer
};

struct LifeReport {
  std::uint64_t acknowledged = 0;             // operations of this life
  std::uint64_t acknowledged_persistent = 0;  // of these, persistent when acknowledged
  std::uint64_t in_flight = 0;                // operations that the kill interrupted
  bool has_grown = false;                     // the pool, as was acknowledged
  bool was_growing = false;                   // when the kill came
};

class KillLives {
 public:
  explicit KillLives(KillOptions options);
  KillLives(const KillLives&) = delete;
  KillLives& operator=(const KillLives&) = delete;
  ~KillLives();

  // Starts the server, which recovers, and checks every key. Fails with `damaged`, and what was
  // lost or torn; or with why there is no server.
  Status start_and_check();
  // Loads the server that runs and kills it at a seeded moment. Fails when a client found a wrong
  // value on the way.
  Result<LifeReport> live_and_kill();
  // Ends the server that runs in order.
  Status stop();

  // From the start of the last server until its clients were connected.
  std::uint64_t restart_ns() const { return restart_ns_; }
  // What has been checked so far.
  std::uint64_t keys_checked() const { return keys_checked_; }

 private:
  // One thing that a flow did to a key.
  struct Step {
    std::uint64_t version = 0;  // 0: deleted
    bool acknowledged = false;
    bool persistent = false;  // when it was acknowledged
  };
  struct Key {
    std::string name;
    std::uint64_t versions = 0;      // given out so far
    std::vector<Step> steps = {{}};  // since it was last checked; the first is what was found
  };
  struct Client {
    std::unique_ptr<link::StoreLink> link;
  };
  // By which a flow works: one of the two.
  struct Way {
    kv::StoreClient* store = nullptr;
    RespLink* redis = nullptr;
  };

  std::string socket() const { return options_.folder + "/kill.sock"; }
  Status start_server();
  Status connect_all();
  Status connect_redis();
  static Status judge(const Key& key, std::uint64_t found);
  Task<Status> check_all();
  Task<Result<std::optional<std::uint64_t>>> read(Way way, const Key& key);
  Task<Status> fetch(Way way, const Key& key, std::optional<std::string>& value);
  Task<void> flow(Way way, std::vector<Key*> keys, std::uint64_t seed);
  Task<Status> change(Way way, Key& key, Step step, std::string value);
  Task<bool> step(Way way, Key& key, Random& random);
  Task<void> grow();
  Status check_size();
  void count(const Step& step);
  void wrong(Status status);

  const KillOptions options_;
  Random random_;
  PollLoop loop_;
  std::vector<std::unique_ptr<Key>> keys_;
  std::optional<ServerProcess> server_;
  std::vector<Client> clients_;
  std::uint16_t redis_port_ = 0;
  std::vector<std::unique_ptr<RespLink>> redis_;
  std::uint64_t kill_at_ = 0;  // acknowledged operations of this life
  bool killed_ = false;
  std::uint64_t grow_at_ = 0;      // the same
  std::uint64_t pool_bytes_ = 0;   // when the life began
  std::uint64_t grown_bytes_ = 0;  // that was acknowledged
  std::optional<Task<void>> growing_;
  LifeReport life_;
  Status wrong_;
  std::uint64_t keys_checked_ = 0;
  std::uint64_t restart_ns_ = 0;
};

}  // namespace remora::lab
