#include "link/wires.h"

#include <utility>

namespace remora::link {

using fabric::nic::joined::MappedWire;
using fabric::nic::ring::RingWire;
using fabric::nic::roce::RoceNet;

std::string_view to_string(WireKind kind) {
  return kind == WireKind::ring ? "ring" : kind == WireKind::mapped ? "mapped" : "roce";
}

std::optional<WireKind> parse_wire_kind(std::string_view name) {
  for (const WireKind kind : {WireKind::ring, WireKind::mapped, WireKind::roce}) {
    if (name == to_string(kind)) {
      return kind;
    }
  }
  return {};
}

Result<Wires> Wires::create_both(Runtime& runtime, fabric::nic::LinkOwner& owner, WireKind fabric,
                                 std::uint32_t max_links, const fabric::nic::roce::IpEndpoint& at,
                                 fabric::nic::roce::RoceNetOptions options) {
  options.is_second = true;
  REMORA_TRY_RESULT(net, RoceNet::listen(runtime, owner, at, options));
  REMORA_TRY_RESULT(
      both, create(runtime, &owner, fabric, {.max_links = max_links, .gid = (*net)->wire().gid()}));
  both->net_ = std::move(net).value();
  both->joined_ =
      std::make_unique<fabric::nic::joined::JoinedWire>(both->wire(), both->net_->wire());
  return both;
}

Result<Wires> Wires::listen_at(Runtime& runtime, fabric::nic::LinkOwner& owner,
                               const fabric::nic::roce::IpEndpoint& at,
                               const fabric::nic::roce::RoceNetOptions& options) {
  REMORA_TRY_RESULT(net, RoceNet::listen(runtime, owner, at, options));
  Wires wire;
  wire.net_ = std::move(net).value();
  return wire;
}

Task<Result<Wires>> Wires::connect_to(Runtime& runtime, fabric::nic::LinkOwner& owner,
                                      fabric::nic::roce::IpEndpoint to,
                                      fabric::nic::roce::RoceNetOptions options) {
  REMORA_CO_TRY_RESULT(net, co_await RoceNet::connect(runtime, owner, to, std::move(options)));
  Wires wire;
  wire.net_ = std::move(net).value();
  co_return wire;
}

Result<Wires> Wires::create(Runtime& runtime, fabric::nic::LinkOwner* owner, WireKind fabric,
                            const fabric::nic::ring::RingWireOptions& options) {
  Wires wire;
  if (fabric == WireKind::mapped) {
    REMORA_TRY_RESULT(made, MappedWire::create(runtime, owner, {.ring = options}));
    wire.mapped_ = std::move(made).value();
    return wire;
  }
  REMORA_TRY_RESULT(made, RingWire::create(runtime, owner, options));
  wire.ring_ = std::move(made).value();
  return wire;
}

}  // namespace remora::link
