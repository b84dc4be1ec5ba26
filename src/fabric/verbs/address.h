// Address: an address handle of a verbs device; and who sent a datagram, from what the device puts
// before its message.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "fabric/datagram.h"
#include "fabric/verbs/domain.h"

namespace remora::fabric::verbs {

class Context;

class Address final : public AddressHandle {
 public:
  static Result<std::unique_ptr<AddressHandle>> create(const Context& context,
                                                       std::shared_ptr<DomainCore> domain,
                                                       const Gid& peer);
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  ~Address() override;

  std::uint32_t number() const override { return number_; }

 private:
  explicit Address(std::shared_ptr<DomainCore> domain) : domain_(std::move(domain)) {}

  const std::shared_ptr<DomainCore> domain_;
  ibv_ah* handle_ = nullptr;
  std::uint32_t number_ = 0;
};

// The way to that peer.
ibv_ah_attr way_to(const Context& context, const Gid& peer);

// The header of the contract, in the place of the device's: a GRH, or 20 bytes of nothing and an
// IPv4 header; or nothing at all on InfiniBand, where the completion has the LID.
void write_header(const Context& context, const ibv_wc& completion, std::byte* header);

}  // namespace remora::fabric::verbs
