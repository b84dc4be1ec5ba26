// FarMachine: the RDMA device of another machine, moved from here through the agent that runs there
// (far_agent.cpp), behind the contract of fabric/device.h. Memory that is registered with it is at
// the same addresses on both machines; what is here is a copy, which `look` brings up to date.
//
// One thread. An agent that does not answer, or is gone, ends the program: there is nothing to go
// on with.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "fabric/device.h"
#include "fabric/verbs/methods.h"
#include "tests/fabric/far_orders.h"
#include "tests/vm/interop/talk.h"

namespace remora::fabric::contract {

// What is said to the agent.
class FarTalk {
 public:
  explicit FarTalk(interop::Talk talk) : talk_(std::move(talk)) {}

  // Says it and waits for the answer. What the agent refuses is a status.
  Result<interop::Message> ask(const interop::Message& order);
  // The same where a refusal is a mistake of the test's.
  interop::Message told(const interop::Message& order);
  // Completions that came, of this queue.
  std::deque<WorkCompletion>& arrived(std::uint64_t queue);
  void forget(std::uint64_t queue) { arrived_.erase(queue); }

 private:
  // Takes what came; true if it is an answer.
  bool hear(interop::Message& answer);

  interop::Talk talk_;
  std::map<std::uint64_t, std::deque<WorkCompletion>> arrived_;
};

class FarMachine final : public Device {
 public:
  // The agent opens its device anew.
  static Result<std::unique_ptr<FarMachine>> open(FarTalk& talk, verbs::FlushMethod flush);
  ~FarMachine() override;

  const DeviceAttributes& attributes() const override { return attributes_; }
  DeviceCounters counters() const override;
  std::unique_ptr<ProtectionDomain> create_domain() override;
  Result<std::unique_ptr<CompletionQueue>> create_completion_queue(std::uint32_t capacity) override;

  // Its persistent memory, as this machine has it.
  Region& region() { return *region_; }
  // As World has them.
  ConstBytes look(Bytes bytes);
  void changed(ConstBytes bytes);
  void fall_silent();

 private:
  explicit FarMachine(FarTalk& talk) : talk_(talk) {}

  FarTalk& talk_;
  DeviceAttributes attributes_;
  Bytes copy_;
  std::unique_ptr<Region> region_;
};

}  // namespace remora::fabric::contract
