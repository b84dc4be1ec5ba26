// Empty where the library is not installed.
#ifdef REMORA_UCX

#include "bench/nic/peers/ucx_end.h"

#include <ucs/async/async_fwd.h>

#include <vector>

#include "base/check.h"

namespace remora::bench {
namespace {

Status check(const char* call, ucs_status_t status) {
  return status == UCS_OK ? Status() : ucx_failure(call, status);
}

// Whether the component has a memory domain of that name.
bool has_domain(uct_component_h component, const std::string& name) {
  uct_component_attr_t attributes{};
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (uct_component_query(component, &attributes) != UCS_OK) {
    return false;
  }
  std::vector<uct_md_resource_desc_t> domains(attributes.md_resource_count);
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attributes.md_resources = domains.data();
  if (domains.empty() || uct_component_query(component, &attributes) != UCS_OK) {
    return false;
  }
  for (const uct_md_resource_desc_t& domain : domains) {
    if (name == domain.md_name) {
      return true;
    }
  }
  return false;
}

}  // namespace

Status ucx_failure(const char* call, ucs_status_t status) {
  return Status(Code::io_error, std::string(call) + ": " + ucs_status_string(status));
}

Result<std::unique_ptr<UcxEnd>> UcxEnd::open(const std::string& transport,
                                             const std::string& device) {
  std::unique_ptr<UcxEnd> end(new UcxEnd);
  REMORA_TRY(end->open_domain(transport));
  REMORA_TRY(end->open_interface(transport, device));
  return end;
}

Status UcxEnd::open_domain(const std::string& transport) {
  uct_component_h* components = nullptr;
  unsigned count = 0;
  REMORA_TRY(check("uct_query_components", uct_query_components(&components, &count)));
  for (unsigned i = 0; i < count && component_ == nullptr; ++i) {
    if (has_domain(components[i], transport)) {
      component_ = components[i];
    }
  }
  uct_release_component_list(components);
  if (component_ == nullptr) {
    return Status(Code::unsupported, "this UCX has no transport " + transport + " here");
  }
  uct_md_config_t* config = nullptr;
  REMORA_TRY(
      check("uct_md_config_read", uct_md_config_read(component_, nullptr, nullptr, &config)));
  const ucs_status_t status = uct_md_open(component_, transport.c_str(), config, &domain_);
  uct_config_release(config);
  return check("uct_md_open", status);
}

Status UcxEnd::open_interface(const std::string& transport, const std::string& device) {
  REMORA_TRY(check("ucs_async_context_create",
                   ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async_)));
  REMORA_TRY(
      check("uct_worker_create", uct_worker_create(async_, UCS_THREAD_MODE_SINGLE, &worker_)));
  uct_iface_config_t* config = nullptr;
  REMORA_TRY(
      check("uct_md_iface_config_read",
            uct_md_iface_config_read(domain_, transport.c_str(), nullptr, nullptr, &config)));
  uct_iface_params_t parameters{};
  parameters.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
  parameters.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
  parameters.mode.device.tl_name = transport.c_str();
  parameters.mode.device.dev_name = device.c_str();
  const ucs_status_t status = uct_iface_open(domain_, worker_, &parameters, config, &interface_);
  uct_config_release(config);
  REMORA_TRY(check("uct_iface_open", status));
  uct_iface_progress_enable(interface_, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
  return Status();
}

UcxEnd::~UcxEnd() {
  if (endpoint_ != nullptr) {
    uct_ep_destroy(endpoint_);
  }
  if (key_) {
    uct_rkey_release(component_, &*key_);
  }
  if (registered_ != nullptr) {
    uct_md_mem_dereg(domain_, registered_);
  }
  if (allocated_) {
    uct_mem_free(&*allocated_);
  }
  if (interface_ != nullptr) {
    uct_iface_close(interface_);
  }
  if (worker_ != nullptr) {
    uct_worker_destroy(worker_);
  }
  if (async_ != nullptr) {
    ucs_async_context_destroy(async_);
  }
  if (domain_ != nullptr) {
    uct_md_close(domain_);
  }
}

Status UcxEnd::allocate(std::size_t size_bytes) {
  const uct_alloc_method_t method = UCT_ALLOC_METHOD_MD;
  uct_mem_alloc_params_t parameters{};
  parameters.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                          UCT_MEM_ALLOC_PARAM_FIELD_MDS | UCT_MEM_ALLOC_PARAM_FIELD_NAME;
  parameters.flags = UCT_MD_MEM_ACCESS_ALL;
  parameters.mem_type = UCS_MEMORY_TYPE_HOST;
  parameters.mds.mds = &domain_;
  parameters.mds.count = 1;
  parameters.name = "nic";
  uct_allocated_memory_t allocated{};
  REMORA_TRY(
      check("uct_mem_alloc", uct_mem_alloc(size_bytes, &method, 1, &parameters, &allocated)));
  allocated_ = allocated;
  memory_ = Bytes(static_cast<std::byte*>(allocated.address), size_bytes);
  return Status();
}

Status UcxEnd::register_memory(Bytes memory) {
  memory_ = memory;
  return check("uct_md_mem_reg", uct_md_mem_reg(domain_, memory.data(), memory.size(),
                                                UCT_MD_MEM_ACCESS_ALL, &registered_));
}

Result<UcxAddress> UcxEnd::address() const {
  UcxAddress address;
  uct_iface_attr_t interface {};
  uct_md_attr_t domain{};
  if (Status status = check("uct_iface_query", uct_iface_query(interface_, &interface));
      !status.ok()) {
    return status;
  }
  REMORA_TRY(check("uct_md_query", uct_md_query(domain_, &domain)));
  REMORA_CHECK(interface.device_addr_len <= address.device.size() &&
                   interface.iface_addr_len <= address.interface.size() &&
                   domain.rkey_packed_size <= address.key.size(),
               "addresses of UCT have room");
  const ucs_status_t packed[] = {
      uct_iface_get_device_address(interface_,
                                   reinterpret_cast<uct_device_addr_t*>(address.device.data())),
      uct_iface_get_address(interface_,
                            reinterpret_cast<uct_iface_addr_t*>(address.interface.data())),
      uct_md_mkey_pack(domain_, allocated_ ? allocated_->memh : registered_, address.key.data())};
  for (const ucs_status_t status : packed) {
    if (status != UCS_OK) {
      return ucx_failure("uct_iface_get_address or uct_md_mkey_pack", status);
    }
  }
  address.memory = reinterpret_cast<std::uintptr_t>(memory_.data());
  return address;
}

Status UcxEnd::connect(const UcxAddress& peer) {
  uct_ep_params_t parameters{};
  parameters.field_mask =
      UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
  parameters.iface = interface_;
  parameters.dev_addr = reinterpret_cast<const uct_device_addr_t*>(peer.device.data());
  parameters.iface_addr = reinterpret_cast<const uct_iface_addr_t*>(peer.interface.data());
  REMORA_TRY(check("uct_ep_create", uct_ep_create(&parameters, &endpoint_)));
  uct_rkey_bundle_t key{};
  REMORA_TRY(check("uct_rkey_unpack", uct_rkey_unpack(component_, peer.key.data(), &key)));
  key_ = key;
  return Status();
}

Result<std::byte*> UcxEnd::mapped(std::uint64_t remote_address) {
  void* here = nullptr;
  const ucs_status_t status = uct_rkey_ptr(component_, &*key_, remote_address, &here);
  if (status != UCS_OK) {
    return ucx_failure("uct_rkey_ptr", status);
  }
  return static_cast<std::byte*>(here);
}

}  // namespace remora::bench

#endif  // REMORA_UCX
