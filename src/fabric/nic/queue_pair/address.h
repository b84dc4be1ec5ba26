// Address: an address handle of the software RNIC, and the link that leads there. A link may go
// down, and another one come up.
#pragma once

#include <optional>

#include "fabric/datagram.h"
#include "fabric/nic/limits.h"
#include "fabric/nic/translation/memory.h"
#include "fabric/nic/translation/table.h"
#include "fabric/nic/wire.h"

namespace remora::fabric::nic {

class Address;
using Addresses = Table<Address, limits::address_index_bits, 32>;

class Address final : public AddressHandle {
 public:
  Address(Addresses& all, DomainId domain, const Gid& peer)
      : all_(all), domain_(domain), peer_(peer) {}
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  ~Address() override {
    if (number_ != 0) {
      all_.remove(number_);
    }
  }

  // False when the device has no number left.
  bool add(Keys& keys) {
    number_ = all_.add(*this, keys);
    return number_ != 0;
  }
  std::uint32_t number() const override { return number_; }
  DomainId domain() const { return domain_; }

  // The link there, if there is one now.
  std::optional<LinkId> link(const Wire& wire) {
    if (!link_) {
      link_ = wire.link_to(peer_);
    }
    return link_;
  }
  void link_down(LinkId link) {
    if (link_ == link) {
      link_.reset();
    }
  }

 private:
  Addresses& all_;
  const DomainId domain_;
  const Gid peer_;
  std::uint32_t number_ = 0;
  std::optional<LinkId> link_;
};

}  // namespace remora::fabric::nic
