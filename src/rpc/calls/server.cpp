#include "rpc/calls/server.h"

#include <algorithm>
#include <cstring>

#include "rpc/calls/faults.h"
#include "runtime/system_random.h"

namespace remora::rpc::calls {

namespace {

constexpr std::uint64_t patience_look_ns = 2'000;

Committer& committer_of(const Host& host, const CallServerOptions& options,
                        std::optional<Committer>& own) {
  return options.committer != nullptr
             ? *options.committer
             : own.emplace(host.runtime(), host.region(), Committer::Listens::no);
}

}  // namespace

CallServer::CallServer(const Host& host, Pool& pool, Effects& effects, const Methods& methods,
                       const CallServerOptions& options)
    : host_(host),
      pool_(pool),
      options_(options),
      parts_{
          host_,    committer_of(host, options, own_committer_), effects, methods, order_, flows_,
          counters_} {}

CallServer::~CallServer() {
  flows_.abandon();
}

Result<std::unique_ptr<CallServer>> CallServer::start(const Host& host, Pool& pool,
                                                      Effects& effects, const Methods& methods,
                                                      const CallServerOptions& options) {
  std::unique_ptr<CallServer> server(new CallServer(host, pool, effects, methods, options));
  REMORA_TRY(server->recover());
  REMORA_TRY_RESULT(rpc, Server::create(host, *server,
                                        {.most_clients = options.most_clients,
                                         .receives = 4,
                                         .request_bytes = sizeof(AttachRequest),
                                         .reply_bytes = notice_bytes,
                                         .notices = notices_in_flight,
                                         .committer = options.committer,
                                         .connect = options.connect}));
  server->rpc_ = std::move(rpc).value();
  host.runtime().add_poller(*server);
  return server;
}

Status CallServer::recover() {
  REMORA_TRY_RESULT(places, SessionLog::find_all(pool_));
  for (const Offset place : *places) {
    REMORA_TRY_RESULT(log, SessionLog::open(host_, pool_, place));
    sessions_.push_back(std::make_unique<Held>(parts_, std::move(log).value()));
  }
  for (const std::unique_ptr<Held>& held : sessions_) {
    held->session.recover();
  }
  return {};
}

bool CallServer::is_busy() const {
  return std::ranges::any_of(sessions_, [](const std::unique_ptr<Held>& held) {
    return !held->session.is_idle() || held->is_resuming;
  });
}

std::uint64_t CallServer::backlog() const {
  std::uint64_t calls = 0;
  for (const std::unique_ptr<Held>& held : sessions_) {
    calls += held->session.backlog();
  }
  return calls;
}

Status CallServer::failure() const {
  for (const std::unique_ptr<Held>& held : sessions_) {
    REMORA_TRY(held->session.failure());
  }
  return {};
}

// --- Connections ---

Status CallServer::joined(const Session& session) {
  clients_.emplace(session.id, session);
  return {};
}

bool CallServer::client_left(const Session& session) {
  if (!session.queue_pair->quiet()) {
    return false;
  }
  for (const std::unique_ptr<Held>& held : sessions_) {
    if (held->client == session.id) {
      held->session.stop();
      held->ring.reset();
      held->client = 0;
    }
  }
  clients_.erase(session.id);
  return true;
}

Reply CallServer::handle(const Session& session, std::uint32_t call, Kind kind, ConstBytes request,
                         Bytes body) {
  if (kind == ping_kind && request.empty()) {
    return {};
  }
  if (kind != attach_kind || request.size() != sizeof(AttachRequest)) {
    return Reply::failure(body, Code::invalid_argument, "no such request");
  }
  AttachRequest attach_request;
  std::memcpy(&attach_request, request.data(), sizeof attach_request);
  flows_.keep(attach(session.id, call, attach_request));
  return {.later = true};
}

// --- Telling ---

// What finds too many notices on their way goes in another turn.
bool CallServer::poll() {
  bool worked = false;
  for (const std::unique_ptr<Held>& held : sessions_) {
    if (held->client == 0 || held->ring == nullptr) {
      continue;
    }
    if (held->unsent_bytes == 0 && held->session.has_news()) {
      held->unsent_bytes = held->session.tell(held->notice, options_.slow_at);
    }
    if (held->unsent_bytes != 0 &&
        rpc_->notify(held->client, results_kind, ConstBytes(held->notice).first(held->unsent_bytes))
            .ok()) {
      held->unsent_bytes = 0;
      worked = true;
    }
  }
  return worked;
}

// --- Attaching ---

Task<void> CallServer::attach(SessionId client, std::uint32_t call, AttachRequest request) {
  const Result<AttachReply> reply = co_await attach_session(client, request);
  if (reply.ok()) {
    rpc_->answer(client, call, {}, object_bytes(*reply));
  } else {
    const Status why = reply.status();
    rpc_->answer(client, call, {.code = why.code()}, as_bytes(why.message()));
  }
}

Task<Result<AttachReply>> CallServer::attach_session(SessionId client, AttachRequest request) {
  REMORA_CO_TRY_RESULT(found, co_await find_or_make(request));
  Held& held = **found;
  if (held.is_resuming) {
    co_return Status(Code::in_use, "somebody resumes the session at this moment; try again");
  }
  held.is_resuming = true;
  const bool receiver_flushes = !trusts_flush(request);
  Status status = co_await take_from_others(held);
  if (status.ok()) {
    status = co_await held.session.resume({.holder = request.holder,
                                           .is_fresh = request.is_fresh != 0,
                                           .acknowledged = request.acknowledged,
                                           .form = form_of(request, receiver_flushes)});
  }
  held.is_resuming = false;
  const auto connection = clients_.find(client);
  if (status.ok() && connection == clients_.end()) {
    status = Status(Code::closed, "the caller has gone meanwhile");
  }
  REMORA_CO_TRY(status);
  const fabric::AccessFlags rights = fabric::local_write | fabric::remote_write |
                                     fabric::flush_visibility | fabric::flush_persistence;
  REMORA_CO_TRY_RESULT(ring, connection->second.domain->register_memory(held.session.log().ring(),
                                                                        rights, &host_.region()));
  held.ring = std::move(ring).value();
  held.client = client;
  held.unsent_bytes = 0;
  const log_format::Mark& mark = held.session.log().mark();
  const fabric::RemoteAddress address = held.ring->remote(0);
  flows_.keep(serve(held, receiver_flushes));
  co_return AttachReply{.session = held.session.log().session(),
                        .epoch = mark.epoch,
                        .first = mark.sequence,
                        .ring_address = address.address,
                        .ring_bytes = held.session.log().ring().size(),
                        .ring_key = address.key,
                        .window = held.session.log().identity().window,
                        .form = mark.form,
                        .receiver_flushes = receiver_flushes ? 1u : 0u};
}

bool CallServer::trusts_flush(const AttachRequest& request) const {
  const bool is_worth_it = request.flush_persists != 0 && host_.device().attributes().flush_worth ==
                                                              fabric::FlushWorth::persistent;
  const bool pushing_is_enough =
      options_.dma_passes_caches && host_.region().granularity() != Granularity::page;
  return !options_.receiver_flushes &&
         (is_worth_it || pushing_is_enough || host_.faults().planted(faults::flush_trusted));
}

// An operator that its sender stores is behind its data only where a FLUSH between the two makes
// that persistent. Where the receiver flushes, nothing keeps the operator from reaching the medium
// first.
Form CallServer::form_of(const AttachRequest& request, bool receiver_flushes) const {
  return receiver_flushes && !host_.faults().planted(faults::order_trusted) ? Form::checksum
                                                                            : request.form;
}

Task<Result<CallServer::Held*>> CallServer::find_or_make(const AttachRequest& request) {
  const std::string_view name(request.name.data(),
                              strnlen(request.name.data(), request.name.size()));
  if (request.form != Form::checksum && request.form != Form::ordered) {
    co_return Status(Code::invalid_argument, "a log has no such form");
  }
  for (const std::unique_ptr<Held>& held : sessions_) {
    if (held->session.log().name() != name) {
      continue;
    }
    if (held->session.log().identity().secret != request.secret) {
      co_return Status(Code::permission_denied, "the secret of the session is another one");
    }
    co_return held.get();
  }
  Ticket ticket;
  REMORA_CO_TRY_RESULT(
      place,
      SessionLog::create(pool_,
                         {.name = name,
                          .secret = request.secret,
                          .session = options_.draw_number ? options_.draw_number() : random_word(),
                          .ring_bytes = request.ring_bytes,
                          .window = request.window,
                          .holder = request.holder,
                          .form = request.form},
                         ticket));
  REMORA_CO_TRY_RESULT(log, SessionLog::open(host_, pool_, *place));
  Held* held = sessions_.emplace_back(std::make_unique<Held>(parts_, std::move(log).value())).get();
  held->is_resuming = true;
  const Status persistent = co_await parts_.committer.persistent(ticket);
  held->is_resuming = false;
  REMORA_CO_TRY(persistent);
  co_return held;
}

// A log is written by one connection at a time. The one that had it is driven to error, and nothing
// that it began may still be under way: a process that works on the memory itself may have been
// stopped in the middle of a copy.
Task<Status> CallServer::take_from_others(Held& held) {
  if (held.client != 0) {
    ++counters_.fenced;
    rpc_->disconnect(held.client);
  }
  while (held.client != 0 || held.session.is_serving()) {
    co_await host_.runtime().sleep_for(patience_look_ns);
  }
  co_return Status();
}

Task<void> CallServer::serve(Held& held, bool receiver_flushes) {
  const SessionId client = held.client;
  const bool is_good = co_await held.session.serve(receiver_flushes);
  if (!is_good && held.client == client) {
    rpc_->disconnect(client);
  }
}

}  // namespace remora::rpc::calls
