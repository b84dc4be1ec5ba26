#include "rpc/server.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/lost_memory.h"

namespace remora::rpc {

using fabric::Opcode;
using fabric::WorkCompletion;
using fabric::WorkStatus;

namespace {

// The first call of every session, with every engine: it tells where things lie, and of no byte
// that lies there. So who comes to a store that has lost memory can ask how it is.
constexpr Kind hello = 1;

constexpr std::uint32_t place_bits = 10;
constexpr std::uint64_t place_mask = (1u << place_bits) - 1;
constexpr std::uint32_t index_bits = 16;
constexpr std::uint32_t index_mask = (1u << index_bits) - 1;
constexpr std::uint32_t no_buffer = 64;
// How often a loop in virtual time looks whether something is persistent.
constexpr std::uint64_t look_ns = 1000;

// Work ids name the session and a buffer of it.
std::uint64_t work_id(SessionId session, std::uint32_t index) {
  return session << index_bits | index;
}

// A buffer is free again when its SEND has completed, which may be seen a little after the client's
// next request: so there are more buffers than requests in flight.
std::uint32_t buffers_of(const ServerOptions& options) {
  return std::min<std::uint32_t>(2 * options.receives, 48) + options.notices;
}

}  // namespace

Reply Reply::failure(Bytes body, Code code, std::string_view message) {
  const std::size_t size = std::min(body.size(), message.size());
  std::memcpy(body.data(), message.data(), size);
  return {.code = code, .size_bytes = static_cast<std::uint32_t>(size)};
}

Server::Server(const Host& host, Service& service, const ServerOptions& options)
    : host_(host), service_(service), options_(options), committer_(options.committer) {
  if (committer_ == nullptr && host.has_region()) {
    committer_ = &own_committer_.emplace(host.runtime(), host.region(), Committer::Listens::no);
  }
  if (committer_ != nullptr) {
    committer_->join(*this);
  }
  waiting_.reserve(std::size_t{options.most_clients} * buffers_of(options));
  clients_.resize(options.most_clients);
}

Result<std::unique_ptr<Server>> Server::create(const Host& host, Service& service,
                                               const ServerOptions& options) {
  REMORA_CHECK(options.most_clients <= place_mask && options.receives > 0 &&
                   options.receives <= 48 && options.notices <= 15 && options.batch > 0,
               "options of the RPC server out of range");
  std::unique_ptr<Server> server(new Server(host, service, options));
  Result<std::unique_ptr<fabric::CompletionQueue>> receives =
      host.device().create_completion_queue(options.most_clients * options.receives);
  Result<std::unique_ptr<fabric::CompletionQueue>> sends =
      host.device().create_completion_queue(options.most_clients * buffers_of(options));
  if (!receives.ok() || !sends.ok()) {
    return receives.ok() ? sends.status() : receives.status();
  }
  server->receives_ = std::move(receives).value();
  server->sends_ = std::move(sends).value();
  if (host.runtime().core_group(host.core()) != nullptr) {
    server->cores_ = std::make_unique<RequestCores>(host, options.batch);
  }
  host.runtime().add_poller(*server);
  return server;
}

Server::~Server() = default;

// --- Clients ---

Result<fabric::QueuePairAddress> Server::accept(const fabric::QueuePairAddress& address,
                                                bool may_write) {
  const auto place = std::find(clients_.begin(), clients_.end(), nullptr);
  if (place == clients_.end()) {
    return Status(Code::no_space, "the server has reached its limit of clients; try again later");
  }
  auto client = std::make_unique<Client>();
  client->domain = host_.device().create_domain();
  client->request_memory.resize(options_.receives * request_stride());
  client->reply_memory.resize(buffers_of(options_) * reply_stride());
  Result<std::unique_ptr<fabric::MemoryRegion>> requests =
      client->domain->register_memory(client->request_memory, fabric::local_write);
  Result<std::unique_ptr<fabric::MemoryRegion>> replies =
      client->domain->register_memory(client->reply_memory, fabric::local_read);
  Result<std::unique_ptr<fabric::QueuePair>> queue_pair =
      client->domain->create_queue_pair({.send_queue = sends_.get(),
                                         .receive_queue = receives_.get(),
                                         .max_sends = buffers_of(options_),
                                         .max_receives = options_.receives});
  for (const Status& status : {requests.status(), replies.status(), queue_pair.status()}) {
    REMORA_TRY(status);
  }
  client->requests = std::move(requests).value();
  client->replies = std::move(replies).value();
  client->queue_pair = std::move(queue_pair).value();
  client->unused = (std::uint64_t{1} << buffers_of(options_)) - 1;
  const auto index = static_cast<std::uint64_t>(place - clients_.begin());
  client->session = {.id = ++rounds_ << place_bits | index,
                     .may_write = may_write,
                     .domain = client->domain.get(),
                     .queue_pair = client->queue_pair.get()};
  REMORA_TRY(client->queue_pair->initialise());
  for (std::uint32_t receive = 0; receive < options_.receives; ++receive) {
    REMORA_TRY(post_receive(*client, receive));
  }
  REMORA_TRY(client->queue_pair->connect(address, options_.connect));
  REMORA_TRY(service_.joined(client->session));
  const fabric::QueuePairAddress own = client->queue_pair->address();
  *place = std::move(client);
  ++live_;
  return own;
}

const Server::Client* Server::find(SessionId session) const {
  const std::uint64_t place = session & place_mask;
  if (place >= clients_.size() || !clients_[place] || clients_[place]->session.id != session) {
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
  client.queue_pair->fail();
  --live_;
  ++leaving_;
  host_.runtime().run_soon(kick_);
}

// Clients that leave are let go when the service agrees.
bool Server::let_go() {
  bool some = false;
  for (std::unique_ptr<Client>& client : clients_) {
    if (client && client->state == State::leaving) {
      if (service_.client_left(client->session)) {
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
  bool worked = take_sent();
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
  const std::size_t count = receives_->poll(
      std::span(requests_).first(std::min<std::size_t>(options_.batch, most_batch)));
  if (count == 0) {
    return false;
  }
  host_.charge(Work::poll);
  for (std::size_t i = 0; i < count; ++i) {
    Client* client = find(requests_[i].id >> index_bits);
    if (client != nullptr && client->state == State::connected) {
      handle(*client, requests_[i]);
    }
  }
  return true;
}

// A client that is gone meanwhile has nobody to be answered.
bool Server::take_by_cores() {
  bool worked = false;
  for (std::size_t count = receives_->poll(requests_); count != 0;
       count = receives_->poll(requests_)) {
    worked = true;
    for (std::size_t i = 0; i < count; ++i) {
      cores_->add(requests_[i], (requests_[i].id >> index_bits) & place_mask);
    }
  }
  while (const std::optional<WorkCompletion> request = cores_->take()) {
    worked = true;
    Client* client = find(request->id >> index_bits);
    if (client != nullptr && client->state == State::connected) {
      handle(*client, *request);
    }
  }
  return worked;
}

bool Server::take_sent() {
  const std::size_t count = sends_->poll(sent_);
  for (std::size_t i = 0; i < count; ++i) {
    Client* client = find(sent_[i].id >> index_bits);
    if (client == nullptr || client->state != State::connected) {
      continue;
    }
    if (sent_[i].status != WorkStatus::success) {
      drop(*client);
      continue;
    }
    const auto index = static_cast<std::uint32_t>(sent_[i].id & index_mask);
    client->unused |= std::uint64_t{1} << (index & 63);
    client->notices -= index >> 8;
  }
  return count != 0;
}

void Server::handle(Client& client, const WorkCompletion& completion) {
  if (completion.status != WorkStatus::success) {
    drop(client);
    return;
  }
  const auto receive = static_cast<std::uint32_t>(completion.id & index_mask);
  const bool is_written = completion.opcode == Opcode::receive_imm;
  const ConstBytes message =
      client.requests->bytes().subspan(receive * request_stride(), completion.size_bytes);
  std::optional<MessageHead> head;
  if (is_written) {
    head = MessageHead{.call = completion.immediate};
  } else {
    head = read_head(message);
  }
  const std::uint32_t buffer = take_buffer(client);
  if (!head || head->call == 0 || buffer == no_buffer ||
      (is_written && !client.session.may_write)) {
    drop(client);  // nonsense, or more requests at once than it was told, or of a kind not its own
    return;
  }
  host_.charge(Work::request);
  const Bytes body = body_of(client, buffer);
  const Reply answer = is_written ? service_.written(client.session, head->call, body)
                                  : service_.handle(client.session, head->call, head->kind,
                                                    message.subspan(head_bytes), body);
  if (client.state != State::connected) {
    return;
  }
  if (!answer.patient && answer.ticket.commit == 0 && committer_ != nullptr) {
    committer_->noticed();
  }
  if (answer.later) {
    client.unused |= std::uint64_t{1} << buffer;
  } else {
    reply(client, *head, buffer, answer);
  }
  if (client.state == State::connected && !post_receive(client, receive).ok()) {
    drop(client);
  }
}

Status Server::post_receive(Client& client, std::uint32_t receive) {
  const fabric::Sge piece = client.requests->piece(receive * request_stride(), request_stride());
  const fabric::ReceiveWork work{.id = work_id(client.session.id, receive),
                                 .pieces = std::span(&piece, 1)};
  return client.queue_pair->post_receive(std::span(&work, 1));
}

// --- Replies ---

std::uint32_t Server::take_buffer(Client& client) {
  if (client.unused == 0) {
    take_sent();
  }
  if (client.unused == 0) {
    return no_buffer;
  }
  const auto buffer = static_cast<std::uint32_t>(std::countr_zero(client.unused));
  client.unused &= client.unused - 1;
  return buffer;
}

Bytes Server::body_of(Client& client, std::uint32_t buffer) {
  return std::span(client.reply_memory)
      .subspan(buffer * reply_stride() + head_bytes, options_.reply_bytes);
}

void Server::reply(Client& client, const MessageHead& head, std::uint32_t buffer,
                   const Reply& reply) {
  failures_ += reply.code == Code::ok || reply.code == Code::not_found ? 0 : 1;
  put_head(std::span(client.reply_memory).subspan(buffer * reply_stride()),
           {.call = head.call,
            .kind = head.kind,
            .code = static_cast<std::uint16_t>(reply.code),
            .size_bytes = reply.size_bytes});
  host_.charge(Work::post);
  if (any_memory_lost() && head.kind != hello && host_.has_region() && host_.region().lost())
      [[unlikely]] {
    send_failure(client, buffer);  // whatever the reply was made of
    return;
  }
  const auto size = static_cast<std::uint32_t>(head_bytes + reply.size_bytes);
  const std::uint64_t due_ns = host_.charged_until_ns();
  const bool is_persistent = reply.ticket.commit == 0 || host_.region().persistent(reply.ticket);
  if (is_persistent && (due_ns == 0 || due_ns <= host_.now_ns())) [[likely]] {
    send(client, buffer, size);
    return;
  }
  ++client.owed;
  waiting_.push_back({client.session.id, buffer, size, reply.ticket, due_ns});
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
      continue;
    }
    const bool is_persistent =
        waiting.ticket.commit == 0 || host_.region().persistent(waiting.ticket);
    if (is_persistent && waiting.due_ns <= now_ns) {
      replies.answered += waiting.ticket.commit != 0 ? 1 : 0;
      --client->owed;
      send(*client, waiting.buffer, waiting.size_bytes);
    } else if (!is_persistent && has_failed) {
      --client->owed;
      send_failure(*client, waiting.buffer);
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
void Server::send_failure(Client& client, std::uint32_t buffer) {
  const Bytes message = std::span(client.reply_memory).subspan(buffer * reply_stride());
  MessageHead head;
  std::memcpy(&head, message.data(), sizeof head);
  const Status why = host_.region().failure();
  const Reply reply = Reply::failure(body_of(client, buffer), Code::io_error, why.message());
  head.code = static_cast<std::uint16_t>(reply.code);
  head.size_bytes = reply.size_bytes;
  put_head(message, head);
  ++failures_;
  send(client, buffer, static_cast<std::uint32_t>(head_bytes + reply.size_bytes));
}

// A client that waits for no answer may be READing, which this loop executes on some wires.
bool Server::all_owed() const {
  return std::ranges::all_of(clients_, [](const std::unique_ptr<Client>& client) {
    return !client || (client->state == State::connected && client->owed != 0);
  });
}

void Server::send(Client& client, std::uint32_t buffer, std::uint32_t size_bytes) {
  const fabric::Sge piece = client.replies->piece((buffer & 63) * reply_stride(), size_bytes);
  const fabric::SendWork work{.id = work_id(client.session.id, buffer),
                              .opcode = Opcode::send,
                              .pieces = std::span(&piece, 1)};
  if (!client.queue_pair->post_send(std::span(&work, 1)).ok()) {
    drop(client);
  }
}

Status Server::notify(SessionId session, Kind kind, ConstBytes body) {
  Client* client = find(session);
  if (client == nullptr || client->state != State::connected) {
    return Status(Code::not_found, "the client is gone");
  }
  REMORA_CHECK(body.size() <= options_.reply_bytes, "a notice is longer than a message");
  const std::uint32_t buffer =
      client->notices < options_.notices ? take_buffer(*client) : no_buffer;
  if (buffer == no_buffer) {
    return Status(Code::no_space, "too many notices are on their way to this client");
  }
  ++client->notices;
  put_head(std::span(client->reply_memory).subspan(buffer * reply_stride()),
           {.kind = kind, .size_bytes = static_cast<std::uint32_t>(body.size())});
  copy_bytes(body_of(*client, buffer).data(), body);
  host_.charge(Work::post);
  send(*client, buffer | 1 << 8, static_cast<std::uint32_t>(head_bytes + body.size()));
  return {};
}

void Server::answer(SessionId session, std::uint32_t call, const Reply& answer, ConstBytes body) {
  Client* client = find(session);
  if (client == nullptr || client->state != State::connected) {
    return;
  }
  const std::uint32_t buffer = take_buffer(*client);
  if (buffer == no_buffer) {
    drop(*client);
    return;
  }
  copy_bytes(body_of(*client, buffer).data(), body);
  Reply whole = answer;
  whole.size_bytes = static_cast<std::uint32_t>(body.size());
  reply(*client, {.call = call}, buffer, whole);
}

}  // namespace remora::rpc
