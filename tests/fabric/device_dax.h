// DeviceDax: persistent memory without a file system (/dev/dax…), which an RDMA device may pin and
// flush. A file system with DAX may move its pages, so the kernel pins none of those for long.
#pragma once

#include <memory>
#include <string>

#include "pmem/region.h"

namespace remora::fabric::contract {

class DeviceDax final : public Region {
 public:
  // The first bytes of the device, set to zero now and at the end. It is a bug if it cannot be
  // mapped.
  DeviceDax(const std::string& path, std::size_t size_bytes);
  ~DeviceDax() override;

  Bytes bytes() override { return lines_->bytes(); }
  const Strategy& strategy() const override { return strategy_; }
  void flush(ConstBytes range, Site site = Site::current()) override { lines_->flush(range, site); }
  [[nodiscard]] Ticket drain(Site site = Site::current()) override { return lines_->drain(site); }
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) override {
    lines_->copy(to, from, site);
  }
  bool persistent(Ticket ticket) const override { return lines_->persistent(ticket); }
  [[nodiscard]] Status wait(Ticket ticket) override { return lines_->wait(ticket); }
  void request(Ticket ticket) override { lines_->request(ticket); }

 private:
  Bytes mapped_;
  std::unique_ptr<Region> lines_;
  Strategy strategy_;
};

}  // namespace remora::fabric::contract
