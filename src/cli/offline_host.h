// OfflineHost: what code of a store is handed where no store is served: time that stands still and
// a device that nobody is connected to.
#pragma once

#include <memory>

#include "fabric/device.h"
#include "host/host.h"
#include "runtime/virtual_loop.h"

namespace remora::cli {

class OfflineHost {
 public:
  // The region outlives the host.
  Host host(Region& region) { return Host(loop_, device_, &region); }

 private:
  class NoDevice final : public fabric::Device {
   public:
    const fabric::DeviceAttributes& attributes() const override { return attributes_; }
    fabric::DeviceCounters counters() const override { return {}; }
    std::unique_ptr<fabric::ProtectionDomain> create_domain() override { return nullptr; }
    Result<std::unique_ptr<fabric::CompletionQueue>> create_completion_queue(
        std::uint32_t) override {
      return Status(Code::unsupported, "nobody is connected here");
    }

   private:
    fabric::DeviceAttributes attributes_;
  };

  VirtualLoop loop_;
  NoDevice device_;
};

}  // namespace remora::cli
