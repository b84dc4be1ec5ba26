#include "kv/common/plain_server.h"

#include <utility>

#include "kv/common/values.h"
#include "kv/common/wire.h"

namespace remora::kv {
namespace {

constexpr fabric::AccessFlags reader_rights = fabric::remote_read;
constexpr fabric::AccessFlags writer_rights =
    fabric::local_write | fabric::remote_read | fabric::remote_write;
constexpr std::uint64_t look_persistent_ns = 1'000;

}  // namespace

PlainServer::PlainServer(const Host& host, Pool& pool, const ServerOptions& options)
    : host_(host), first_block_(pool.header().blocks), options_(options) {}

PlainServer::~PlainServer() {
  flows_.abandon();
}

Status PlainServer::listen(rpc::ServerOptions rpc_options) {
  rpc_options.most_clients = options_.most_clients;
  rpc_options.batch = options_.batch != 0 ? options_.batch : 1;
  Result<std::unique_ptr<rpc::Server>> rpc = rpc::Server::create(host_, *this, rpc_options);
  if (!rpc.ok()) {
    return rpc.status();
  }
  rpc_ = std::move(rpc).value();
  readable_.emplace(log());
  shared_generation_ = index_place().generation;
  return {};
}

// --- Clients ---

Result<PeerAddress> PlainServer::accept(const PeerAddress& client, Rights rights) {
  Result<fabric::QueuePairAddress> own = rpc_->accept(client.queue_pair, rights == Rights::write);
  if (!own.ok()) {
    return own.status();
  }
  return PeerAddress{*own};
}

Status PlainServer::joined(const rpc::Session& session) {
  Peer peer;
  Result<std::unique_ptr<fabric::MemoryRegion>> pool = session.domain->register_memory(
      host_.region().bytes().subspan(first_block_),
      session.may_write ? writer_rights : reader_rights, &host_.region());
  if (!pool.ok()) {
    return pool.status();
  }
  peer.pool = std::move(pool).value();
  peer.guard =
      std::make_unique<StoreGuard>(log(), *readable_, first_block_, StoreGuard::Closing::when_told);
  (void)peer.pool->guard_with(*peer.guard);  // where it cannot, its rights end with the region
  REMORA_TRY(share_index_with(session, peer));
  peers_[session.id] = std::move(peer);
  return {};
}

Status PlainServer::share_index_with(const rpc::Session& session, Peer& peer) {
  const IndexPlace place = index_place();
  if (place.memory.empty()) {
    return {};
  }
  Result<std::unique_ptr<fabric::MemoryRegion>> index =
      session.domain->register_memory(place.memory, fabric::remote_read, place.region);
  if (!index.ok()) {
    return index.status();
  }
  if (peer.index != nullptr) {
    peer.old.push_back(std::move(peer.index));
  }
  peer.index = std::move(index).value();
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

bool PlainServer::left(const rpc::Session& session) {
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
  fabric::RemoteAddress pool = peer.pool->remote(0);
  pool.address -= first_block_;
  const fabric::RemoteAddress in_pool{pool.address + place.offset, pool.key};
  return {.generation = place.generation,
          .pool = pool,
          .pool_bytes = host_.region().size(),
          .index = peer.index != nullptr ? peer.index->remote(0) : in_pool,
          .geometry = place.geometry};
}

// --- Requests ---

rpc::Reply PlainServer::handle(const rpc::Session& session, std::uint32_t call, rpc::Kind kind,
                               ConstBytes bytes, Bytes body) {
  const Request request{session, call, bytes, body};
  const bool is_of_key = kind == get_request || kind == del_request;
  if (is_of_key && !check_sizes(bytes, {}).ok()) {
    return nonsense(request);
  }
  const bool only_looks = kind == hello || kind == get_request || kind == scan_request;
  if (!only_looks && !session.may_write) {
    return rpc::Reply::failure(body, Code::permission_denied, "this client may read alone");
  }
  switch (kind) {
    case hello:
      return reply(request, layout(peers_.at(session.id)));
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
    default:
      return other(request, kind);
  }
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
  if (!object->intact()) {
    return rpc::Reply::failure(request.body, Code::timed_out, "the value did not arrive whole");
  }
  if (!host_.faults().planted(not_flushed)) {
    host_.flush(object->value());
  }
  close_grant(request, object->offset());
  return {.ticket = host_.drain()};
}

Task<Status> PlainServer::persistent(Ticket ticket) {
  if (!host_.region().persistent(ticket)) {
    host_.region().request(ticket);
  }
  while (!host_.region().persistent(ticket)) {
    const Status failure = host_.region().failure();
    if (!failure.ok()) {
      co_return failure;
    }
    co_await host_.runtime().sleep_for(look_persistent_ns);
  }
  co_return Status();
}

}  // namespace remora::kv
