// RivalClient: what the clients of rivals share. A call is one exchange, and is persistent when
// that has ended.
#pragma once

#include <string>
#include <vector>

#include "rpc/designs/design.h"
#include "rpc/slots.h"

namespace remora::rpc {

// A queue pair with the slots of a client: those it sends from, and those that answers are written
// to.
class RivalClient : public DesignClient {
 public:
  Task<Result<ConstBytes>> result(std::uint32_t slot) override;

 protected:
  RivalClient(const Host& host, const DesignOptions& options)
      : DesignClient(host, options), calls_(options.window) {}

  // One call, from the argument that lies in the slot to the answer.
  virtual Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                            std::size_t size_bytes) = 0;
  Task<Status> begin(std::uint32_t slot, Kind kind, std::size_t size_bytes) final;

  // The number of the slot's next call: never 0, and never the one before.
  std::uint32_t next_call(std::uint32_t slot);
  std::uint32_t call_of(std::uint32_t slot) const { return calls_[slot].call; }
  // Nobody answers any more.
  Status failed(Status reason);
  const Status& failure() const { return failure_; }

  // Before something is posted.
  CpuTime ready() const {
    host_.charge(Work::post);
    return host_.charged();
  }
  // When one waits long enough.
  std::uint64_t deadline_ns() const { return host_.runtime().after(options_.timeout_ns); }
  // As the server said it.
  static Result<ConstBytes> answer(std::uint16_t code, ConstBytes body);

 private:
  struct Call {
    std::uint32_t call = 0;
    std::uint32_t round = 0;
    Result<ConstBytes> result = ConstBytes();
  };
  std::vector<Call> calls_;  // by slot
  Status failure_;
};

}  // namespace remora::rpc
