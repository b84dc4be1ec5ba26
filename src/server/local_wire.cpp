#include "server/local_wire.h"

#include <utility>

namespace remora::server {

using fabric::nic::MappedWire;
using fabric::nic::RingWire;

std::string_view to_string(LocalFabric fabric) {
  return fabric == LocalFabric::ring ? "ring" : "mapped";
}

Result<LocalWire> LocalWire::create(Runtime& runtime, fabric::nic::LinkOwner* owner,
                                    LocalFabric fabric,
                                    const fabric::nic::RingWireOptions& options) {
  LocalWire wire;
  if (fabric == LocalFabric::mapped) {
    Result<std::unique_ptr<MappedWire>> made =
        MappedWire::create(runtime, owner, {.ring = options});
    if (!made.ok()) {
      return made.status();
    }
    wire.mapped_ = std::move(made).value();
    return wire;
  }
  Result<std::unique_ptr<RingWire>> made = RingWire::create(runtime, owner, options);
  if (!made.ok()) {
    return made.status();
  }
  wire.ring_ = std::move(made).value();
  return wire;
}

}  // namespace remora::server
