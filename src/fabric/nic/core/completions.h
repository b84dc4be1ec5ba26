// Completions: the completion queue of the software RNIC. A ring of fixed size; pushing and polling
// do not allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/device.h"

namespace remora::fabric::nic {

class Completions final : public CompletionQueue {
 public:
  // `overruns` counts the queues of a device that lost something; it outlives this.
  Completions(std::uint32_t capacity, std::uint32_t& overruns)
      : ring_(capacity), overruns_(overruns) {}

  std::size_t poll(std::span<WorkCompletion> out) override;
  void arm(bool solicited_only) override {
    armed_ = solicited_only ? Armed::for_solicited : Armed::for_any;
  }
  std::uint64_t event_count() const override { return events_; }
  bool overrun() const override { return overrun_; }

  // The device's side. What does not fit is lost, and the queue says so for good.
  void push(const WorkCompletion& completion, bool solicited = false);

 private:
  enum class Armed : std::uint8_t { no, for_any, for_solicited };

  std::vector<WorkCompletion> ring_;
  std::uint32_t& overruns_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t events_ = 0;
  Armed armed_ = Armed::no;
  bool overrun_ = false;
};

}  // namespace remora::fabric::nic
