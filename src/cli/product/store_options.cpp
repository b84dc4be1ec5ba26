#include "cli/product/store_options.h"

#include <CLI/CLI.hpp>

#include <cstdint>

#include "cli/validators.h"

namespace remora::cli {
namespace {

void describe_color(CLI::App& app, std::string& color) {
  app.add_option("--color", color,
                 "Whether colours are used: auto (on a terminal), always or never")
      ->capture_default_str();
}

}  // namespace

void describe_put(CLI::App& app, PutArguments& arguments) {
  app.add_option("key", arguments.key, "The key, 1 byte to 1 KB")->required();
  CLI::Option* value =
      app.add_option("value", arguments.value,
                     "The value; if it is left out, or is -, it is read from standard input");
  app.add_option("--file", arguments.file, "Read the value from this file")->excludes(value);
  app.add_flag("--persistent", arguments.persistent, "Wait until the value is persistent");
}

void describe_get(CLI::App& app, GetArguments& arguments, std::string& verify_reads) {
  app.add_option("key", arguments.key, "The key")->required();
  app.add_flag("--raw", arguments.raw,
               "Print only the bytes, on a terminal too; elsewhere that is so anyhow");
  app.add_option("--verify-reads", verify_reads,
                 "Whether the checksum of the value is computed: auto (small values), always or "
                 "never")
      ->capture_default_str();
}

void describe_del(CLI::App& app, DelArguments& arguments) {
  app.add_option("key", arguments.keys, "The key, or several")->required();
}

void describe_scan(CLI::App& app, ScanArguments& arguments) {
  app.add_option("--prefix", arguments.prefix, "List only keys that begin with this");
  app.add_option("--limit", arguments.limit, "List at most this many keys; 0 lists all")
      ->check(whole_number(0))
      ->capture_default_str();
  app.add_flag("--count", arguments.count, "Print the number of keys");
}

void describe_stat(CLI::App& app, StatArguments& arguments) {
  app.add_option("name", arguments.name, "Print this value alone");
  app.add_flag("--json", arguments.json, "Print JSON");
  describe_color(app, arguments.color);
}

void describe_top(CLI::App& app, TopArguments& arguments) {
  app.add_option("--interval", arguments.interval_ms, "Milliseconds between two updates")
      ->check(CLI::Range(std::uint64_t{10}, std::uint64_t{3'600'000}))
      ->capture_default_str();
  app.add_option("--times", arguments.times, "Number of updates; 0: until Ctrl-C")
      ->check(whole_number(0))
      ->capture_default_str();
  describe_color(app, arguments.color);
}

void describe_explain(CLI::App& app, ExplainArguments& arguments) {
  app.add_option("--pool", arguments.pool, "Explain this pool's file, without a server");
  app.add_option("--media", arguments.media, "How the pool is made persistent, as for `pool info`")
      ->capture_default_str();
  app.add_option(
      "--wire", arguments.wire,
      "With --pool: explain the pool as reached through this RDMA device, verbs[:DEVICE]");
}

void describe_backup(CLI::App& app, BackupArguments& arguments) {
  app.add_option("to", arguments.to, "The file of the new pool; it must not exist")->required();
  app.add_option("--size", arguments.size,
                 "Size of the new pool, such as 64M [the size of the store's pool]");
}

}  // namespace remora::cli
