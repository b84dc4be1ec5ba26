#include "rpc/server.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/lost_memory.h"
#include "rpc/inlet_receives.h"
#include "rpc/outlet_sends.h"

namespace remora::rpc {

namespace {

// The first call of every session, with every engine: it tells where things lie, and of no byte
// that lies there. So who comes to a store that has lost memory can ask how it is.
constexpr Kind hello = 1;

// How often a loop in virtual time looks whether something is persistent.
constexpr std::uint64_t look_ns = 1000;
// Replies of one client that wait, for which there is room without an allocation.
constexpr std::size_t most_waiting = 52;

}  // namespace

Reply Reply::failure(Bytes body, Code code, std::string_view message) {
  const std::size_t size = std::min(body.size(), message.size());
  std::memcpy(body.data(), message.data(), size);
  return {.code = code, .size_bytes = static_cast<std::uint32_t>(size)};
}

Server::Server(const Host& host, Service& service, const ServerOptions& options, Ends ends)
    : host_(host),
      service_(service),
      options_(options),
      outlet_(std::move(ends.outlet)),
      inlet_(std::move(ends.inlet)),
      committer_(options.committer) {
  if (committer_ == nullptr && host.has_region()) {
    committer_ = &own_committer_.emplace(host.runtime(), host.region(), Committer::Listens::no);
  }
  if (committer_ != nullptr) {
    committer_->join(*this);
  }
  waiting_.reserve(std::size_t{options.most_clients} * most_waiting);
  clients_.resize(options.most_clients);
}

Result<std::unique_ptr<Server>> Server::create(const Host& host, Service& service,
                                               const ServerOptions& options) {
  REMORA_CHECK(options.receives > 0 && options.receives <= 48 && options.notices <= 15,
               "options of the RPC server out of range");
  Ends ends;
  REMORA_TRY_RESULT(
      outlet, SendOutlet::create(
                  host.device(),
                  {.most_clients = options.most_clients,
                   .buffers = std::min<std::uint32_t>(2 * options.receives, 48) + options.notices,
                   .notices = options.notices,
                   .reply_bytes = options.reply_bytes}));
  REMORA_TRY_RESULT(inlet,
                    ReceiveInlet::create(host.device(), {.most_clients = options.most_clients,
                                                         .receives = options.receives,
                                                         .request_bytes = options.request_bytes}));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::move(inlet).value();
  return create(host, service, options, std::move(ends));
}

Result<std::unique_ptr<Server>> Server::create(const Host& host, Service& service,
                                               const ServerOptions& options, Ends ends) {
  REMORA_CHECK(options.most_clients <= place_mask && options.batch > 0,
               "options of the RPC server out of range");
  std::unique_ptr<Server> server(new Server(host, service, options, std::move(ends)));
  if (host.runtime().core_group(host.core()) != nullptr) {
    server->cores_ = std::make_unique<RequestCores>(host, options.batch);
  }
  host.runtime().add_poller(*server);
  return server;
}

Server::~Server() {
  for (const std::unique_ptr<Client>& client : clients_) {
    if (client) {
      close(*client);
    }
  }
}

// --- Clients ---

Result<fabric::QueuePairAddress> Server::accept(const fabric::QueuePairAddress& client,
                                                bool may_write) {
  const Result<Introduction> own = accept(Introduction{.queue_pair = client}, may_write);
  return own.ok() ? Result<fabric::QueuePairAddress>(own->queue_pair) : own.status();
}

Result<Introduction> Server::accept(const Introduction& theirs, bool may_write) {
  const auto place = std::find(clients_.begin(), clients_.end(), nullptr);
  if (place == clients_.end()) {
    return Status(Code::no_space, "the server has reached its limit of clients; try again later");
  }
  auto client = std::make_unique<Client>();
  Connection& connection = client->connection;
  connection.place = static_cast<std::uint32_t>(place - clients_.begin());
  connection.session = {.id = ++rounds_ << place_bits | connection.place, .may_write = may_write};
  Introduction ours;
  if (Status status = connect(*client, theirs, ours); !status.ok()) {
    close(*client);
    return status;
  }
  *place = std::move(client);
  ++live_;
  return ours;
}

Status Server::connect(Client& client, const Introduction& theirs, Introduction& ours) {
  Connection& connection = client.connection;
  if (inlet_->connects()) {
    connection.domain = host_.device().create_domain();
    connection.session.domain = connection.domain.get();
    fabric::QueuePairOptions options;
    inlet_->ask(options);
    outlet_->ask(options);
    REMORA_TRY_RESULT(queue_pair, connection.domain->create_queue_pair(options));
    connection.queue_pair = std::move(queue_pair).value();
    connection.session.queue_pair = connection.queue_pair.get();
    REMORA_TRY(connection.queue_pair->initialise());
  }
  REMORA_TRY(outlet_->open(connection, theirs, ours));
  REMORA_TRY(inlet_->open(connection, theirs, ours));
  if (connection.queue_pair) {
    REMORA_TRY(connection.queue_pair->connect(theirs.queue_pair, options_.connect));
    ours.queue_pair = connection.queue_pair->address();
  }
  return service_.joined(connection.session);
}

void Server::close(Client& client) {
  client.connection.queue_pair.reset();
  inlet_->close(client.connection);
  outlet_->close(client.connection);
}

const Server::Client* Server::find(SessionId session) const {
  const std::uint64_t place = session & place_mask;
  if (place >= clients_.size() || !clients_[place] ||
      clients_[place]->connection.session.id != session) {
    return nullptr;
  }
  return clients_[place].get();
}

Server::Client* Server::find(SessionId session) {
  return const_cast<Client*>(std::as_const(*this).find(session));
}

bool Server::owes(SessionId session) const {
  const Client* client = find(session);
  return client != nullptr && client->owed != 0;
}

void Server::disconnect(SessionId session) {
  Client* client = find(session);
  if (client != nullptr && client->state == State::connected) {
    drop(*client);
  }
}

void Server::drop(Client& client) {
  client.state = State::leaving;
  if (client.connection.queue_pair) {
    client.connection.queue_pair->fail();
  }
  --live_;
  ++leaving_;
  host_.runtime().run_soon(kick_);
}

// Clients that leave are let go when the service agrees.
bool Server::let_go() {
  bool some = false;
  for (std::unique_ptr<Client>& client : clients_) {
    if (client && client->state == State::leaving) {
      if (service_.client_left(client->connection.session)) {
        close(*client);
        client.reset();
        --leaving_;
        some = true;
      } else if (!kick_.armed()) {
        host_.runtime().arm(kick_, host_.runtime().after(look_ns));
      }
    }
  }
  return some;
}

// --- Requests ---

bool Server::poll() {
  bool worked = outlet_->collect(*this);
  worked |= take_requests();
  if (!waiting_.empty()) {
    worked |= send_waiting();
  }
  if (leaving_ != 0) [[unlikely]] {
    worked |= let_go();
  }
  return worked;
}

bool Server::take_requests() {
  if (cores_) {
    return take_by_cores();
  }
  const std::size_t count =
      inlet_->poll(std::span(arrivals_).first(std::min<std::size_t>(options_.batch, most_batch)));
  if (count == 0) {
    return false;
  }
  host_.charge(Work::poll);
  for (std::size_t i = 0; i < count; ++i) {
    Client* client = find(arrivals_[i].session);
    if (client != nullptr && client->state == State::connected) {
      handle(*client, arrivals_[i]);
    } else {
      inlet_->forget(arrivals_[i]);
    }
  }
  return true;
}

// A client that is gone meanwhile has nobody to be answered.
bool Server::take_by_cores() {
  bool worked = false;
  for (std::size_t count = inlet_->poll(arrivals_); count != 0; count = inlet_->poll(arrivals_)) {
    worked = true;
    for (std::size_t i = 0; i < count; ++i) {
      cores_->add(arrivals_[i], arrivals_[i].session & place_mask);
    }
  }
  while (const std::optional<Arrival> request = cores_->take()) {
    worked = true;
    Client* client = find(request->session);
    if (client != nullptr && client->state == State::connected) {
      handle(*client, *request);
    } else {
      inlet_->forget(*request);
    }
  }
  return worked;
}

void Server::handle(Client& client, const Arrival& arrival) {
  if (arrival.failed) {
    drop(client);
    return;
  }
  Connection& connection = client.connection;
  const std::optional<Request> request = inlet_->read(connection, arrival);
  const Outlet::Place place =
      request && request->call != 0 ? take_place(client, request->call) : Outlet::Place();
  if (place.index == Outlet::none || client.state != State::connected ||
      (request->is_written && !connection.session.may_write)) {
    // Nonsense, or more requests at once than it was told, or of a kind not its own.
    cut_off(client, arrival, place.index);
    return;
  }
  host_.charge(Work::request);
  const Reply answer = request->is_written
                           ? service_.written(connection.session, request->call, place.body)
                           : service_.handle(connection.session, request->call, request->kind,
                                             request->body, place.body);
  if (client.state != State::connected) {
    cut_off(client, arrival, place.index);
    return;
  }
  if (!answer.patient && answer.ticket.commit == 0 && committer_ != nullptr) {
    committer_->noticed();
  }
  if (answer.later) {
    outlet_->give_back(connection, place.index);
  } else {
    reply(client, place.index, {.call = request->call, .kind = request->kind}, answer);
  }
  if (client.state == State::connected && !inlet_->release(connection, arrival).ok()) {
    drop(client);
  }
}

// What it had of ends that clients share goes back.
void Server::cut_off(Client& client, const Arrival& arrival, std::uint32_t place) {
  inlet_->forget(arrival);
  if (place != Outlet::none) {
    outlet_->forget(place);
  }
  if (client.state == State::connected) {
    drop(client);
  }
}

// --- Replies ---

Outlet::Place Server::take_place(Client& client, std::uint32_t call) {
  const Outlet::Place place = outlet_->take(client.connection, call);
  if (place.index != Outlet::none) [[likely]] {
    return place;
  }
  outlet_->collect(*this);
  return outlet_->take(client.connection, call);
}

void Server::reply(Client& client, std::uint32_t place, const MessageHead& request,
                   const Reply& reply) {
  failures_ += reply.code == Code::ok || reply.code == Code::not_found ? 0 : 1;
  const MessageHead head = {.call = request.call,
                            .kind = request.kind,
                            .code = static_cast<std::uint16_t>(reply.code),
                            .size_bytes = reply.size_bytes};
  host_.charge(Work::post);
  if (any_memory_lost() && head.kind != hello && host_.has_region() && host_.region().lost())
      [[unlikely]] {
    send_failure(client, place, head);  // whatever the reply was made of
    return;
  }
  const std::uint64_t due_ns = host_.charged_until_ns();
  const bool is_persistent = reply.ticket.commit == 0 || host_.region().persistent(reply.ticket);
  if (is_persistent && (due_ns == 0 || due_ns <= host_.now_ns())) [[likely]] {
    send(client, place, head);
    return;
  }
  ++client.owed;
  waiting_.push_back({client.connection.session.id, place, head, reply.ticket, due_ns});
  if (!is_persistent && committer_->expect(reply.ticket)) {
    return;
  }
  if (!kick_.armed()) {  // else the next poll finds out when the next one is due
    host_.runtime().arm(kick_, is_persistent ? due_ns : host_.runtime().after(look_ns));
  }
}

bool Server::send_waiting() {
  const std::uint64_t now_ns = host_.now_ns();
  std::uint64_t next_ns = never_ns;
  std::size_t kept = 0;
  Committer::Replies replies;
  const std::size_t count = waiting_.size();
  const bool has_failed = host_.has_region() && !host_.region().failure().ok();
  for (std::size_t i = 0; i < count; ++i) {
    const Waiting waiting = waiting_[i];
    Client* client = find(waiting.session);
    if (client == nullptr || client->state != State::connected) {
      outlet_->forget(waiting.place);
      continue;
    }
    const bool is_persistent =
        waiting.ticket.commit == 0 || host_.region().persistent(waiting.ticket);
    if (is_persistent && waiting.due_ns <= now_ns) {
      replies.answered += waiting.ticket.commit != 0 ? 1 : 0;
      --client->owed;
      send(*client, waiting.place, waiting.head);
    } else if (!is_persistent && has_failed) {
      --client->owed;
      send_failure(*client, waiting.place, waiting.head);
    } else {
      if (!is_persistent) {
        ++replies.waiting;
        replies.newest.commit = std::max(replies.newest.commit, waiting.ticket.commit);
      }
      if (is_persistent || !committer_->is_told()) {
        next_ns = std::min(next_ns, is_persistent ? waiting.due_ns : now_ns + look_ns);
      }
      waiting_[kept++] = waiting;
    }
  }
  waiting_.resize(kept);
  if (next_ns != never_ns) {
    host_.runtime().arm(kick_, next_ns);
  }
  uncommitted_ = replies.waiting;
  const bool has_begun = committer_ != nullptr && committer_->turn_ends(*this, replies);
  return kept != count || has_begun;
}

// What the reply waits for never will be persistent: that is the answer.
void Server::send_failure(Client& client, std::uint32_t place, MessageHead head) {
  const Status why = host_.region().failure();
  const Reply reply =
      Reply::failure(outlet_->body(client.connection, place), Code::io_error, why.message());
  head.code = static_cast<std::uint16_t>(reply.code);
  head.size_bytes = reply.size_bytes;
  ++failures_;
  send(client, place, head);
}

// A client that waits for no answer may be READing, which this loop executes on some wires.
bool Server::all_owed() const {
  return std::ranges::all_of(clients_, [](const std::unique_ptr<Client>& client) {
    return !client || (client->state == State::connected && client->owed != 0);
  });
}

void Server::send(Client& client, std::uint32_t place, const MessageHead& head) {
  if (!outlet_->send(client.connection, place, head).ok()) {
    drop(client);
  }
}

Status Server::notify(SessionId session, Kind kind, ConstBytes body) {
  Client* client = find(session);
  if (client == nullptr || client->state != State::connected) {
    return Status(Code::not_found, "the client is gone");
  }
  REMORA_CHECK(body.size() <= options_.reply_bytes, "a notice is longer than a message");
  Outlet::Place place = outlet_->take_for_notice(client->connection);
  if (place.index == Outlet::none) {
    outlet_->collect(*this);
    place = outlet_->take_for_notice(client->connection);
  }
  if (place.index == Outlet::none) {
    return Status(Code::no_space, "too many notices are on their way to this client");
  }
  copy_bytes(place.body.data(), body);
  host_.charge(Work::post);
  send(*client, place.index, {.kind = kind, .size_bytes = static_cast<std::uint32_t>(body.size())});
  return {};
}

void Server::answer(SessionId session, std::uint32_t call, const Reply& answer, ConstBytes body) {
  Client* client = find(session);
  if (client == nullptr || client->state != State::connected) {
    return;
  }
  const Outlet::Place place = take_place(*client, call);
  if (place.index == Outlet::none) {
    drop(*client);
    return;
  }
  copy_bytes(place.body.data(), body);
  Reply whole = answer;
  whole.size_bytes = static_cast<std::uint32_t>(body.size());
  reply(*client, place.index, {.call = call}, whole);
}

}  // namespace remora::rpc
