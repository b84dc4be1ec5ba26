// PlainRegion: memory that is called persistent and is not, for modelled runs. A flush does
// nothing, since what it costs is charged by the host, and no power is cut.
//
// Pages take memory when they are touched first. One thread.
#pragma once

#include <memory>

#include "pmem/region.h"

namespace remora::store_bench {

class PlainRegion final : public Region {
 public:
  // All zero. no_space when the machine does not have so much.
  static Result<std::unique_ptr<PlainRegion>> create(std::uint64_t size_bytes);
  ~PlainRegion() override;

  Bytes bytes() override { return bytes_; }
  const Strategy& strategy() const override { return strategy_; }
  void flush(ConstBytes, Site) override {}
  Ticket drain(Site) override { return {}; }
  void copy(std::byte* to, ConstBytes from, Site site) override;
  bool persistent(Ticket) const override { return true; }
  Status wait(Ticket) override { return {}; }
  void request(Ticket) override {}

 private:
  explicit PlainRegion(Bytes bytes);

  const Bytes bytes_;
  const Strategy strategy_;
};

}  // namespace remora::store_bench
