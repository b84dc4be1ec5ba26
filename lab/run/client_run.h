// ClientRun: one client's part of a workload, on any store and in any world. Each operation in
// flight is a flow; a client that waits for each operation has one.
//
// Latency is from where the flow's operation before has ended until this one has and, in virtual
// time, the client's core has done what it was charged for: the clock is looked at once for each,
// and what the client does in between counts, but for the making of a value.
//
//   read               a get
//   update, insert     a put
//   delete             a del
//   read-modify-write  a get, then a put
//   scan               keys from where this client's last scan ended, then a get of each
//
// One thread, the loop's. What is handed in outlives the run. The flows have ended when it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/host.h"
#include "kv/store.h"
#include "lab/workload/meter.h"
#include "lab/workload/stream.h"
#include "runtime/task.h"

namespace remora::store_bench {

struct ClientRunOptions {
  std::uint32_t client = 0;  // below plan.clients
  std::uint32_t depth = 1;   // operations in flight
  std::uint32_t load_depth = 1;
  kv::PutOptions put = {};
  bool check_values = false;  // that a get returns a whole value of its key, or the get failed
};

// What whoever looks at all clients of a run tells them while they work, and they tell.
struct Going {
  bool metered = false;     // those that end now count
  bool stops = false;       // no other is to begin
  std::uint64_t ended = 0;  // operations of all clients, metered or not
};

class ClientRun {
 public:
  ClientRun(const Host& host, kv::StoreClient& store, const workload::Plan& plan,
            workload::Inserts& inserts, workload::Meter& meter, const ClientRunOptions& options);
  ClientRun(const ClientRun&) = delete;
  ClientRun& operator=(const ClientRun&) = delete;

  // The phases, each once and in this order; the last two as they were planned, or in their place
  // one operation after the other until `going` says otherwise. A load that fails says why, and
  // ends.
  Task<Status> load();
  Task<void> warm_up();
  // What is metered. Ends early when the store has failed for good.
  Task<void> measure();
  Task<void> keep_on(Going& going);

  // Operations of all phases that have ended.
  std::uint64_t performed() const { return performed_; }
  // Operations of all phases that are to be performed.
  std::uint64_t planned() const;
  // How long those have taken that are under way, all together.
  std::uint64_t under_way_ns() const;
  // Why the first operation failed, or success.
  const Status& first_failure() const { return first_failure_; }

 private:
  class ScannedKeys;
  // What one flow uses.
  struct Worker {
    workload::KeyBuffer key_buffer;
    std::uint64_t begin_ns = 0;  // of the operation that is under way
    bool is_at_work = false;
    std::vector<std::byte> out;  // a value to be stored
    std::size_t made_bytes = 0;  // of `out` that a value was made in
    bool has_filled = false;     // for the operation that comes now
    std::vector<std::byte> in;   // a value that was read
    std::vector<std::byte> scanned;
    std::vector<std::size_t> scanned_ends;
  };
  struct Outcome {
    Status status;
    bool missing = false;
  };

  Task<void> load_some(Worker& worker);
  Task<void> work(Worker& worker, std::uint64_t until, Going& going);
  Task<void> work_side_by_side(std::uint64_t until, Going& going);
  Task<Outcome> perform(const workload::Operation& operation, ConstBytes key, ConstBytes value,
                        Worker& worker);
  Outcome read_outcome(ConstBytes key, const Worker& worker, const Result<std::size_t>& size) const;
  Task<Outcome> scan(std::uint32_t records, Worker& worker);
  ConstBytes key_of(const workload::Operation& operation, Worker& worker) const;
  ConstBytes value_of(const workload::Operation& operation, ConstBytes key, Worker& worker) const;
  void ended(const workload::Operation& operation, const Outcome& outcome, std::uint64_t latency_ns,
             Going& going);
  void failed(const Status& status);
  Worker& worker(std::size_t index);

  const Host host_;
  kv::StoreClient& store_;
  const workload::Plan& plan_;
  const ClientRunOptions options_;
  workload::Meter& meter_;
  workload::Loader loader_;
  workload::Stream stream_;
  std::vector<std::unique_ptr<Worker>> workers_;
  kv::ScanCursor cursor_ = 0;
  std::uint64_t performed_ = 0;
  Status first_failure_;
};

}  // namespace remora::store_bench
