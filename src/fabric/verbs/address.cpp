#include "fabric/verbs/address.h"

#include <cerrno>
#include <cstring>

#include "fabric/verbs/context.h"
#include "fabric/verbs/gid_choice.h"

namespace remora::fabric::verbs {
namespace {

constexpr std::uint8_t hop_limit = 64;
constexpr std::size_t ipv4_header = 20;
constexpr std::size_t ipv4_sender = ipv4_header + 12;
constexpr std::size_t grh_sender = 8;
constexpr std::size_t ipv4_in_gid = 12;

// ::ffff:a.b.c.d
Gid gid_of_ipv4(const std::byte* address) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  std::memcpy(gid.data() + ipv4_in_gid, address, 4);
  return gid;
}

}  // namespace

ibv_ah_attr way_to(const Context& context, const Gid& peer) {
  ibv_ah_attr way = {};
  way.port_num = context.port();
  if (context.is_infiniband()) {
    way.dlid = lid_of(peer);
  } else {
    way.is_global = 1;
    std::memcpy(way.grh.dgid.raw, peer.data(), peer.size());
    way.grh.sgid_index = static_cast<std::uint8_t>(context.gid_index());
    way.grh.hop_limit = hop_limit;
  }
  return way;
}

Result<std::unique_ptr<AddressHandle>> Address::create(const Context& context,
                                                       std::shared_ptr<DomainCore> domain,
                                                       const Gid& peer) {
  std::unique_ptr<Address> made(new Address(std::move(domain)));
  ibv_ah_attr way = way_to(context, peer);
  made->handle_ = ibv_create_ah(made->domain_->domain(), &way);
  if (made->handle_ == nullptr) {
    return Status(Code::not_found, context.attributes().name + " does not reach the peer " +
                                       to_text(peer) + ": " + std::strerror(errno));
  }
  made->number_ = made->domain_->add(made->handle_);
  return std::unique_ptr<AddressHandle>(std::move(made));
}

Address::~Address() {
  if (handle_ != nullptr) {
    domain_->remove_address(number_);
    ibv_destroy_ah(handle_);
  }
}

void write_header(const Context& context, const ibv_wc& completion, std::byte* header) {
  DatagramHeader made = {.from_number = completion.src_qp, .to = context.attributes().gid};
  if ((completion.wc_flags & IBV_WC_GRH) == 0) {
    made.from = with_lid(made.to, completion.slid);
  } else if (const auto version = std::to_integer<unsigned>(header[ipv4_header]) >> 4;
             is_ipv4(made.to) && version == 4) {
    made.from = gid_of_ipv4(header + ipv4_sender);
  } else {
    std::memcpy(made.from.data(), header + grh_sender, made.from.size());
  }
  std::memcpy(header, &made, sizeof made);
}

}  // namespace remora::fabric::verbs
