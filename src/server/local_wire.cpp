#include "server/local_wire.h"

#include <utility>

namespace remora::server {

using fabric::nic::MappedWire;
using fabric::nic::RingWire;
using fabric::nic::RoceNet;

std::string_view to_string(LocalFabric fabric) {
  return fabric == LocalFabric::ring ? "ring" : fabric == LocalFabric::mapped ? "mapped" : "roce";
}

std::optional<LocalFabric> parse_fabric(std::string_view name) {
  for (const LocalFabric fabric : {LocalFabric::ring, LocalFabric::mapped, LocalFabric::roce}) {
    if (name == to_string(fabric)) {
      return fabric;
    }
  }
  return {};
}

Result<LocalWire> LocalWire::create_both(Runtime& runtime, fabric::nic::LinkOwner& owner,
                                         LocalFabric fabric, std::uint32_t max_links,
                                         const fabric::nic::IpEndpoint& at,
                                         fabric::nic::RoceNetOptions options) {
  options.is_second = true;
  Result<std::unique_ptr<RoceNet>> net = RoceNet::listen(runtime, owner, at, options);
  if (!net.ok()) {
    return net.status();
  }
  Result<LocalWire> both =
      create(runtime, &owner, fabric, {.max_links = max_links, .gid = (*net)->wire().gid()});
  if (!both.ok()) {
    return both.status();
  }
  both->net_ = std::move(net).value();
  both->joined_ = std::make_unique<fabric::nic::JoinedWire>(both->wire(), both->net_->wire());
  return both;
}

Result<LocalWire> LocalWire::listen_at(Runtime& runtime, fabric::nic::LinkOwner& owner,
                                       const fabric::nic::IpEndpoint& at,
                                       const fabric::nic::RoceNetOptions& options) {
  Result<std::unique_ptr<RoceNet>> net = RoceNet::listen(runtime, owner, at, options);
  if (!net.ok()) {
    return net.status();
  }
  LocalWire wire;
  wire.net_ = std::move(net).value();
  return wire;
}

Task<Result<LocalWire>> LocalWire::connect_to(Runtime& runtime, fabric::nic::LinkOwner& owner,
                                              fabric::nic::IpEndpoint to,
                                              fabric::nic::RoceNetOptions options) {
  Result<std::unique_ptr<RoceNet>> net =
      co_await RoceNet::connect(runtime, owner, to, std::move(options));
  if (!net.ok()) {
    co_return net.status();
  }
  LocalWire wire;
  wire.net_ = std::move(net).value();
  co_return wire;
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
