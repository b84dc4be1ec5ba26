// Wires: how a store and its clients reach each other. Processes of one host do so by rings in
// shared memory alone, or with the short way around them (fabric/nic/wire/mapped); a process with
// one of them serves and reaches processes with either. Between hosts it is RoCE over UDP
// (fabric/nic/wire/roce). A store may have both at once. Chosen once.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "fabric/nic/wire/joined/joined_wire.h"
#include "fabric/nic/wire/joined/mapped_wire.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "fabric/nic/wire/roce/roce_net.h"
#include "fabric/queue_pair.h"

namespace remora::link {

// Through an RDMA device, which may be an emulated machine's.
inline constexpr fabric::ConnectOptions rdma_connect = {.timeout_ns = 500'000'000};

// How long queue pairs here wait for a peer that stands still. Between processes of one host
// nothing is lost and death is noticed at once; but a busy machine lets anybody stand still for a
// while.
inline constexpr fabric::ConnectOptions patient_connect = {.timeout_ns = 1'000'000'000};
// Between hosts packets get lost, and are sent again soon; a peer that stands still gets as long.
inline constexpr fabric::ConnectOptions network_connect = {.timeout_ns = 50'000'000,
                                                           .retry_count = 140};

enum class WireKind : std::uint8_t { ring, mapped, roce };

std::string_view to_string(WireKind kind);
// "ring", "mapped" or "roce"; nothing for another name.
std::optional<WireKind> parse_wire_kind(std::string_view name);

class Wires {
 public:
  // As RingWire::create.
  static Result<Wires> create(Runtime& runtime, fabric::nic::LinkOwner* owner, WireKind fabric,
                              const fabric::nic::ring::RingWireOptions& options = {});

  // Between hosts: the store's side, and a client's, which is linked when this has ended. Of the
  // options the store's take the links of other hosts and TLS.
  static Result<Wires> listen_at(Runtime& runtime, fabric::nic::LinkOwner& owner,
                                 const fabric::nic::roce::IpEndpoint& at,
                                 const fabric::nic::roce::RoceNetOptions& options);
  // Both, for a store: with so many links of this host.
  static Result<Wires> create_both(Runtime& runtime, fabric::nic::LinkOwner& owner, WireKind fabric,
                                   std::uint32_t max_links, const fabric::nic::roce::IpEndpoint& at,
                                   fabric::nic::roce::RoceNetOptions options);
  static Task<Result<Wires>> connect_to(Runtime& runtime, fabric::nic::LinkOwner& owner,
                                        fabric::nic::roce::IpEndpoint to,
                                        fabric::nic::roce::RoceNetOptions options = {});

  // Of one host; only where there is one.
  fabric::nic::ring::RingWire& wire() { return mapped_ ? mapped_->wire() : *ring_; }

  // That a device is made on.
  fabric::nic::Wire& device_wire() {
    if (joined_) {
      return *joined_;
    }
    return net_ ? static_cast<fabric::nic::Wire&>(net_->wire()) : wire();
  }
  // Whether this link, of a wire with both kinds, comes from the network.
  bool is_network(fabric::nic::LinkId link) const {
    return net_ && (!joined_ || (link & fabric::nic::link_of_second_wire) != 0);
  }
  // A client's link to the store's host; nothing on one host, where it has yet to connect.
  std::optional<fabric::nic::LinkId> network_link() const {
    return net_ ? std::optional(net_->link()) : std::nullopt;
  }
  std::optional<fabric::nic::roce::IpEndpoint> network_endpoint() const {
    return net_ ? std::optional(net_->wire().local()) : std::nullopt;
  }
  Status send_control(fabric::nic::LinkId link, ConstBytes bytes) {
    return is_network(link) ? net_->send_control(link, bytes) : wire().send_control(link, bytes);
  }
  void cut_off(fabric::nic::LinkId link) {
    is_network(link) ? net_->cut_off(link) : wire().cut_off(link);
  }
  // Peers that reach memory of this process by themselves.
  std::size_t mapped_peers() const { return mapped_ ? mapped_->granted_peers() : 0; }

 private:
  Wires() = default;

  // Members are destroyed from the last to the first.
  std::unique_ptr<fabric::nic::ring::RingWire> ring_;  // one of these two, the third, or both
  std::unique_ptr<fabric::nic::joined::MappedWire> mapped_;
  std::unique_ptr<fabric::nic::roce::RoceNet> net_;
  std::unique_ptr<fabric::nic::joined::JoinedWire> joined_;
};

}  // namespace remora::link
