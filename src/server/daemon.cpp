#include "server/daemon.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/size_text.h"
#include "base/socket_address.h"
#include "link/exposure.h"
#include "server/metrics.h"
#include "server/readings.h"

namespace remora::server {
namespace {

// Values that clients were about to write are given up after put_timeout_ns; a commit of many pages
// takes a disk its time.
constexpr std::uint64_t quiet_most_ns = 30'000'000'000;
constexpr std::uint64_t quiet_look_ns = 1'000'000;
constexpr std::uint64_t answer_patience_ns = 1'000'000'000;
// For the replies that say so when the store has failed.
constexpr std::uint64_t answer_failures_ns = 100'000'000;

// Open files: of a native client its socket, its process, and one more while it comes; of the store
// its pool, its listeners, metrics, and what is needed for a moment.
constexpr std::uint64_t files_per_client = 3;
constexpr std::uint64_t files_of_store = 64;

constexpr const char* automatic_resp = "127.0.0.1:6380";
constexpr const char* automatic_http = "127.0.0.1:6381";

// Of processes that share a busy machine: a client that is not run for a moment is not dead.
constexpr std::uint64_t value_patience_ns = 1'000'000'000;
constexpr std::uint64_t client_patience_ns = 3'000'000'000;
// A value may come by a slow network.
constexpr std::uint64_t far_value_patience_ns = 5'000'000'000;

// As many open files as the system grants this process, and how many that are.
std::uint64_t raise_open_files() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return files_of_store;
  }
  const rlimit most = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return ::setrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_cur : limit.rlim_cur;
}

// Redis clients take the open files that native ones and the store itself leave; where there are
// few, half of them.
std::uint32_t redis_places(const Settings& settings, std::uint64_t open_files) {
  const std::uint64_t others = files_of_store + files_per_client * settings.most_clients;
  const std::uint64_t left = open_files - std::min(others, open_files / 2);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(settings.resp_clients, left));
}

// Of these places those that one user gets: the same share as of native clients.
std::uint32_t share_of_user(const Settings& settings, std::uint32_t places) {
  const std::uint64_t share =
      std::uint64_t{places} * settings.access.clients_per_user / settings.most_clients;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, 1, UINT32_MAX));
}

Status make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    std::filesystem::create_directories(folder, error);
    if (error) {
      return os_failure("cannot make the folder " + folder.string(), error.value());
    }
  }
  return {};
}

resp::Access access_of(const Result<link::Role>& role) {
  if (!role.ok() || *role == link::Role::none) {
    return resp::Access::none;
  }
  return *role == link::Role::read    ? resp::Access::read
         : *role == link::Role::write ? resp::Access::write
                                      : resp::Access::admin;
}

link::Doors doors_of(const Settings& settings) {
  return {.listen = settings.listen,
          .resp = settings.resp == "auto" ? "" : settings.resp,
          .metrics = settings.metrics,
          .http = settings.http == "auto" ? "" : settings.http,
          .has_tokens = !settings.access.tokens.empty(),
          .has_tls = !settings.tls_cert.empty(),
          .is_insecure = settings.insecure};
}

// Names are looked up once, here: from now on the settings have addresses alone.
Status look_up_names(Settings& settings) {
  const std::pair<const char*, std::string*> places[] = {{"resp", &settings.resp},
                                                         {"metrics", &settings.metrics},
                                                         {"http", &settings.http},
                                                         {"listen", &settings.listen}};
  for (const auto& [key, place] : places) {
    if (place->empty() || *place == "auto") {
      continue;
    }
    const Result<SocketAddress> address = SocketAddress::look_up(*place);
    if (!address.ok()) {
      return Status(address.code(), fmt::format("{}: {}", key, address.status().message()));
    }
    *place = address->text();
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::open(Runtime& runtime, const Settings& settings,
                                             const std::string& version, Reread reread) {
  Settings found = settings;
  REMORA_TRY(check_together(found));
  REMORA_TRY(look_up_names(found));
  REMORA_TRY(link::check_exposure(doors_of(found)));
  std::unique_ptr<Daemon> daemon(new Daemon(runtime, std::move(found), std::move(reread)));
  daemon->open_files_ = raise_open_files();
  REMORA_TRY(daemon->open_tls());
  REMORA_TRY(daemon->open_host(version));
  Status around = daemon->open_metrics();
  around = around.ok() ? daemon->open_resp() : around;
  around = around.ok() ? daemon->open_page() : around;
  if (!around.ok()) {
    daemon->host_->undo_pool();
    return around;
  }
  return daemon;
}

Status Daemon::open_tls() {
  if (settings_.tls_cert.empty()) {
    return {};
  }
  REMORA_TRY_RESULT(tls, TlsContext::server(settings_.tls_cert, settings_.tls_key));
  tls_ = std::move(tls).value();
  return {};
}

// Who may come is all that changes while it serves.
Status Daemon::change_access() {
  REMORA_TRY_RESULT(read, reread_());
  Settings changed = settings_;
  changed.access = std::move(read->access);
  REMORA_TRY(link::check_exposure(doors_of(changed)));
  settings_ = std::move(changed);
  host_->change_access(settings_.access);
  if (resp_) {
    resp_->expect_passwords(!settings_.access.tokens.empty());
  }
  return {};
}

std::string Daemon::read_again() {
  const auto line = [](const char* what, const Status& status) {
    return status.ok() ? fmt::format("remora: {} read again\n", what)
                       : fmt::format("remora: {} stay as they were: {}\n", what, status.message());
  };
  std::string lines;
  if (reread_) {
    lines += line("the rules of [access]", change_access());
  }
  if (tls_) {
    lines += line("the certificates", tls_->reload());
  }
  return lines;
}

Status Daemon::open_host(const std::string& version) {
  if (!settings_.pool.empty()) {
    REMORA_TRY(make_folder_of(settings_.pool));
  }
  REMORA_TRY(make_folder_of(socket_of(settings_)));
  StoreHostOptions options;
  options.engine = settings_.engine;
  options.socket_path = socket_of(settings_);
  options.pool_path = settings_.pool;
  options.media = settings_.media;
  options.pool_bytes = settings_.pool_bytes;
  options.server.most_clients = settings_.most_clients;
  options.server.client_operations = settings_.client_operations;
  options.server.client_bytes = settings_.client_bytes;
  options.server.scrub_ns = settings_.scrub_ns;
  options.server.verify_reads = settings_.verify_reads;
  options.server.accept_damage = settings_.accept_damage;
  options.threads = settings_.threads;
  const bool from_afar = !settings_.listen.empty() || settings_.fabric != "auto";
  options.server.put_timeout_ns = from_afar ? far_value_patience_ns : value_patience_ns;
  options.server.client_timeout_ns = client_patience_ns;
  options.access = settings_.access;
  options.tls = tls_;
  if (!settings_.listen.empty()) {
    REMORA_TRY_RESULT(listen, SocketAddress::parse(settings_.listen));
    options.listen = fabric::nic::roce::endpoint_of(listen->storage);
  }
  options.verbs = fabric::verbs::parse_wire(settings_.fabric);
  options.version = version;
  REMORA_TRY_RESULT(host, StoreHost::open(runtime_, options));
  host_ = std::move(host).value();
  return {};
}

Status Daemon::open_metrics() {
  if (settings_.metrics.empty()) {
    return {};
  }
  HttpResponderOptions options;
  options.address = settings_.metrics;
  options.purpose = "metrics";
  options.pages = {{"/metrics", metrics_content_type,
                    [this] { return HttpAnswer{metrics_text(*host_, resp_.get())}; }},
                   health_page([this] { return host_->failure(); })};
  REMORA_TRY_RESULT(metrics, HttpResponder::open(runtime_, std::move(options)));
  metrics_ = std::move(metrics).value();
  return {};
}

// Shows the Redis front too, so it comes after it. By "auto" nothing fails for its sake.
Status Daemon::open_page() {
  if (settings_.http.empty()) {
    return {};
  }
  const bool is_automatic = settings_.http == "auto";
  REMORA_TRY_RESULT(address, SocketAddress::parse(is_automatic ? automatic_http : settings_.http));
  Result<std::unique_ptr<LivePage>> page =
      LivePage::open(runtime_, {.address = address->text(), .own_names_only = !settings_.insecure},
                     *host_, resp_.get());
  if (!page.ok()) {
    page_text_ = fmt::format("none: {}", page.status().message());
    return is_automatic ? Status() : page.status();
  }
  page_ = std::move(page).value();
  page_text_ =
      fmt::format("http://{}:{}/, for everybody who reaches it", address->host(), page_->port());
  return {};
}

// Redis clients. By "auto" nothing fails for their sake: the store itself comes first.
Status Daemon::open_resp() {
  const bool is_automatic = settings_.resp == "auto";
  kv::LocalStore* const store = host_->store().local();
  if (settings_.resp.empty()) {
    return {};
  }
  Status status;
  if (store == nullptr) {
    status = Status(Code::unsupported,
                    fmt::format("the engine {} has no way for Redis clients; choose efactory, or "
                                "--resp '' for none",
                                host_->engine().name()));
  } else {
    status = open_resp_at(is_automatic ? automatic_resp : settings_.resp, *store);
  }
  if (!status.ok() && is_automatic) {
    resp_text_ = fmt::format("none: {}", status.message());
    return {};
  }
  return status;
}

// The kernel tells the user of a client on this machine, as at the socket; others have a token, or
// nothing.
Status Daemon::open_resp_at(const std::string& where, kv::LocalStore& store) {
  REMORA_TRY_RESULT(address, SocketAddress::parse(where));
  resp::RespOptions options;
  options.host = address->host();
  options.port = address->port();
  options.durability = settings_.resp_durability;
  options.client_operations = settings_.client_operations;
  options.client_bytes = settings_.client_bytes;
  options.pool_bytes = host_->pool_bytes();
  options.outlives_process = host_->survives() != Survives::nothing;
  options.most_clients = redis_places(settings_, open_files_);
  options.most_guests = link::places_for_others(options.most_clients);
  options.most_of_guest = share_of_user(settings_, options.most_clients);
  options.tls = tls_;
  options.doorkeeper = [this](int descriptor, const std::string& host) {
    const std::optional<uid_t> uid = local_peer_.user_of(descriptor);
    const uid_t own = ::geteuid();
    resp::Visitor visitor;
    visitor.access = access_of(link::role_of(settings_.access, uid, own, ""));
    if (uid != own) {
      visitor.guest = uid ? fmt::format("user {}", *uid) : "clients of " + host;
    }
    return visitor;
  };
  // Users are known by their tokens; the name is the one that Redis clients send of themselves.
  options.authenticator = [this](std::string_view user, std::string_view token) {
    return token.empty() || user != "default"
               ? resp::Access::none
               : access_of(link::role_of(settings_.access, std::nullopt, ::geteuid(), token));
  };
  Result<std::unique_ptr<resp::Server>> server = resp::Server::open(runtime_, store, options);
  if (!server.ok()) {
    return Status(server.code(), fmt::format("{}; --resp names another, or '' for none",
                                             server.status().message()));
  }
  resp_ = std::move(server).value();
  host_->on_growth([this](std::uint64_t pool_bytes) { resp_->pool_grew(pool_bytes); });
  resp_->expect_passwords(!settings_.access.tokens.empty());
  host_->tell_also([&redis = *resp_] { return redis_facts(redis); });
  resp_text_ = fmt::format(
      "redis-cli -h {} -p {}{}, for {}; {}", options.host, resp_->port(), tls_ ? " --tls" : "",
      settings_.access.for_others() ? "users and tokens of [access]" : "this user",
      redis_in_short(options.durability, host_->survives()));
  return {};
}

std::string Daemon::announcement() {
  const Strategy& medium = host_->strategy();
  std::uint64_t keys = 0;
  for (const kv::StoreServer::Counter& counter : host_->store().counters()) {
    keys = counter.name == "keys" ? counter.value : keys;
  }
  std::string text;
  text += fmt::format("store        {}, {}, engine {}, {}\n",
                      settings_.pool.empty() ? "memory" : settings_.pool,
                      format_size(host_->pool_bytes()), host_->engine().name(),
                      host_->recovered() ? fmt::format("{} keys recovered", keys) : "new");
  if (const Status changeable = host_->store().changeable(); !changeable.ok()) {
    text += fmt::format("damaged      {}\n", changeable.message());
  }
  text += fmt::format("medium       {}; {}\n", medium.method, medium.reason);
  text += fmt::format("durability   {}\n", put_in_short(host_->engine(), host_->survives()));
  text +=
      fmt::format("clients      {}: shared memory of this machine, for {}\n", socket_of(settings_),
                  settings_.access.for_others() ? "users and tokens of [access]" : "this user");
  if (const auto endpoint = host_->network_endpoint()) {
    text += fmt::format("network      {}, TCP and UDP: RoCE, {}\n             {}\n",
                        fabric::nic::roce::to_string(*endpoint),
                        settings_.access.tokens.empty()
                            ? "for nobody: the settings have no [access.tokens]"
                            : "for clients with a token of [access.tokens]",
                        link::network_in_short(tls_ != nullptr));
  }
  if (const fabric::Device* rdma = host_->rdma()) {
    text +=
        fmt::format("RDMA         {}: where clients read and write the store, let in as above\n",
                    rdma->attributes().wire);
  }
  if (!resp_text_.empty()) {
    text += fmt::format("redis        {}\n", resp_text_);
  }
  if (!settings_.metrics.empty()) {
    text +=
        fmt::format("metrics      http://{0}/metrics, and http://{0}/health\n", settings_.metrics);
  }
  if (!page_text_.empty()) {
    text += fmt::format("live page    {}\n", page_text_);
  }
  return text;
}

Status Daemon::serve(const StopSignals& signals) {
  bool is_known = false;  // that it has failed
  std::uint32_t rereads = signals.rereads();
  while (signals.count() == 0 && !host_->stop_wanted()) {
    (void)runtime_.turn();
    if (signals.rereads() != rereads) [[unlikely]] {
      rereads = signals.rereads();
      fmt::print(stderr, "{}", read_again());
    }
    if (is_known) {
      continue;
    }
    if (const Status failure = host_->failure(); !failure.ok()) [[unlikely]] {
      if (settings_.on_failure == OnFailure::exit) {
        (void)runtime_.run_for(answer_failures_ns);
        return end_failed(failure);
      }
      is_known = true;
      fmt::print(stderr,
                 "remora: the store has failed; the server goes on, and refuses what it must: {}\n",
                 failure.message());
    }
  }
  return run_until_quiet(signals);
}

// Nothing is left to wait for.
Status Daemon::end_failed(const Status& why) {
  close_doors();
  (void)runtime_.run_for(quiet_look_ns);
  return Status(Code::io_error, fmt::format("the store has failed: {}", why.message()));
}

void Daemon::close_doors() {
  host_->close_doors();
  if (resp_) {
    resp_->close_doors();
  }
}

Status Daemon::run_until_quiet(const StopSignals& signals) {
  const std::uint32_t before = signals.count();
  const std::uint64_t give_up_ns = runtime_.after(quiet_most_ns);
  // A client that asked for the end gets its answer first, and then leaves.
  const std::uint64_t answered_ns = runtime_.after(answer_patience_ns);
  do {
    (void)runtime_.run_for(quiet_look_ns);
  } while (host_->stopper_here() && signals.count() == before && runtime_.now_ns() < answered_ns);
  close_doors();
  while (host_->busy() || host_->links() != 0 || (resp_ && resp_->busy())) {
    if (const Status failure = host_->failure(); !failure.ok()) {
      return end_failed(failure);
    }
    if (signals.count() > before || runtime_.now_ns() > give_up_ns) {
      return Status(Code::timed_out,
                    "stopped while values were on their way: what was not acknowledged as "
                    "persistent may be lost");
    }
    (void)runtime_.run_for(quiet_look_ns);
  }
  if (const Status failure = host_->failure(); !failure.ok()) {
    return end_failed(failure);
  }
  return host_->finish();
}

}  // namespace remora::server
