// Empty where the library is not installed.
#ifdef REMORA_LIBFABRIC

#include "bench/nic/peers/libfabric_end.h"

#include <rdma/fi_errno.h>

#include <cstring>
#include <string>

namespace remora::bench {
namespace {

constexpr std::uint64_t both_sides = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

// Keeps what an open call made, or tells why it made nothing.
template <typename T, typename Open>
Status keep(FabricObject<T>& kept, const char* call, Open open) {
  T* made = nullptr;
  if (const int error = open(&made); error != 0) {
    return libfabric_failure(call, error);
  }
  kept.reset(made);
  return Status();
}

}  // namespace

Status libfabric_failure(const char* call, std::int64_t error) {
  return Status(Code::io_error, std::string(call) + ": " + fi_strerror(static_cast<int>(-error)));
}

Result<std::unique_ptr<LibfabricEnd>> LibfabricEnd::open(Bytes memory, const char* provider,
                                                         const char* address) {
  std::unique_ptr<LibfabricEnd> end(new LibfabricEnd);
  const std::unique_ptr<fi_info, InfoFreer> wanted(fi_allocinfo());
  wanted->caps = FI_RMA | FI_MSG;
  wanted->ep_attr->type = FI_EP_RDM;
  wanted->fabric_attr->prov_name = strdup(provider);
  wanted->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  wanted->domain_attr->threading = FI_THREAD_DOMAIN;
  wanted->tx_attr->op_flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
  fi_info* found = nullptr;
  if (const int error = fi_getinfo(FI_VERSION(1, 17), address, nullptr,
                                   address == nullptr ? 0 : FI_SOURCE, wanted.get(), &found);
      error != 0) {
    return libfabric_failure("fi_getinfo of the provider", error);
  }
  end->info_.reset(found);
  REMORA_TRY(end->open_objects(memory));
  return end;
}

Status LibfabricEnd::open_objects(Bytes memory) {
  memory_ = memory;
  fi_av_attr av_attributes{};
  av_attributes.type = FI_AV_TABLE;
  fi_cq_attr cq_attributes{};
  cq_attributes.format = FI_CQ_FORMAT_CONTEXT;
  REMORA_TRY(keep(fabric_, "fi_fabric",
                  [&](fid_fabric** made) { return fi_fabric(info_->fabric_attr, made, nullptr); }));
  REMORA_TRY(keep(domain_, "fi_domain", [&](fid_domain** made) {
    return fi_domain(fabric_.get(), info_.get(), made, nullptr);
  }));
  REMORA_TRY(keep(addresses_, "fi_av_open", [&](fid_av** made) {
    return fi_av_open(domain_.get(), &av_attributes, made, nullptr);
  }));
  REMORA_TRY(keep(completions_, "fi_cq_open", [&](fid_cq** made) {
    return fi_cq_open(domain_.get(), &cq_attributes, made, nullptr);
  }));
  REMORA_TRY(keep(registration_, "fi_mr_reg", [&](fid_mr** made) {
    return fi_mr_reg(domain_.get(), memory.data(), memory.size(), both_sides, 0, 1, 0, made,
                     nullptr);
  }));
  REMORA_TRY(keep(endpoint_, "fi_endpoint", [&](fid_ep** made) {
    return fi_endpoint(domain_.get(), info_.get(), made, nullptr);
  }));
  if (const int error = fi_ep_bind(endpoint_.get(), &addresses_->fid, 0); error != 0) {
    return libfabric_failure("fi_ep_bind of addresses", error);
  }
  if (const int error = fi_ep_bind(endpoint_.get(), &completions_->fid, FI_TRANSMIT | FI_RECV);
      error != 0) {
    return libfabric_failure("fi_ep_bind of completions", error);
  }
  const int error = fi_enable(endpoint_.get());
  return error == 0 ? Status() : libfabric_failure("fi_enable", error);
}

Result<LibfabricAddress> LibfabricEnd::address() const {
  LibfabricAddress address;
  std::size_t size_bytes = address.name.size();
  if (const int error = fi_getname(&endpoint_->fid, address.name.data(), &size_bytes); error != 0) {
    return libfabric_failure("fi_getname", error);
  }
  const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  address.memory = by_address ? reinterpret_cast<std::uintptr_t>(memory_.data()) : 0;
  address.key = fi_mr_key(registration_.get());
  return address;
}

Result<fi_addr_t> LibfabricEnd::connect(const LibfabricAddress& peer) {
  fi_addr_t address = FI_ADDR_UNSPEC;
  const int inserted = fi_av_insert(addresses_.get(), peer.name.data(), 1, &address, 0, nullptr);
  if (inserted != 1) {
    return libfabric_failure("fi_av_insert", inserted < 0 ? inserted : -FI_EINVAL);
  }
  return address;
}

}  // namespace remora::bench

#endif  // REMORA_LIBFABRIC
