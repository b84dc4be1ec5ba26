// ImmClient: the client of the designs that use WRITE with IMM both ways: a call is on its way with
// one request, and ends with a completion.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "rpc/designs/slot_client.h"

namespace remora::rpc {

class ImmClient : public SlotClient, private Poller {
 public:
  ImmClient(const Host& host, const DesignOptions& options)
      : SlotClient(host, options), answered_(options.window) {}
  Status open();

 protected:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind, std::size_t size_bytes) override;

 private:
  static constexpr std::size_t most_polled = 32;
  struct Changed {
    const std::uint64_t& word;
    std::uint64_t before;
    bool operator()() const { return word != before; }
  };

  bool poll() override;
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }

  std::vector<std::uint64_t> answered_;  // by slot: completions so far
  std::array<fabric::WorkCompletion, most_polled> completions_;
};

}  // namespace remora::rpc
