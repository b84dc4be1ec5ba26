#include "rpc/designs/design.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace remora::rpc {

std::string_view to_string(RequestVerb verb) {
  switch (verb) {
    case RequestVerb::write:
      return "WRITE";
    case RequestVerb::send:
      return "SEND";
    case RequestVerb::write_imm:
      return "WRITE with IMM";
  }
  return "";
}

std::string_view to_string(fabric::Transport transport) {
  switch (transport) {
    case fabric::Transport::rc:
      return "RC";
    case fabric::Transport::uc:
      return "UC";
    case fabric::Transport::ud:
      return "UD";
  }
  return "";
}

Task<Status> DesignClient::persistent(std::uint32_t slot, Kind kind, std::size_t size_bytes) {
  if (slot >= options_.window) {
    co_return Status(Code::invalid_argument,
                     fmt::format("there are {} calls in flight at most", options_.window));
  }
  if (size_bytes > options_.body_bytes) {
    co_return Status(Code::invalid_argument,
                     fmt::format("a call of {} bytes is longer than the {} that this connection "
                                 "carries",
                                 size_bytes, options_.body_bytes));
  }
  co_return co_await begin(slot, kind, size_bytes);
}

Task<Result<ConstBytes>> DesignClient::call(std::uint32_t slot, Kind kind, std::size_t size_bytes) {
  const Status status = co_await persistent(slot, kind, size_bytes);
  if (!status.ok()) {
    co_return status;
  }
  co_return co_await result(slot);
}

std::string design_names() {
  std::vector<std::string_view> names;
  for (const Design* design : designs()) {
    names.push_back(design->descriptor.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<const Design*> find_design(std::string_view name) {
  for (const Design* design : designs()) {
    if (design->descriptor.name == name) {
      return design;
    }
  }
  return Status(Code::invalid_argument,
                fmt::format("unknown RPC design '{}'; choose {}", name, design_names()));
}

Result<std::unique_ptr<Server>> serve(const Design& design, const Host& host, Service& service,
                                      const DesignOptions& options) {
  if (options.window == 0 || options.window > most_window) {
    return Status(Code::invalid_argument,
                  fmt::format("a client has 1 to {} calls in flight", most_window));
  }
  const std::size_t most = design.most_body_bytes(host.device());
  if (options.body_bytes > most) {
    return Status(most == 0 ? Code::unsupported : Code::invalid_argument,
                  fmt::format("{} carries {} bytes at most on this device, not {}",
                              design.descriptor.name, most, options.body_bytes));
  }
  REMORA_TRY_RESULT(ends, design.serve(host, options));
  return Server::create(host, service,
                        {.most_clients = options.most_clients, .connect = options.connect},
                        std::move(ends).value());
}

}  // namespace remora::rpc
