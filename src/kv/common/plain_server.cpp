#include "kv/common/plain_server.h"

#include <utility>

#include "kv/common/values.h"
#include "kv/common/wire.h"

namespace remora::kv {
namespace {

constexpr fabric::AccessFlags reader_rights = fabric::remote_read;
constexpr fabric::AccessFlags writer_rights =
    fabric::local_write | fabric::remote_read | fabric::remote_write;
constexpr std::size_t most_marks = 8;  // transactions of them in one turn

}  // namespace

PlainServer::PlainServer(const Host& host, Pool& pool, const ServerOptions& options)
    : host_(host), first_block_(pool.header().blocks), options_(options) {}

PlainServer::~PlainServer() {
  mark_flows_.abandon();
  flows_.abandon();
}

Status PlainServer::listen(rpc::ServerOptions rpc_options, std::uint32_t batch) {
  rpc_options.most_clients = options_.most_clients;
  rpc_options.batch = options_.batch != 0 ? options_.batch : batch;
  REMORA_TRY_RESULT(rpc, rpc::Server::create(host_, *this, rpc_options));
  rpc_ = std::move(rpc).value();
  readable_.emplace(log());
  shared_generation_ = index_place().generation;
  mark_flows_.keep(move_marks());
  return {};
}

Task<void> PlainServer::move_marks() {
  for (;;) {
    co_await host_.runtime().sleep_for(options_.mark_every_ns);
    if (!log().tend().ok()) {
      co_return;
    }
    if (!log().note_bounds({})) {
      continue;
    }
    const Status awaited = co_await persistent(host_.drain());
    if (!awaited.ok() || !log().move_marks(most_marks).ok()) {
      co_return;
    }
  }
}

Status PlainServer::finish() {
  if (!log().note_bounds({})) {
    return host_.region().failure();
  }
  REMORA_TRY(host_.region().wait(host_.drain()));
  const Result<Ticket> moved = log().move_marks(SIZE_MAX);
  return moved.ok() ? host_.region().wait(*moved) : moved.status();
}

// --- Clients ---

Result<PeerAddress> PlainServer::accept(const PeerAddress& client, Rights rights) {
  REMORA_TRY_RESULT(own, rpc_->accept(client.queue_pair, rights == Rights::write));
  return PeerAddress{*own};
}

Status PlainServer::joined(const rpc::Session& session) {
  Peer peer;
  REMORA_TRY(share_log(session, peer));
  REMORA_TRY(share_index_with(session, peer));
  peers_[session.id] = std::move(peer);
  return {};
}

Status PlainServer::share_log(const rpc::Session& session, Peer& peer) {
  const fabric::AccessFlags rights = session.may_write ? writer_rights : reader_rights;
  peer.guard =
      std::make_unique<StoreGuard>(log(), *readable_, first_block_, StoreGuard::Closing::when_told);
  if (options_.segment_keys || !host_.device().attributes().asks_guards) {
    peer.segments = std::make_unique<SegmentKeys>(*session.domain, host_.region(), log(), rights);
    return {};
  }
  REMORA_TRY_RESULT(
      pool, session.domain->register_memory(host_.region().bytes().subspan(first_block_), rights,
                                            &host_.region()));
  peer.pool = std::move(pool).value();
  REMORA_CHECK(peer.pool->guard_with(*peer.guard), "the device says that it asks guards");
  return {};
}

// A table in the pool is part of the pool's region, or has one of its own.
Status PlainServer::share_index_with(const rpc::Session& session, Peer& peer) {
  const IndexPlace place = index_place();
  const bool is_in_pool = place.memory.empty() && place.size_bytes != 0;
  const bool has_own = !place.memory.empty() || (is_in_pool && peer.pool == nullptr);
  if (!has_own || (peer.index != nullptr && peer.generation == place.generation)) {
    return {};
  }
  REMORA_TRY_RESULT(index, is_in_pool
                               ? session.domain->register_memory(
                                     host_.region().bytes().subspan(place.offset, place.size_bytes),
                                     fabric::remote_read, &host_.region())
                               : session.domain->register_memory(place.memory, fabric::remote_read,
                                                                 place.region));
  if (peer.index != nullptr) {
    peer.old.push_back(std::move(peer.index));
  }
  peer.index = std::move(index).value();
  peer.generation = place.generation;
  return {};
}

void PlainServer::share_index() {
  if (const std::uint64_t generation = index_place().generation; generation != shared_generation_) {
    shared_generation_ = generation;
    rpc_->for_each([this](const rpc::Session& session) {
      if (!share_index_with(session, peers_.at(session.id)).ok()) {
        rpc_->disconnect(session.id);
      }
    });
  }
}

bool PlainServer::client_left(const rpc::Session& session) {
  if (!session.queue_pair->quiet()) {
    return false;
  }
  peers_.erase(session.id);
  gone(session.id);
  return true;
}

// Places are told as they lie in the pool, of which the region is the end. A table in the pool
// stays readable when another has replaced it.
PlainLayout PlainServer::layout(const Peer& peer) {
  const IndexPlace place = index_place();
  if (place.size_bytes != 0) {
    readable_->add(place.offset, place.size_bytes);
  }
  fabric::RemoteAddress pool;
  if (peer.pool != nullptr) {
    pool = peer.pool->remote(0);
    pool.address -= first_block_;
  }
  const fabric::RemoteAddress in_pool{pool.address + place.offset, pool.key};
  return {.generation = place.generation,
          .pool = pool,
          .pool_bytes = host_.region().size(),
          .index = peer.index != nullptr ? peer.index->remote(0) : in_pool,
          .geometry = place.geometry,
          .by_segment = peer.pool == nullptr ? 1u : 0u,
          .phase = phase()};
}

// --- Requests ---

rpc::Reply PlainServer::handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                               ConstBytes bytes, Bytes body) {
  const Request request{session, call, bytes, body};
  const bool is_of_key = kind == get_request || kind == del_request;
  if (is_of_key && !check_sizes(bytes, {}).ok()) {
    return nonsense(request);
  }
  const bool only_looks =
      kind == hello || kind == get_request || kind == scan_request || kind == segments_request;
  if (!only_looks && !session.may_write) {
    return rpc::Reply::failure(body, Code::permission_denied, "read-only client");
  }
  switch (kind) {
    case hello: {
      Peer& peer = peers_.at(session.id);
      const Status shared = share_index_with(session, peer);
      return shared.ok() ? reply(request, layout(peer)) : failure(request, shared);
    }
    case put_request:
      return put(request);
    case get_request:
      return get(request);
    case del_request:
      return del(request);
    case scan_request:
      return scan(request);
    case persist_request:
      return persist(request);
    case segments_request:
      return list_segments(request);
    default:
      return other(request, kind);
  }
}

rpc::Reply PlainServer::list_segments(const Request& request) {
  const std::optional<SegmentsRequest> ask = read_struct<SegmentsRequest>(request.bytes);
  const Peer& peer = peers_.at(request.session.id);
  if (!ask || peer.segments == nullptr) {
    return nonsense(request);
  }
  const Result<std::size_t> size = peer.segments->list(*ask, {}, request.body);
  return size.ok() ? rpc::Reply{.size_bytes = static_cast<std::uint32_t>(*size)}
                   : failure(request, size.status());
}

rpc::Reply PlainServer::other(const Request& request, rpc::Kind) {
  return nonsense(request);
}

Result<PlainServer::PutAsk> PlainServer::read_put(const Request& request) {
  const std::optional<PutRequest> head = read_struct<PutRequest>(request.bytes);
  if (!head || head->key_bytes == 0 || head->key_bytes > limits::key_bytes ||
      head->value_bytes > limits::value_bytes ||
      head->key_bytes > request.bytes.size() - sizeof(PutRequest)) {
    return Status(Code::invalid_argument, "a key has 1 byte to 1 KB, a value at most 16 MB");
  }
  return PutAsk{*head, request.bytes.subspan(sizeof(PutRequest), head->key_bytes)};
}

rpc::Reply PlainServer::grant(const Request& request, const Object& object) {
  peers_.at(request.session.id).guard->open(object);
  return reply(request, PutReply{object.offset() + object_format::value_begin(object.key().size()),
                                 object.offset(), object.sequence()});
}

void PlainServer::close_grant(const Request& request, Offset object) {
  peers_.at(request.session.id).guard->close(object);
}

rpc::Reply PlainServer::persist_if_intact(const Request& request, const Fault& not_flushed) {
  const std::optional<PersistRequest> ask = read_struct<PersistRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const Result<Object> object = log().find(ask->object_offset);
  if (!object.ok() || object->sequence() != ask->sequence) {
    return rpc::Reply::failure(request.body, Code::not_found, "there is no such version");
  }
  host_.charge_crc(object->value().size());
  if (!is_intact(*object)) {
    return rpc::Reply::failure(request.body, Code::timed_out, "the value did not arrive whole");
  }
  if (!host_.faults().planted(not_flushed)) {
    host_.flush(object->value());
  }
  close_grant(request, object->offset());
  return {.ticket = host_.drain()};
}

}  // namespace remora::kv
