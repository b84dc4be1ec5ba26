// PlainDma: the Dma of real worlds. Bytes are in place, visible to everyone, when a call returns;
// those of a part, when the call for the last one does.
//
// One thread, that of the loop which drives the device; no allocation. Other threads and processes
// may look at the memory meanwhile: words are stored whole, and but for parts in ascending order.
#pragma once

#include "fabric/nic/dma.h"
#include "runtime/runtime.h"

namespace remora::fabric::nic {

class PlainDma final : public Dma {
 public:
  // With a runtime, its watches are told of every placement: needed in virtual time, where nobody
  // looks otherwise. The runtime outlives this.
  explicit PlainDma(Runtime* watched_by = nullptr) : watched_by_(watched_by) {}

  void write(QpNumber qp, std::byte* to, ConstBytes from) override;
  void write_part(QpNumber qp, std::byte* to, ConstBytes from, bool last) override;
  void bring(QpNumber qp, std::byte* to, ConstBytes from) override;
  void read(QpNumber qp, Bytes to, const std::byte* from) override;
  std::uint64_t compare_swap(QpNumber qp, std::byte* word, std::uint64_t compare,
                             std::uint64_t swap) override;
  std::uint64_t fetch_add(QpNumber qp, std::byte* word, std::uint64_t summand) override;
  void atomic_write(QpNumber qp, std::byte* word, std::uint64_t value) override;
  void place_all(QpNumber) override {}
  Ticket flush(QpNumber qp, ConstBytes range, FlushPlacement placement,
               Region* persistence) override;
  void acknowledged(QpNumber) override {}
  void drop(QpNumber) override {}

 private:
  void changed(const std::byte* from, std::size_t size_bytes) {
    if (watched_by_ != nullptr) {
      watched_by_->placed(ConstBytes(from, size_bytes));
    }
  }

  Runtime* watched_by_;
};

}  // namespace remora::fabric::nic
