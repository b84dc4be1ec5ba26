// The operations of one client, drawn one by one. No clock, no thread, nothing allocated: what the
// operations are applied to, and when, is the caller's affair, in virtual time as in real time.
//
//   Inserts inserts(plan.records, plan.clients);
//   Loader loader(plan, client);                   // the load phase
//   while (loader.next(operation)) ...
//   Stream stream(plan, inserts, client);          // then what is measured
//   if (stream.next(operation)) ...
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/random.h"
#include "lab/workload/inserts.h"
#include "lab/workload/key_choice.h"
#include "lab/workload/plan.h"

namespace remora::workload {

struct Operation {
  Kind kind = Kind::read;
  std::uint32_t value_bytes = 0;  // of the value that it writes; 0 if it writes none
  std::uint32_t scan_length = 0;  // records that a scan asks for; 0 for others
  std::uint64_t key = 0;          // its number; the first key of a scan
  std::uint64_t id = 0;           // of the value that it writes (see fill); 0 if it writes none

  bool operator==(const Operation&) const = default;
};

// The id of every value of the load phase. Those of the streams are larger, and no two writes of a
// plan have the same.
inline constexpr std::uint64_t loaded_id = 1;

// What a write stores: the value of lab/check/value.h for this key and id, which `identify` knows
// again. `into` has the operation's value_bytes. Below smallest_value_bytes it is the beginning of
// such a value, which nobody can tell from a torn one.
void fill(std::string_view key_text, std::uint64_t id, Bytes into);

// The load phase of one client: the records client, client + clients, ... in this order, as
// inserts. Threads: one at a time.
class Loader {
 public:
  // The plan is valid and outlives the loader; client is below plan.clients.
  Loader(const Plan& plan, std::uint32_t client);

  // False when all are drawn.
  bool next(Operation& operation);

 private:
  const Plan* plan_;
  std::uint64_t next_key_;
};

// Threads: one at a time; the streams of other clients may run meanwhile. With one client, or in
// one thread, the operations follow from the plan and from the order of the calls. Between threads,
// which of the inserted keys are touched depends on who had inserted what.
//
// The kinds, keys and sizes are drawn apart: other sizes leave the keys as they are.
class Stream {
 public:
  // The plan is valid; plan and inserts outlive the stream. client is below plan.clients, and has
  // one stream.
  Stream(const Plan& plan, Inserts& inserts, std::uint32_t client);

  // The next operation; there is no last one. False if it is an insert, and the oldest of this
  // client's inserts that is under way is InsertWindow::capacity behind: try again once it has
  // ended. A client that waits for each operation never sees that.
  [[nodiscard]] bool next(Operation& operation);

  // How an insert ended; every insert must. Once `inserted`, its key is among those that operations
  // of all clients touch. A `failed` one is drawn again, with the same key.
  void inserted(const Operation& operation);
  void failed(const Operation& operation);

  // Operations drawn so far, and whether the last one drawn belongs to this client's share of the
  // warm-up, which is not to be measured.
  std::uint64_t drawn() const { return drawn_; }
  bool warming_up() const { return drawn_ <= warm_up_; }

  // This client's share of the warm-up and of the operations together: when drawn() is there, the
  // run is over.
  std::uint64_t planned() const { return planned_; }

 private:
  Kind draw_kind();

  const Plan* plan_;
  Inserts* inserts_;
  std::uint32_t client_;
  std::array<std::uint64_t, kind_count> below_ = {};  // of a 63-bit number, cumulative
  Random kinds_;
  Random keys_;
  Random sizes_;
  KeyChoice choice_;
  InsertWindow window_;
  bool insert_waits_ = false;
  std::uint64_t next_id_;
  std::uint64_t drawn_ = 0;
  std::uint64_t warm_up_;
  std::uint64_t planned_;
};

}  // namespace remora::workload
