// What every wire of ours shares: operations posted on a queue pair, and its completions polled.
#pragma once

#include <array>
#include <cstdint>

#include "bench/nic/contender.h"
#include "fabric/work.h"
#include "lab/measured/nic/side.h"
#include "runtime/runtime.h"

namespace remora::bench {

class FabricContender : public Contender {
 public:
  Status run(const Shape& shape, std::uint64_t operations) override;
  Bytes local() override { return side().memory().bytes(); }

 protected:
  // The loop that drives the wire, and the side that initiates.
  virtual Runtime& runtime() = 0;
  virtual lab::Side& side() = 0;

 private:
  // Fills the entries of all slots; an operation changes no more than its remote address.
  void prepare(const Shape& shape);
  // Posts the next `count` operations of a run at once. Slots are used in turn, since
  // completions come in the order of the posts.
  Status post(const Shape& shape, std::uint64_t count);

  Status run_one_by_one(const Shape& shape, std::uint64_t operations);
  template <bool persistent, bool chained>
  Status run_alike(std::size_t size_bytes, std::uint64_t operations);
  Status await(fabric::CompletionQueue& queue, fabric::WorkCompletion& completion);
  Status failure(const fabric::WorkCompletion& completion) const;

  std::size_t next_slot_ = 0;
  std::array<fabric::Sge, most_depth> pieces_;
  std::array<fabric::SendWork, 2 * most_depth> works_;
};

}  // namespace remora::bench
