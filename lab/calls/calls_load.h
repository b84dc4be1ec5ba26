// CallsLoad: the callers of a run. Each node is the caller of one session: it issues calls from a
// few streams, which go on when a call is persistent, and writes down what it is told. When its
// connection fails it resumes the session, and its calls go on; when its power was cut, a new life
// of it takes the session over.
//
// One thread. World and plan outlive it, and it outlives the flows on the nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/calls/calls_plan.h"
#include "lab/calls/calls_world.h"
#include "lab/check/calls.h"
#include "rpc/calls/client.h"

namespace remora::lab {

class CallsLoad {
 public:
  CallsLoad(CallsWorld& world, const CallsPlan& plan, Random random);

  // The node, which has power, begins its work.
  void start(std::uint32_t caller);
  // Its power was cut.
  void died(std::uint32_t caller) { at_work_[caller] = false; }
  // Whether all calls of callers that live were answered.
  bool finished() const;
  // Nobody issues anything any more.
  void stop() { left_ = 0; }

  const std::vector<MadeCall>& calls() const { return calls_; }
  // An answer that no call of this method has; empty as long as there is none.
  const std::string& complaint() const { return complaint_; }

  // What was reached.
  std::uint64_t rejoined() const { return rejoined_; }
  std::uint64_t told_persistent() const { return told_persistent_; }
  std::uint64_t told_by_receiver() const { return told_by_receiver_; }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t slowed_down() const { return slowed_down_; }

 private:
  // A caller's life: what its flows share. It lives in the node's DRAM.
  struct Life {
    std::unique_ptr<rpc::calls::CallClient> client;
    std::uint32_t number = 0;
    std::uint32_t caller = 0;
    std::uint32_t streams = 0;  // that have not ended
    std::uint32_t open = 0;     // calls
    bool is_joined = false;
  };
  // A call under way.
  struct OpenCall {
    OpenCall(Runtime& runtime, std::vector<std::byte> its_arguments);

    std::vector<std::byte> arguments;
    rpc::calls::Call call;
    std::size_t index = 0;  // of calls_
  };

  Task<void> live(std::uint32_t caller);
  Task<bool> connect(Life& life);
  Task<void> stream(std::shared_ptr<Life> life, Random random);
  Task<void> await_answer(std::shared_ptr<Life> life, std::shared_ptr<OpenCall> open);
  std::shared_ptr<OpenCall> make_call(Life& life, Random& random);

  CallsWorld& world_;
  const CallsPlan& plan_;
  Random random_;
  std::uint64_t left_;
  std::vector<bool> at_work_;
  std::vector<std::uint32_t> lives_;
  std::vector<MadeCall> calls_;
  std::string complaint_;
  std::uint64_t rejoined_ = 0;
  std::uint64_t told_persistent_ = 0;
  std::uint64_t told_by_receiver_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t slowed_down_ = 0;
};

}  // namespace remora::lab
