// Load: seeded work on one queue pair, and a watch over what comes back. It posts as the plan says,
// keeps receives posted, and complains of every completion that the contract does not allow: out of
// order (O2, O4), with wrong bytes or values (A2, P2, P3), or with a status that F3 to F5 do not
// give. It goes on until it fails, which it expects, or until the plan's limit.
//
// One thread. What it is given outlives it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "fabric/device.h"
#include "tests/lives/area.h"
#include "tests/lives/load_plan.h"

namespace remora::fabric::lives {

// What a load needs to know of the other side.
struct Target {
  RemoteAddress area = {};  // its begin
  std::uint64_t added = 0;  // values of its words
  std::uint64_t swapped = 0;
  RemoteAddress at(std::size_t offset) const { return {area.address + offset, area.key}; }
};

// What a load works with on its own side.
struct Tools {
  QueuePair& qp;
  CompletionQueue& sends;
  CompletionQueue& receives;
  const MemoryRegion& memory;
  Area area;
};

class Load {
 public:
  Load(const Tools& tools, const Target& target, const LoadPlan& plan);

  // Receives may be posted before the queue pair is connected; so may they arrive.
  void post_receives();
  // Sends may begin.
  void begin() { begun_ = true; }
  bool begun() const { return begun_; }
  // Posts and takes what there is; returns whether there was anything.
  bool pump();

  // Called after each request is posted, with the count of them.
  std::function<void(std::uint64_t)> on_post;

  std::uint64_t completed() const { return completed_; }
  std::size_t outstanding() const { return sent_.size(); }
  bool failed() const { return failed_; }
  // It has failed, and every request and receive has completed.
  bool ended() const { return failed_ && sent_.empty() && receives_out_ == 0; }
  // All that the plan's limit allows has succeeded.
  bool finished() const { return !failed_ && plan_.limit == posted_ && sent_.empty(); }
  // The first thing that was wrong; empty if nothing.
  const std::string& complaint() const { return complaint_; }

 private:
  struct Sent {
    std::uint64_t id;
    Kind kind;
    bool signalled;
    bool in_error;  // posted when the queue pair was in error already
    std::size_t offset;
    std::size_t size_bytes;
    std::uint64_t before;  // what an atomic brings
  };

  bool post();
  bool may_post() const;
  void post_one();
  Kind draw_kind();
  std::size_t draw_bytes(Kind kind);
  void aim(SendWork& work, Sent& sent);
  bool take_sends();
  void take_send(const WorkCompletion& completion);
  void take_failure(const Sent& sent, WorkStatus status);
  void check_success(const Sent& sent);
  bool take_receives();
  void take_receive(const WorkCompletion& completion);
  void check_message(const WorkCompletion& completion);
  void post_receive(std::uint64_t id);
  std::byte* landing(std::uint64_t id) const;
  void complain(const std::string& what);

  Tools tools_;
  Target target_;
  LoadPlan plan_;
  Random random_;
  bool begun_ = false;
  bool failed_ = false;
  bool draining_ = false;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint32_t posted_in_error_ = 0;
  std::deque<Sent> sent_;
  std::uint32_t immediates_sent_ = 0;
  std::uint32_t immediates_seen_ = 0;
  std::uint64_t next_receive_ = 0;
  std::size_t receives_out_ = 0;
  bool receives_flushed_ = false;
  std::string complaint_;
};

}  // namespace remora::fabric::lives
