#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/lost_memory.h"
#include "cli/commands.h"
#include "cli/exit_status.h"

namespace {

// The parser says of a word in place of a command only that a command is missing. Says which word
// it was; false when there was none.
bool name_unknown_word(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    return false;
  }
  std::string command = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  std::fprintf(stderr, "remora: there is no %s '%s' of %s; `%s --help` lists what there is\n",
               unknown.front().starts_with('-') ? "option" : "command", unknown.front().c_str(),
               command.c_str(), command.c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace remora;
  using namespace remora::cli;
  CLI::App app("Remora: bytes on another machine's persistent memory, and when they survive");
  app.name("remora");
  app.set_version_flag("--version", REMORA_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 every promise checked was kept, 1 one was broken, 2 wrong usage,\n"
      "3 this machine or file cannot serve.");
  // A limit on file sizes (ulimit -f) is then an error like any other, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // A pool that is cut short while it is used is one, too.
  if (const remora::Status status = remora::catch_lost_memory(); !status.ok()) {
    return fail(status);
  }
  int exit_status = exit_kept;
  add_product_commands(app, exit_status);
  add_pool_command(app, exit_status);
  add_systems_command(app, exit_status);
  add_crash_command(app, exit_status);
  add_matrix_command(app, exit_status);
  add_bench_command(app, exit_status);
  add_figures_command(app, exit_status);
  add_rpc_command(app, exit_status);
  add_nic_command(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    if (!name_unknown_word(app)) {
      (void)app.exit(error);
    }
    return exit_usage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_kept : exit_usage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "remora: %s\n", error.what());
    return exit_environment;
  }
  // A result that nobody could read is none.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "remora: cannot write to standard output\n");
    return exit_environment;
  }
  return exit_status;
}
