// The two processes of the benchmark on the wires of one host: a child that is the target, and the
// client that reaches it. The child ends when its peer goes, or with its parent.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "fabric/nic/wire/joined/mapped_wire.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "lab/measured/nic/child_target.h"
#include "lab/measured/nic/side.h"
#include "runtime/poll_loop.h"

namespace remora::lab {

// A wire between processes of one host: the rings alone, or with the way around them.
class HostWire {
 public:
  static Result<std::unique_ptr<HostWire>> create(Runtime& runtime, fabric::nic::LinkOwner* owner,
                                                  bool mapped);
  fabric::nic::ring::RingWire& wire() { return mapped_ ? mapped_->wire() : *ring_; }
  fabric::nic::joined::MappedWire* mapped() { return mapped_.get(); }

 private:
  HostWire() = default;

  std::unique_ptr<fabric::nic::ring::RingWire> ring_;
  std::unique_ptr<fabric::nic::joined::MappedWire> mapped_;
};

class RingTarget {
 public:
  // Starts the child and waits until it listens.
  static Result<std::unique_ptr<RingTarget>> start(bool mapped, std::uint64_t memory_bytes,
                                                   std::uint64_t depth, const Answering& answering);
  RingTarget(const RingTarget&) = delete;
  RingTarget& operator=(const RingTarget&) = delete;
  // Ends the child.
  ~RingTarget();

  const std::string& path() const { return path_; }
  pid_t process() const { return child_->process(); }

 private:
  explicit RingTarget(std::string folder)
      : folder_(std::move(folder)), path_(folder_ + "/socket") {}

  std::unique_ptr<ChildTarget> child_;
  const std::string folder_;
  const std::string path_;
};

class RingClient : private fabric::nic::LinkOwner {
 public:
  RingClient(PollLoop& loop, bool mapped) : loop_(loop), mapped_(mapped) {}

  // Connects, introduces both sides to each other, and gives this one. It must go before the
  // client.
  Result<std::unique_ptr<Side>> connect(const std::string& path, std::uint64_t memory_bytes,
                                        std::uint64_t depth);
  // Waits until requests of this queue pair on the region of that key are short-cut, or will not
  // be.
  void map(fabric::QpNumber own, fabric::RemoteKey key);

 private:
  void control(fabric::nic::LinkId link, ConstBytes bytes) override;
  void link_down(fabric::nic::LinkId link) override;

  PollLoop& loop_;
  const bool mapped_;
  std::unique_ptr<HostWire> wire_;
  std::unique_ptr<Introduction> answer_;
  bool down_ = false;
};

}  // namespace remora::lab
