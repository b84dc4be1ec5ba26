// DatagramAnswers: a client's end for datagrams, where answers arrive (herd-rpc, fasst). An answer
// to no call that is under way is dropped, and so is what anybody else sends: a datagram may come
// twice, late, or from nowhere.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "host/host.h"
#include "rpc/datagram_end.h"
#include "rpc/designs/design.h"

namespace remora::rpc {

class DatagramAnswers final : private Poller {
 public:
  static Result<std::unique_ptr<DatagramAnswers>> create(const Host& host,
                                                         const DesignOptions& options);

  DatagramEnd& end() { return *end_; }
  // What the server is told of it.
  void introduce(Introduction& ours) const;

  // From here on an answer to this call is waited for; that of the slot's call before goes.
  void expect(std::uint32_t slot, std::uint32_t call);
  // Until it is there, or it is so late.
  Task<bool> wait(std::uint32_t slot, std::uint64_t deadline_ns);
  DatagramEnd::Message answer(std::uint32_t slot) const {
    return *end_->message(waits_[slot].buffer);
  }

 private:
  static constexpr std::size_t most_polled = 32;
  static constexpr std::uint32_t no_buffer = UINT32_MAX;
  struct Wait {
    std::uint32_t call = 0;  // 0: none
    std::uint32_t buffer = no_buffer;
  };
  struct Came {
    const Wait& wait;
    bool operator()() const { return wait.buffer != no_buffer; }
  };

  DatagramAnswers(const Host& host, const DesignOptions& options, std::unique_ptr<DatagramEnd> end);
  bool poll() override;
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }

  const Host host_;
  std::unique_ptr<DatagramEnd> end_;
  const std::uint64_t token_;
  std::vector<Wait> waits_;  // by slot
  std::array<std::uint32_t, most_polled> buffers_;
};

}  // namespace remora::rpc
