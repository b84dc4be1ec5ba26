#include "cli/product/explain.h"

#include <fmt/core.h>

#include <memory>
#include <sstream>
#include <string_view>

#include "cli/exit_status.h"
#include "cli/product/stat.h"
#include "fabric/verbs/gid_choice.h"
#include "fabric/verbs/verbs_device.h"
#include "kv/log/log.h"
#include "pmem/file_handle.h"
#include "pmem/open_region.h"
#include "pmem/pool_file.h"
#include "server/durability_words.h"

namespace remora::cli {
namespace {

using server::Survives;

// A label, and a text in lines that stand under each other.
void print_wrapped(std::string_view label, const std::string& text) {
  constexpr std::size_t text_begin = 20;
  constexpr std::size_t line_end = 90;
  std::string line = fmt::format("{:<20}", label);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > text_begin && line.size() + 1 + word.size() > line_end) {
      fmt::print("{}\n", line);
      line = std::string(text_begin, ' ');
    }
    line += (line.size() > text_begin ? " " : "") + word;
  }
  fmt::print("{}\n", line);
}

struct MediumFacts {
  std::string granularity;
  std::string method;
  std::string reason;
  Survives survives = Survives::nothing;
};

std::string domain_of(const MediumFacts& medium) {
  if (medium.survives == Survives::nothing) {
    return "none: memory that is gone with the server's process";
  }
  if (medium.survives == Survives::process_end) {
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

void explain_put(const kv::Engine& engine, Survives survives) {
  const server::PutWords words = server::put_at_length(engine, survives);
  print_wrapped("put", words.put);
  if (!words.persistent_put.empty()) {
    print_wrapped("put --persistent", words.persistent_put);
  }
  if (!words.caveat.empty()) {
    print_wrapped("but", words.caveat);
  }
  print_wrapped("without checksum", std::string(engine.unsummed()));
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

// The engine that made the store in a pool; not_found where there is none yet.
Result<std::string> maker_of(const std::string& path) {
  if (PoolFile::is_blank_device(path)) {
    return Status(Code::not_found, "the device is blank");
  }
  Result<PoolFile> pool = PoolFile::inspect(path);
  return pool.ok() ? kv::Log::maker(pool->pool()) : pool.status();
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
  const Result<std::string> maker = maker_of(arguments.pool);
  if (!maker.ok() && maker.code() != Code::not_found) {
    return fail(maker.status());
  }
  const Result<const kv::Engine*> engine =
      maker.ok() ? kv::find_engine(*maker) : Result<const kv::Engine*>(kv::engines().front());
  if (!engine.ok()) {
    return fail(engine.status());
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
                           strategy->reason, server::survives_of(*strategy)};
  fmt::print("pool                {}, {}\n", arguments.pool,
             maker.ok() ? "engine " + *maker
                        : fmt::format("with no store yet; as the engine {} would serve it",
                                      (*engine)->name()));
  explain_medium(medium);
  if (device) {
    explain_device(*device, *strategy);
  }
  explain_put(**engine, medium.survives);
  return exit_kept;
}

// What one that may write could do besides what the store's own client does.
void explain_reach(std::string_view wire) {
  const char* const reach =
      wire == "mapped"
          ? "by a process of the server's user: every block of the pool, objects of others\n"
            "                    too; header, roots, redo log and block table are not shown to it"
      : wire.starts_with("verbs")
          ? "by the device, which has no table of grants: the segments of the log, objects of\n"
            "                    others too; all else of the pool has no key"
          : "values that this client was granted, until they are durable, and nothing else of\n"
            "                    the pool: the server asks for every request";
  fmt::print("a writer may store  {}\n", reach);
}

int explain_store(Store& store, bool is_by_tls) {
  const Expected<Facts> facts = all_facts(store);
  if (!facts) {
    return fail(facts.error());
  }
  const auto value = [&](const char* name) { return find_fact(*facts, name).value_or("unknown"); };
  const MediumFacts medium{value("granularity"), value("persistence"), value("reason"),
                           server::survives_by(*facts)};
  fmt::print("pool                {}, engine {}\n", value("pool"), value("engine"));
  if (value("health") == "failed") {
    fmt::print("failed              {}; what is persistent can be read, nothing is put any more\n",
               value("failure"));
  }
  if (value("read_only") != "no" && value("read_only") != "unknown") {
    fmt::print("damaged             {}\n", value("read_only"));
  }
  explain_medium(medium);
  const bool mapped = value("wire") == "mapped";
  fmt::print(
      "wire                {}\n",
      mapped ? "mapped: this process reads and writes the pool's memory by itself, with no\n"
               "                    part of the server's CPU; a process of the server's user "
               "is trusted with that"
      : value("wire") == "roce"
          ? is_by_tls
                ? "roce: requests go by UDP to the server's machine, which checks each of them; "
                  "the\n                    session goes by TLS; requests and values are not "
                  "encrypted: anybody\n                    on the way can read and forge them"
                : "roce: requests go by UDP to the server's machine, which checks each of them;\n  "
                  "                  nothing is encrypted: anybody on the way can read and forge it"
      : value("wire").starts_with("verbs")
          ? "verbs: requests go through RDMA devices, that of the server's machine checks\n"
            "                    each of them; `remora nic info --wire verbs` tells how "
            "they flush"
          : "ring: requests go by shared memory to the server, which checks each of them");
  fmt::print("role                {}\n", value("role"));
  if (value("role") != "read") {
    explain_reach(value("wire"));
  }
  const Result<const kv::Engine*> engine = kv::find_engine(value("engine"));
  if (!engine.ok()) {
    return fail(engine.status());
  }
  explain_put(**engine, medium.survives);
  return exit_kept;
}

}  // namespace

int explain_command(const ConnectArguments& where, const ExplainArguments& arguments) {
  if (!arguments.pool.empty()) {
    return explain_pool(arguments);
  }
  if (!arguments.wire.empty()) {
    return fail(Status(Code::invalid_argument, "--wire needs --pool FILE"));
  }
  Expected<Store> store = open_store(where);
  return store ? explain_store(*store, !where.tls_ca.empty()) : fail(store.error());
}

}  // namespace remora::cli
