#include "cli/product/explain.h"

#include <fmt/core.h>

#include <memory>

#include "cli/exit_status.h"
#include "cli/product/client_commands.h"
#include "fabric/verbs/gid_choice.h"
#include "fabric/verbs/verbs_device.h"
#include "pmem/file_handle.h"
#include "pmem/open_region.h"

namespace remora::cli {
namespace {

struct MediumFacts {
  std::string granularity;
  std::string method;
  std::string reason;
  bool survives = false;
};

std::string domain_of(const MediumFacts& medium) {
  if (!medium.survives) {
    return "none: memory that a power cut empties";
  }
  if (medium.granularity == "byte") {
    return "the CPU caches belong to it (eADR): what is visible is persistent";
  }
  if (medium.granularity == "page") {
    return "the disk: what the kernel has written there and the disk has confirmed";
  }
  return "the memory controller (ADR): what has left the caches is persistent";
}

std::string unit_of(const MediumFacts& medium) {
  if (medium.granularity == "page") {
    return "page: puts that come together share one write to the disk (group commit)";
  }
  return medium.granularity == "byte" ? "byte" : "cache line: 64 bytes, written back one by one";
}

void explain_medium(const MediumFacts& medium) {
  fmt::print("persistence domain  {}\n", domain_of(medium));
  fmt::print("granularity         {}\n", unit_of(medium));
  fmt::print("flush method        {}\n", medium.method);
  fmt::print("why                 {}\n", medium.reason);
}

void explain_put(const MediumFacts& medium, bool at_once) {
  const char* const survives = medium.survives
                                   ? "survives kill -9, a crash and a power cut"
                                   : "survives kill -9 if the memory is a file, but no power cut";
  if (at_once) {
    fmt::print("put                 acknowledged: it {}\n", survives);
    return;
  }
  fmt::print(
      "put                 acknowledged: every later get sees it. The store makes it persistent\n"
      "                    by itself a moment later; until then a power cut may lose it, wholly,\n"
      "                    never torn, and never after a get has returned it\n");
  fmt::print("put --persistent    acknowledged: it {}\n", survives);
}

using fabric::verbs::VerbsDevice;

Result<std::unique_ptr<VerbsDevice>> device_of(const std::string& wire) {
  const auto options = fabric::verbs::parse_wire(wire);
  if (!options) {
    return Status(Code::invalid_argument, "unknown wire '" + wire + "'; choose verbs[:DEVICE]");
  }
  return VerbsDevice::open(*options);
}

// What an RDMA device makes of a pool that is reached through it.
void explain_device(const VerbsDevice& device, const Strategy& strategy) {
  const fabric::DeviceAttributes& attributes = device.attributes();
  fmt::print("wire                verbs: the RDMA device {}, address {}\n", attributes.name,
             fabric::verbs::to_text(attributes.gid));
  for (const fabric::Capability& capability : attributes.capabilities) {
    const bool native = capability.support == fabric::Support::native;
    fmt::print("  {:22}{}: {}\n", capability.name, native ? "native" : "emulated", capability.how);
  }
  const char* reason = fabric::verbs::why_not_persistent(strategy, device.methods().flush);
  fmt::print("  {:22}{}\n", "flush of this pool",
             reason == nullptr
                 ? "to persistence, as said above, where the kernel pins its memory for a "
                   "device: not that of a DAX file system, unless the device pages "
                   "on demand"
                 : reason);
}

int explain_pool(const ExplainArguments& arguments) {
  const Result<Media> media = parse_media(arguments.media);
  if (!media.ok()) {
    return fail(media.status());
  }
  const Result<FileHandle> file = FileHandle::open(arguments.pool, false);
  if (!file.ok()) {
    return fail(file.status());
  }
  const Result<Strategy> strategy = find_strategy(*file, *media);
  if (!strategy.ok()) {
    return fail(strategy.status());
  }
  std::unique_ptr<VerbsDevice> device;
  if (!arguments.wire.empty()) {
    Result<std::unique_ptr<VerbsDevice>> opened = device_of(arguments.wire);
    if (!opened.ok()) {
      return fail(opened.status());
    }
    device = std::move(opened).value();
  }
  const MediumFacts medium{std::string(to_string(strategy->granularity)), strategy->method,
                           strategy->reason, strategy->survives_power_cut};
  fmt::print("pool                {}\n", arguments.pool);
  explain_medium(medium);
  if (device) {
    explain_device(*device, *strategy);
  }
  explain_put(medium, false);
  return exit_kept;
}

int explain_store(Connection& store) {
  const Result<server::Facts> facts = all_facts(store);
  if (!facts.ok()) {
    return fail(facts.status());
  }
  const auto value = [&](const char* name) {
    return server::find_fact(*facts, name).value_or("unknown");
  };
  const MediumFacts medium{value("granularity"), value("persistence"), value("reason"),
                           value("survives_power_cut") == "yes"};
  fmt::print("pool                {}, engine {}\n", value("pool"), value("engine"));
  explain_medium(medium);
  const bool mapped = value("wire") == "mapped";
  fmt::print("wire                {}\n",
             mapped
                 ? "mapped: this process reads and writes the pool's memory by itself, with no\n"
                   "                    part of the server's CPU; a process of the server's user "
                   "is trusted with that"
             : value("wire") == "roce"
                 ? "roce: requests go by UDP to the server's machine, which checks each of them;\n"
                   "                    nothing on the way is encrypted"
             : value("wire").starts_with("verbs")
                 ? "verbs: requests go through RDMA devices, that of the server's machine checks\n"
                   "                    each of them; `remora nic info --wire verbs` tells how "
                   "they flush"
                 : "ring: requests go by shared memory to the server, which checks each of them");
  fmt::print("role                {}\n", value("role"));
  explain_put(medium, store.engine().promise().acknowledged == Acknowledged::persistent);
  return exit_kept;
}

}  // namespace

int explain_command(const ConnectArguments& where, const ExplainArguments& arguments) {
  if (!arguments.pool.empty()) {
    return explain_pool(arguments);
  }
  if (!arguments.wire.empty()) {
    return fail(Status(Code::invalid_argument, "--wire goes with --pool: name the pool's file"));
  }
  const Result<std::unique_ptr<Connection>> store = Connection::open(where);
  return store.ok() ? explain_store(**store) : fail(store.status());
}

}  // namespace remora::cli
