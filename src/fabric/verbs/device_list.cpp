#include "fabric/verbs/device_list.h"

#include <cerrno>
#include <span>

namespace remora::fabric::verbs {
namespace {

class DeviceList {
 public:
  DeviceList() : list_(ibv_get_device_list(&count_)) {}
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList() {
    if (list_ != nullptr) {
      ibv_free_device_list(list_);
    }
  }
  std::span<ibv_device*> all() const {
    return {list_, list_ == nullptr ? 0 : static_cast<std::size_t>(count_)};
  }

 private:
  int count_ = 0;
  ibv_device** list_;
};

Result<OpenContext> open_one(ibv_device* device) {
  OpenContext context(ibv_open_device(device));
  if (context == nullptr) {
    return os_failure(std::string("cannot open the RDMA device ") + ibv_get_device_name(device),
                      errno);
  }
  return context;
}

std::string names_as_text(std::span<ibv_device*> devices) {
  std::string text;
  for (ibv_device* device : devices) {
    text += (text.empty() ? "" : ", ") + std::string(ibv_get_device_name(device));
  }
  return text;
}

}  // namespace

std::vector<std::string> device_names() {
  const DeviceList devices;
  std::vector<std::string> names;
  for (ibv_device* device : devices.all()) {
    names.emplace_back(ibv_get_device_name(device));
  }
  return names;
}

Status no_device() {
  return Status(Code::unsupported,
                "this machine has no RDMA device; a Linux kernel with Soft-RoCE makes one from any "
                "network card: modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0");
}

std::uint8_t active_port(ibv_context* context) {
  ibv_device_attr device = {};
  if (ibv_query_device(context, &device) != 0) {
    return 0;
  }
  for (std::uint8_t number = 1; number <= device.phys_port_cnt; ++number) {
    ibv_port_attr port = {};
    if (ibv_query_port(context, number, &port) == 0 && port.state == IBV_PORT_ACTIVE) {
      return number;
    }
  }
  return 0;
}

Result<OpenContext> open_device(const std::string& name) {
  const DeviceList devices;
  if (devices.all().empty()) {
    return no_device();
  }
  for (ibv_device* device : devices.all()) {
    if (name == ibv_get_device_name(device)) {
      return open_one(device);
    }
  }
  if (!name.empty()) {
    return Status(Code::not_found, "there is no RDMA device '" + name + "'; there is " +
                                       names_as_text(devices.all()));
  }
  for (ibv_device* device : devices.all()) {
    Result<OpenContext> context = open_one(device);
    if (context.ok() && active_port(context->get()) != 0) {
      return context;
    }
  }
  return open_one(devices.all().front());
}

}  // namespace remora::fabric::verbs
