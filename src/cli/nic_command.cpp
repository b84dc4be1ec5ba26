// remora nic: info, the device, what it can do, and how; pingpong.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/size_text.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/nic_calibrate.h"
#include "cli/nic_pingpong/command.h"
#include "fabric/nic/wire/joined/mapped_wire.h"
#include "fabric/nic/wire/ring/ring_wire.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "fabric/verbs/device_list.h"
#include "fabric/verbs/gid_choice.h"
#include "fabric/verbs/verbs_device.h"
#include "lab/measured/nic/roce_target.h"
#include "lab/measured/nic/side.h"
#include "runtime/poll_loop.h"
#include "runtime/virtual_loop.h"

namespace remora::cli {
namespace {

using fabric::Capability;
using fabric::DeviceAttributes;
using fabric::Support;

std::string_view to_text(Support support) {
  switch (support) {
    case Support::none:
      return "none";
    case Support::emulated:
      return "emulated";
    case Support::native:
      return "native";
  }
  return "unknown";
}

std::string_view to_text(fabric::PlacementOrder order) {
  return order == fabric::PlacementOrder::ascending ? "in ascending order"
                                                    : "in any order, its last word last";
}

Result<DeviceAttributes> ring_attributes() {
  PollLoop loop;
  REMORA_TRY_RESULT(wire, fabric::nic::ring::RingWire::create(loop, nullptr));
  fabric::nic::PlainDma dma;
  const fabric::nic::Nic nic(loop, **wire, dma);
  return nic.attributes();
}

Result<DeviceAttributes> mapped_attributes() {
  PollLoop loop;
  REMORA_TRY_RESULT(wire, fabric::nic::joined::MappedWire::create(loop, nullptr));
  fabric::nic::PlainDma dma;
  const fabric::nic::Nic nic(loop, (*wire)->wire(), dma);
  return nic.attributes();
}

Result<DeviceAttributes> roce_attributes() {
  PollLoop loop;
  REMORA_TRY_RESULT(wire, lab::loopback_roce_wire());
  fabric::nic::PlainDma dma;
  const fabric::nic::Nic nic(loop, **wire, dma);
  return nic.attributes();
}

Result<DeviceAttributes> sim_attributes(const std::string& profile) {
  REMORA_TRY_RESULT(nic_profile, fabric::nic::sim::load_nic_profile(profile));
  REMORA_TRY_RESULT(memory, fabric::nic::sim::load_memory_profile("optane"));
  VirtualLoop loop({.seed = 1});
  fabric::nic::sim::SimNetwork network(loop, *nic_profile, *memory, Random(1));
  fabric::nic::PlainDma dma;
  const fabric::nic::Nic nic(loop, network.add_node(), dma);
  return nic.attributes();
}

Result<DeviceAttributes> verbs_attributes(const fabric::verbs::VerbsOptions& options) {
  REMORA_TRY_RESULT(device, fabric::verbs::VerbsDevice::open(options));
  return (*device)->attributes();
}

// The RDMA devices of this machine: each can be asked about as a wire.
void print_verbs_devices() {
  const std::vector<std::string> names = fabric::verbs::device_names();
  if (names.empty()) {
    fmt::print("RDMA devices      none\n");
  }
  for (const std::string& name : names) {
    fmt::print("RDMA device       {} (--wire verbs:{})\n", name, name);
  }
}

void print_table(const DeviceAttributes& device) {
  fmt::print("device            {}\n", device.name);
  fmt::print("wire              {}\n", device.wire);
  if (device.wire.starts_with("verbs")) {
    fmt::print("address           {}\n", fabric::verbs::to_text(device.gid));
  }
  fmt::print("path MTU          {}\n", format_size(device.path_mtu_bytes));
  fmt::print("largest message   {}\n", format_size(device.max_message_bytes));
  fmt::print("queue pairs       {}\n", device.max_queue_pairs);
  fmt::print("work requests     {} per queue, {} pieces, {} inline\n", device.max_work_requests,
             device.max_pieces, format_size(device.max_inline_bytes));
  fmt::print("completions       {} per queue\n", device.max_completions);
  fmt::print("memory regions    {}\n", device.max_regions);
  fmt::print("reads in flight   {} per queue pair\n", device.max_reads_in_flight);
  if (device.max_datagram_bytes != 0) {
    fmt::print("largest datagram  {}\n", format_size(device.max_datagram_bytes));
  }
  fmt::print("a WRITE appears   {}\n", to_text(device.placement_order));
  fmt::print("a flushed WRITE   {}\n", to_string(device.flush_worth));
  fmt::print("capabilities\n");
  for (const Capability& capability : device.capabilities) {
    fmt::print("  {:24} {:9} {}\n", capability.name, to_text(capability.support), capability.how);
  }
}

nlohmann::ordered_json durable_json(const DeviceAttributes& device) {
  nlohmann::ordered_json verbs = nlohmann::ordered_json::object();
  for (const fabric::DurableVerb verb : fabric::durable_verbs) {
    verbs[std::string(to_string(verb))] = to_text(device.durable[static_cast<std::size_t>(verb)]);
  }
  return verbs;
}

nlohmann::ordered_json to_json(const DeviceAttributes& device) {
  nlohmann::ordered_json capabilities = nlohmann::ordered_json::array();
  for (const Capability& capability : device.capabilities) {
    capabilities.push_back({{"name", capability.name},
                            {"support", to_text(capability.support)},
                            {"how", capability.how}});
  }
  return {{"device", device.name},
          {"wire", device.wire},
          {"gid", fabric::verbs::to_text(device.gid)},
          {"path_mtu_bytes", device.path_mtu_bytes},
          {"max_message_bytes", device.max_message_bytes},
          {"max_queue_pairs", device.max_queue_pairs},
          {"max_work_requests", device.max_work_requests},
          {"max_pieces", device.max_pieces},
          {"max_inline_bytes", device.max_inline_bytes},
          {"max_completions", device.max_completions},
          {"max_regions", device.max_regions},
          {"max_reads_in_flight", device.max_reads_in_flight},
          {"max_datagram_bytes", device.max_datagram_bytes},
          {"placement_order", to_text(device.placement_order)},
          {"flush_worth", to_string(device.flush_worth)},
          {"durable_verbs", durable_json(device)},
          {"capabilities", capabilities},
          {"verbs_devices", fabric::verbs::device_names()}};
}

int info(const std::string& wire, const std::string& profile, bool json) {
  const auto verbs = fabric::verbs::parse_wire(wire);
  if (wire != "ring" && wire != "mapped" && wire != "roce" && wire != "sim" && !verbs) {
    return fail(Status(Code::invalid_argument, "unknown wire '" + wire +
                                                   "'; choose ring, mapped, roce, sim or "
                                                   "verbs[:DEVICE]"));
  }
  Result<DeviceAttributes> device = verbs              ? verbs_attributes(*verbs)
                                    : wire == "ring"   ? ring_attributes()
                                    : wire == "mapped" ? mapped_attributes()
                                    : wire == "roce"   ? roce_attributes()
                                                       : sim_attributes(profile);
  if (!device.ok()) {
    return fail(device.status());
  }
  if (json) {
    print_json(to_json(*device));
  } else {
    print_table(*device);
    print_verbs_devices();
  }
  return exit_kept;
}

struct NicArguments {
  std::string wire = "ring";
  std::string profile = "connectx-5";
  bool json = false;
};

}  // namespace

void add_nic_command(CLI::App& app, int& exit_status) {
  CLI::App* nic = app.add_subcommand("nic", "The software RNIC, and RDMA devices");
  nic->require_subcommand(1);
  CLI::App* command = nic->add_subcommand("info", "The device, what it can do, and how");
  const auto arguments = std::make_shared<NicArguments>();
  command->add_option("--wire", arguments->wire, "ring, mapped, roce, sim or verbs[:DEVICE]")
      ->capture_default_str();
  command->add_option("--profile", arguments->profile, "NIC of the simulated world, or a path")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit_status] {
    exit_status = info(arguments->wire, arguments->profile, arguments->json);
  });
  add_pingpong_command(*nic, exit_status);
  add_calibrate_command(*nic, exit_status);
}

}  // namespace remora::cli
