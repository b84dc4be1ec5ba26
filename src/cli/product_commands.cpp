// remora serve, put, get, del, scan, stat, shell, top, explain, demo, backup, scrub, stop: their
// options.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/demo/demo.h"
#include "cli/product/backup.h"
#include "cli/product/client_commands.h"
#include "cli/product/explain.h"
#include "cli/product/scrub.h"
#include "cli/product/serve.h"
#include "cli/product/shell.h"
#include "cli/product/stat.h"
#include "cli/product/store_options.h"
#include "cli/product/top.h"
#include "cli/validators.h"
#include "server/settings.h"

namespace remora::cli {
namespace {

// One for all: a command line has one command.
struct ProductArguments {
  ConnectArguments where;
  ServeArguments serve;
  PutArguments put;
  GetArguments get;
  DelArguments del;
  ScanArguments scan;
  StatArguments stat;
  ShellArguments shell;
  TopArguments top;
  ExplainArguments explain;
  DemoArguments demo;
  BackupArguments backup;
  bool scrub_json = false;
};

class ProductCommands {
 public:
  ProductCommands(CLI::App& app, int& exit_status) : app_(app), exit_status_(exit_status) {}

  void add() {
    add_serve();
    add_put();
    add_get();
    ProductArguments& all = *all_;
    describe_del(*client("del", "Remove keys; succeed also if a key does not exist",
                         [&all] { return del_command(all.where, all.del); }),
                 all.del);
    add_scan();
    add_stat();
    CLI::App* shell = client("shell", "Talk to the store, line by line",
                             [&all] { return shell_command(all.where, all.shell); });
    shell->add_option("--history", all.shell.history,
                      "File for the lines that were entered [~/.remora_history]");
    add_top();
    add_explain();
    add_demo();
    add_backup();
    CLI::App* scrub = client("scrub", "Verify every value of the store now; needs the role admin",
                             [&all] { return scrub_command(all.where, all.scrub_json); });
    scrub->add_flag("--json", all.scrub_json, "Print JSON");
    client("stop", "Stop the server in order; needs the role admin",
           [&all] { return stop_command(all.where); });
  }

 private:
  template <typename Run>
  CLI::App* command(const char* name, const char* what, Run run) {
    CLI::App* command = app_.add_subcommand(name, what);
    // The arguments live as long as the command that fills them.
    command->callback([all = all_, run, &status = exit_status_] { status = run(); });
    return command;
  }

  template <typename Run>
  CLI::App* client(const char* name, const char* what, Run run) {
    CLI::App* added = command(name, what, run);
    added->add_option("--socket", all_->where.socket,
                      "Where the store listens [" + server::default_socket() + "]");
    added->add_option("--server", all_->where.server,
                      "HOST[:PORT] of a store that listens on the network, in place of a socket");
    added->add_option("--fabric", all_->where.fabric,
                      "roce: by RoCE in software, with --server; verbs[:DEVICE]: through this RDMA "
                      "device [as the store has it]");
    added->add_option("--tls-ca", all_->where.tls_ca,
                      "With --server: by TLS, to a server whose certificate one in this file (PEM) "
                      "vouches for");
    added->add_option(
        "--token", all_->where.token,
        "A token in place of the user's own role. @FILE reads it from there: a token on the "
        "command line is seen by every user of this machine (ps)");
    return added;
  }

  void add_serve() {
    CLI::App* serve = command(
        "serve", "Serve a store to this machine's programs, and with --listen to those of others",
        [all = all_] { return serve_command(all->serve); });
    serve->add_option("--config", all_->serve.config,
                      "Read settings from this file (TOML); flags override them");
    const std::pair<const char*, const char*> keys[] = {
        {"pool",
         "The pool's file, created if it does not exist; \"\" for memory [data/remora.pool]"},
        {"size", "Size of a new pool, such as 256K, 64M, 2G [64M]"},
        {"media", "How the pool is made persistent: auto, dax, file or dram [auto]"},
        {"engine", "The store engine [efactory]"},
        {"socket", "The Unix socket for clients [next to the pool: data/remora.sock]"},
        {"resp", "HOST:PORT for Redis clients, or \"\" for none [127.0.0.1:6380 if it is free]"},
        {"resp-durability",
         "When writes of Redis clients are answered: asynchronous (at once) or persistent "
         "[asynchronous]"},
        {"resp-clients",
         "Most Redis clients at a time; fewer if the limit of open files is lower [10000]"},
        {"metrics", "HOST:PORT for OpenMetrics over HTTP, and /health [none]"},
        {"http",
         "HOST:PORT for a live page that a browser shows, or auto: 127.0.0.1:6381 if it is free "
         "[none]"},
        {"on-failure",
         "What the server does when it cannot write the pool any more: exit (with status 3), or "
         "stay and answer reads [exit]"},
        {"listen",
         "HOST:PORT for clients of other machines, by RoCE, in addition to the socket [none]"},
        {"fabric",
         "roce: with --listen; verbs[:DEVICE]: clients reach the store through this RDMA device "
         "[auto: shared memory, and RoCE with --listen]"},
        {"tls-cert",
         "A certificate (PEM), with --tls-key: --resp and --listen speak only TLS. Values by RoCE "
         "stay in clear. Read again on SIGHUP, as [access] in --config is [none]"},
        {"tls-key", "The key of that certificate (PEM); others must not be able to read it [none]"},
        {"clients", "Most native clients at a time [64]"},
        {"client-operations", "Operations that one client may have in flight [8192]"},
        {"client-bytes",
         "Bytes that one client may have in flight: values, requests, replies [256M]"},
        {"scrub", "Verify every value once within this time, such as 24h or 30m; or off [24h]"},
        {"verify-reads",
         "Whether gets of Redis clients compute checksums: auto, always or never [auto]"},
        {"threads", "2: a second thread verifies large values; it needs a free core [1]"},
    };
    for (const auto& [key, help] : keys) {
      serve->add_option_function<std::string>(
          std::string("--") + key,
          [all = all_, name = std::string(key)](const std::string& value) {
            std::string setting = name;
            std::ranges::replace(setting, '-', '_');
            all->serve.changes.emplace_back(setting, value);
          },
          help);
    }
    serve->add_flag_function(
        "--insecure",
        [all = all_](std::int64_t) { all->serve.changes.emplace_back("insecure", "true"); },
        "Let other machines reach --listen without tokens, --resp without tokens and TLS, and "
        "--metrics and --http");
    serve->add_flag("--accept-damage", all_->serve.accept_damage,
                    "Serve a damaged store, read-only");
  }

  void add_put() {
    ProductArguments& all = *all_;
    describe_put(*client("put", "Store a value under a key; prints what holds now",
                         [&all] { return put_command(all.where, all.put); }),
                 all.put);
  }

  void add_get() {
    ProductArguments& all = *all_;
    describe_get(*client("get", "Print the value of a key; exit with 1 if the key does not exist",
                         [&all] { return get_command(all.where, all.get); }),
                 all.get, all.where.verify_reads);
  }

  void add_backup() {
    ProductArguments& all = *all_;
    describe_backup(*client("backup", "Copy a served store, as of one moment, to a new pool",
                            [&all] { return backup_command(all.where, all.backup); }),
                    all.backup);
  }

  void add_scan() {
    ProductArguments& all = *all_;
    describe_scan(*client("scan", "List keys, in no particular order",
                          [&all] { return scan_command(all.where, all.scan); }),
                  all.scan);
  }

  void add_stat() {
    ProductArguments& all = *all_;
    describe_stat(
        *client("stat", "Show the store's facts and counters, and the wire of this client",
                [&all] { return stat_command(all.where, all.stat); }),
        all.stat);
  }

  void add_top() {
    ProductArguments& all = *all_;
    describe_top(*client("top", "Show what the store does: rates, space and trouble, repeatedly",
                         [&all] { return top_command(all.where, all.top); }),
                 all.top);
  }

  void add_explain() {
    ProductArguments& all = *all_;
    describe_explain(
        *client("explain",
                "Explain how bytes become persistent here, and what an acknowledged put means",
                [&all] { return explain_command(all.where, all.explain); }),
        all.explain);
  }

  void add_demo() {
    CLI::App* demo = command("demo", "Show in less than a minute what is promised and kept",
                             [all = all_] { return demo_command(all->demo); });
    demo->add_option("--seed", all_->demo.seed, "Seed of every random choice")
        ->check(whole_number(0))
        ->capture_default_str();
    demo->add_option("--kills", all_->demo.kills, "How often a real server is killed")
        ->check(whole_number(1))
        ->capture_default_str();
    demo->add_option("--runs", all_->demo.cut_runs, "Number of seeded runs with power cuts")
        ->check(whole_number(1))
        ->capture_default_str();
    demo->add_option("--folder", all_->demo.folder,
                     "Folder for temporary files, which are removed afterwards")
        ->capture_default_str();
  }

  CLI::App& app_;
  int& exit_status_;
  std::shared_ptr<ProductArguments> all_ = std::make_shared<ProductArguments>();
};

}  // namespace

void add_product_commands(CLI::App& app, int& exit_status) {
  ProductCommands(app, exit_status).add();
}

}  // namespace remora::cli
