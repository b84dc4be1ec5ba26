// remora pool create | grow | info; check and salvage have files of their own.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/size_text.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/pool_commands.h"
#include "cli/product/grow_served.h"
#include "pmem/pool_file.h"

namespace remora::cli {
namespace {

std::string text_of(const pool_format::Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::string durability_of(const Strategy& strategy) {
  return strategy.survives_power_cut ? "survives a power cut" : "lost in a power cut";
}

// Names come from whoever made the file; none of them steers a terminal, nor breaks JSON.
std::vector<std::string> root_names(PoolFile& file) {
  std::vector<std::string> names = file.pool().root_names();
  std::ranges::transform(names, names.begin(), [](const auto& name) { return printable(name); });
  return names;
}

// What lives of each account that has anything.
nlohmann::ordered_json describe_accounts(const PoolUsage& usage) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < usage.accounts.size(); ++i) {
    if (const AccountUsage& account = usage.accounts[i]; account.object_count != 0) {
      json[to_string(static_cast<Account>(i))] = {{"object_count", account.object_count},
                                                  {"object_bytes", account.object_bytes}};
    }
  }
  return json;
}

std::string growth_text(const Pool& pool) {
  const std::size_t times = pool.layout().extensions().size();
  return times == 0 ? ""
                    : fmt::format(", grown {} from {}",
                                  times == 1 ? "once" : fmt::format("{} times", times),
                                  format_size(pool.header().size_bytes));
}

// What the file has; a later opening for changes brings it up to date.
std::string version_text(Pool& pool) {
  const std::uint32_t found = pool.found_version();
  return "version " + std::to_string(found) +
         (found == pool.header().version ? ""
                                         : " (the next to open it for changes makes it version " +
                                               std::to_string(pool.header().version) + ")");
}

}  // namespace

nlohmann::ordered_json pool_json(PoolFile& file) {
  const PoolUsage usage = file.pool().usage();
  return {{"path", file.file().path()},
          {"format_version", file.pool().found_version()},
          {"uuid", text_of(file.pool().header().uuid)},
          {"size_bytes", usage.size_bytes},
          {"created_bytes", file.pool().header().size_bytes},
          {"object_count", usage.object_count},
          {"object_bytes", usage.object_bytes},
          {"accounts", describe_accounts(usage)},
          {"free_bytes", usage.free_bytes},
          {"largest_free_bytes", usage.largest_free_bytes},
          {"replayed_records", file.pool().replayed_records()},
          {"roots", root_names(file)}};
}

void print_pool(PoolFile& file) {
  const PoolUsage usage = file.pool().usage();
  fmt::print("pool         {}\n", file.file().path());
  fmt::print("format       {}\n", version_text(file.pool()));
  fmt::print("uuid         {}\n", text_of(file.pool().header().uuid));
  fmt::print("size         {}{}\n", format_size(usage.size_bytes), growth_text(file.pool()));
  fmt::print("objects      {} in {}\n", usage.object_count, format_size(usage.object_bytes));
  for (std::size_t i = 0; i < usage.accounts.size(); ++i) {
    if (const AccountUsage& account = usage.accounts[i]; account.object_count != 0) {
      fmt::print("  {:<10} {} in {}\n", to_string(static_cast<Account>(i)), account.object_count,
                 format_size(account.object_bytes));
    }
  }
  fmt::print("free         {}, largest piece {}\n", format_size(usage.free_bytes),
             format_size(usage.largest_free_bytes));
  fmt::print("log          {} records to replay\n", file.pool().replayed_records());
  const std::vector<std::string> names = root_names(file);
  fmt::print("roots        {}\n", names.empty() ? "none" : "");
  for (const std::string& name : names) {
    fmt::print("  {}\n", name);
  }
}

namespace {

void print_strategy(const Strategy& strategy) {
  fmt::print("granularity  {}\n", to_string(strategy.granularity));
  fmt::print("persistence  {}\n", strategy.method);
  fmt::print("durability   {}: {}\n", durability_of(strategy), strategy.reason);
}

void add_strategy(const Strategy& strategy, nlohmann::ordered_json& json) {
  json["granularity"] = to_string(strategy.granularity);
  json["persistence"] = strategy.method;
  json["survives_power_cut"] = strategy.survives_power_cut;
  json["reason"] = strategy.reason;
}

// A pool that was opened for changes, and its medium.
int describe(PoolFile& file, bool json) {
  if (json) {
    nlohmann::ordered_json described = pool_json(file);
    add_strategy(file.region().strategy(), described);
    print_json(described);
  } else {
    print_pool(file);
    print_strategy(file.region().strategy());
  }
  return exit_kept;
}

int create(const PoolArguments& arguments) {
  Result<std::uint64_t> size_bytes = parse_size(arguments.size);
  if (!size_bytes.ok()) {
    return fail(size_bytes.status());
  }
  Result<Media> media = parse_media(arguments.media);
  if (!media.ok()) {
    return fail(media.status());
  }
  Result<PoolFile> file = PoolFile::create(arguments.path, *size_bytes, *media);
  return file.ok() ? describe(*file, arguments.json) : fail(file.status());
}

int grow(const PoolArguments& arguments) {
  const Result<std::uint64_t> size_bytes = parse_size(arguments.grown_size);
  if (!size_bytes.ok()) {
    return fail(size_bytes.status());
  }
  const Result<Media> media = parse_media(arguments.media);
  if (!media.ok()) {
    return fail(media.status());
  }
  Result<PoolFile> file = PoolFile::grow(arguments.path, *size_bytes, *media);
  if (file.code() == Code::in_use) {
    return grow_served({.path = arguments.path,
                        .socket = arguments.socket,
                        .token = arguments.token,
                        .size_bytes = *size_bytes,
                        .json = arguments.json},
                       file.status());
  }
  return file.ok() ? describe(*file, arguments.json) : fail(file.status());
}

// What the medium is, without recovering the pool: a region of its own over the same file, opened
// for reading by the caller.
Result<Strategy> strategy_of(const std::string& path, Media media) {
  REMORA_TRY_RESULT(file, FileHandle::open(path, false));
  return find_strategy(*file, media);
}

int info(const PoolArguments& arguments) {
  Result<Media> media = parse_media(arguments.media);
  if (!media.ok()) {
    return fail(media.status());
  }
  Result<PoolFile> file = PoolFile::inspect(arguments.path);
  if (!file.ok()) {
    return fail(file.status());
  }
  Result<Strategy> strategy = strategy_of(arguments.path, *media);
  if (!strategy.ok()) {
    return fail(strategy.status());
  }
  if (arguments.json) {
    nlohmann::ordered_json json = pool_json(*file);
    add_strategy(*strategy, json);
    print_json(json);
  } else {
    print_pool(*file);
    print_strategy(*strategy);
  }
  return exit_kept;
}

}  // namespace

void add_pool_command(CLI::App& app, int& exit_status) {
  CLI::App* pool =
      app.add_subcommand("pool", "Make, describe and check pools of persistent memory");
  pool->require_subcommand(1);
  const auto arguments = std::make_shared<PoolArguments>();
  const auto add = [&](const char* name, const char* what, int (*run)(const PoolArguments&)) {
    CLI::App* command = pool->add_subcommand(name, what);
    command->add_option("path", arguments->path, "The pool's file")->required();
    command->add_flag("--json", arguments->json, "Print JSON");
    command->callback([arguments, run, &exit_status] { exit_status = run(*arguments); });
    return command;
  };
  const char* media_help =
      "How the pool is made persistent: auto, dax, file (page granularity, msync) or dram "
      "(volatile)";
  CLI::App* create_command = add("create", "Make a new pool in a new file", create);
  create_command->add_option("--size", arguments->size, "Size, such as 256K, 64M, 2G, 1T")
      ->capture_default_str();
  create_command->add_option("--media", arguments->media, media_help)->capture_default_str();
  CLI::App* grow_command =
      add("grow", "Make a pool larger, served or not; what is in it stays as it is", grow);
  grow_command->add_option("--size", arguments->grown_size, "The size that it is to have")
      ->required();
  grow_command->add_option("--media", arguments->media, media_help)->capture_default_str();
  grow_command->add_option("--socket", arguments->socket,
                           "Where the server of the pool listens [next to the pool]");
  grow_command->add_option("--token", arguments->token,
                           "A token of the role admin for that server, or @FILE that has it");
  CLI::App* info_command =
      add("info", "Describe a pool and its medium; the file is left untouched", info);
  info_command->add_option("--media", arguments->media, media_help)->capture_default_str();
  add("check", "Check a pool and the store in it, every byte; the file is left untouched",
      check_pool);
  CLI::App* salvage_command =
      add("salvage",
          "Save the undamaged keys of a damaged store to a new pool; the old pool stays as it is",
          salvage_pool);
  salvage_command->add_option("to", arguments->to, "The new pool's file")->required();
  salvage_command->add_option("--size", arguments->salvage_size,
                              "Size of the new pool [the size of the old one]");
  salvage_command->add_option("--media", arguments->media, media_help)->capture_default_str();
}

}  // namespace remora::cli
