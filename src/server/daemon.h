// Daemon: the server as a person starts it: a StoreHost made from Settings, with what belongs
// around it. It raises the process's limit of open files as far as it may, prepares the folder of
// the pool, refuses what cannot work with a message that says what to do, and ends in order. Told
// to, it reads who may come, and its certificates, again.
//
// One thread, the loop's. The loop outlives it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/runtime.h"
#include "server/http_responder.h"
#include "server/local_peer.h"
#include "server/page/live_page.h"
#include "server/settings.h"
#include "server/stop_signals.h"
#include "server/store_host.h"

namespace remora::server {

class Daemon {
 public:
  // How the settings are read again; none: they are not.
  using Reread = std::function<Result<Settings>()>;

  // Leaves no new pool behind when it fails. Names are looked up, which may block.
  static Result<std::unique_ptr<Daemon>> open(Runtime& runtime, const Settings& settings,
                                              const std::string& version, Reread reread = {});

  StoreHost& host() { return *host_; }
  // The front end for Redis clients; null where there is none.
  const resp::Server* redis() const { return resp_.get(); }
  // With addresses where there were names.
  const Settings& settings() const { return settings_; }

  // What it is, where it listens and what an acknowledged put means, for people.
  std::string announcement();
  // What there is when `serve` has ended well, and what becomes of it, for people.
  std::string farewell() { return end_in_short(host_->engine(), host_->survives()); }

  // Takes who may come ([access]) from the settings as they are now, and certificates from their
  // files, for those who come from now on. What is broken stays as it was. Returns a line for each
  // of the two, for people.
  std::string read_again();

  // Runs the loop until a signal or a client asks for the end, then lets nobody in, and waits until
  // all that was acknowledged is as persistent as the engine makes it by itself, or a second signal
  // comes, or that takes too long. Fails when it is not. A store that fails for good ends this with
  // its failure, or, told to stay, with a line on standard error, and the end then waits for
  // nothing.
  Status serve(const StopSignals& signals);

 private:
  Daemon(Runtime& runtime, Settings settings, Reread reread)
      : runtime_(runtime), settings_(std::move(settings)), reread_(std::move(reread)) {}

  Status open_tls();
  Status change_access();
  Status open_host(const std::string& version);
  Status open_metrics();
  Status open_page();
  Status open_resp();
  Status open_resp_at(const std::string& where, kv::LocalStore& store);
  Status run_until_quiet(const StopSignals& signals);
  Status end_failed(const Status& why);
  void close_doors();

  Runtime& runtime_;
  Settings settings_;
  const Reread reread_;
  std::shared_ptr<TlsContext> tls_;  // null: none
  std::uint64_t open_files_ = 0;     // that it may have
  // Members are destroyed from the last to the first.
  std::unique_ptr<StoreHost> host_;
  LocalPeer local_peer_;
  std::unique_ptr<resp::Server> resp_;
  std::string resp_text_;  // for people: where Redis clients come in, or why not
  std::unique_ptr<HttpResponder> metrics_;
  std::string page_text_;  // for people: where it is, or why not
  std::unique_ptr<LivePage> page_;
};

}  // namespace remora::server
