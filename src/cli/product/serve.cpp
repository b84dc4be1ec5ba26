#include "cli/product/serve.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "cli/exit_status.h"
#include "runtime/poll_loop.h"
#include "server/daemon.h"
#include "server/settings.h"
#include "server/stop_signals.h"

namespace remora::cli {
namespace {

Result<server::Settings> settings_of(const ServeArguments& arguments) {
  server::Settings settings;
  if (!arguments.config.empty()) {
    REMORA_TRY_RESULT(read, server::read_settings(arguments.config));
    settings = std::move(read).value();
  }
  for (const auto& [key, value] : arguments.changes) {
    if (const Status status = server::change_setting(settings, key, value); !status.ok()) {
      return Status(status.code(), "--" + std::string(status.message()));
    }
  }
  settings.accept_damage = arguments.accept_damage;
  return settings;
}

void print_how_to_try(server::Daemon& daemon) {
  const server::Settings& settings = daemon.settings();
  const bool stays = daemon.host().survives() != server::Survives::nothing;
  const std::string socket = server::socket_of(settings);
  const std::string where =
      socket == server::default_socket() ? "" : fmt::format(" --socket {}", socket);
  fmt::print(
      "try          from another terminal:\n"
      "               {0} put{1} greeting 'hello, world'\n"
      "               {0} get{1} greeting\n"
      "               {0} shell{1}\n"
      "             Ctrl-C here, or {0} stop{1}, ends it; what it holds {2}\n",
      program_invocation_name, where, stays ? "stays" : "is gone then");
  if (!settings.listen.empty()) {
    fmt::print(
        "             and from other machines: {} get --server {} --token @FILE{} greeting\n",
        program_invocation_name, settings.listen,
        settings.tls_cert.empty() ? "" : " --tls-ca FILE");
  }
}

}  // namespace

int serve_command(const ServeArguments& arguments) {
  const Result<server::Settings> settings = settings_of(arguments);
  if (!settings.ok()) {
    return fail(settings.status());
  }
  PollLoop loop;
  const bool can_reread = !arguments.config.empty() || !settings->tls_cert.empty();
  const Result<std::unique_ptr<server::StopSignals>> signals =
      server::StopSignals::create(loop, can_reread);
  if (!signals.ok()) {
    return fail(signals.status());
  }
  server::Daemon::Reread reread;
  if (!arguments.config.empty()) {
    reread = [&arguments] { return settings_of(arguments); };
  }
  const Result<std::unique_ptr<server::Daemon>> daemon =
      server::Daemon::open(loop, *settings, REMORA_VERSION, reread);
  if (!daemon.ok()) {
    return fail(daemon.status());
  }
  fmt::print("remora {} serves\n{}", REMORA_VERSION, (*daemon)->announcement());
  print_how_to_try(**daemon);
  std::fflush(stdout);
  const Status status = (*daemon)->serve(**signals);
  server::StopSignals::ignore();
  if (!status.ok()) {
    return fail(status);
  }
  fmt::print("stopped: {}\n", (*daemon)->farewell());
  return exit_kept;
}

}  // namespace remora::cli
