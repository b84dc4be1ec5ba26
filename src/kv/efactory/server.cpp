#include "kv/efactory/server.h"

#include <algorithm>
#include <utility>

#include "base/racy_copy.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

constexpr fabric::AccessFlags index_rights = fabric::remote_read;
constexpr fabric::AccessFlags reader_rights = fabric::remote_read;
constexpr fabric::AccessFlags writer_rights =
    fabric::local_write | fabric::remote_read | fabric::remote_write | fabric::flush_visibility;
// Grants of one client that are open or remembered. Those that it never writes stay until a round.
constexpr std::size_t most_grants = 1 << 16;
// After which a value is looked for whose client was to ask for it, and has not.
constexpr std::uint64_t look_forgotten_ns = 50'000'000;
constexpr std::string_view damaged_text =
    "the value of this key is damaged: it fails its checksum; put it anew, delete it, or restore "
    "it "
    "from a backup";

}  // namespace

EfactoryServer::EfactoryServer(const Host& host, std::unique_ptr<Catalogue> catalogue,
                               const ServerOptions& options, const EngineOptions& engine)
    : host_(host),
      background_(host.background()),
      options_(options),
      engine_(engine),
      catalogue_(std::move(catalogue)),
      readable_(catalogue_->log()),
      reads_(engine.hybrid_reads ? Reads::by_mark : Reads::asked),
      commits_(background_),
      local_(new EfactoryLocal(*catalogue_, *this, commits_, options.local_commit_ns)) {
  local_->verify_reads(options.verify_reads);
}

EfactoryServer::~EfactoryServer() {
  flows_.abandon();
}

Result<std::unique_ptr<StoreServer>> EfactoryServer::start(const Host& host, Pool& pool,
                                                           const ServerOptions& options,
                                                           const EngineOptions& engine) {
  Result<std::unique_ptr<Catalogue>> catalogue = options.create
                                                     ? Catalogue::create(host, pool, options)
                                                     : Catalogue::recover(host, pool, options);
  if (!catalogue.ok()) {
    return catalogue.status();
  }
  std::unique_ptr<EfactoryServer> server(
      new EfactoryServer(host, std::move(catalogue).value(), options, engine));
  Result<std::unique_ptr<rpc::Server>> rpc =
      rpc::Server::create(host, *server,
                          {.most_clients = options.most_clients,
                           .batch = options.batch != 0 ? options.batch : rpc::ServerOptions().batch,
                           .request_bytes = request_bytes_max,
                           .reply_bytes = reply_bytes_max,
                           .told_of_commits = server->commits_.is_told(),
                           .connect = options.connect});
  if (!rpc.ok()) {
    return rpc.status();
  }
  server->rpc_ = std::move(rpc).value();
  server->flows_.keep(server->verify());
  server->flows_.keep(server->flag_flushed());
  server->flows_.keep(server->tidy());
  server->flows_.keep(server->scrub_always());
  server->flows_.keep(server->forget_expired());
  server->flows_.keep(server->local_->commit());
  server->flows_.keep(server->move_marks());
  server->flows_.keep(server->verify_recovered());
  return std::unique_ptr<StoreServer>(std::move(server));
}

// --- Clients ---

Result<PeerAddress> EfactoryServer::accept(const PeerAddress& client, Rights rights) {
  Result<fabric::QueuePairAddress> own = rpc_->accept(client.queue_pair, rights == Rights::write);
  if (!own.ok()) {
    return own.status();
  }
  return PeerAddress{*own};
}

Status EfactoryServer::joined(const rpc::Session& session) {
  Peer peer;
  REMORA_TRY(share_log(session, peer));
  REMORA_TRY(share_index(session, peer));
  peer.round = round_;  // it has begun nothing
  peers_[session.id] = std::move(peer);
  return {};
}

Status EfactoryServer::share_log(const rpc::Session& session, Peer& peer) {
  const Offset first_block = catalogue_->pool().header().blocks;
  const fabric::AccessFlags rights = session.may_write ? writer_rights : reader_rights;
  peer.guard = std::make_unique<StoreGuard>(catalogue_->log(), readable_, first_block,
                                            StoreGuard::Closing::when_durable);
  if (options_.segment_keys || !host_.device().attributes().asks_guards) {
    peer.segments =
        std::make_unique<SegmentKeys>(*session.domain, host_.region(), catalogue_->log(), rights);
    return {};
  }
  Result<std::unique_ptr<fabric::MemoryRegion>> pool = session.domain->register_memory(
      host_.region().bytes().subspan(first_block), rights, &host_.region());
  if (!pool.ok()) {
    return pool.status();
  }
  peer.pool = std::move(pool).value();
  REMORA_CHECK(peer.pool->guard_with(*peer.guard), "the device says that it asks guards");
  return {};
}

Status EfactoryServer::share_index(const rpc::Session& session, Peer& peer) {
  Result<std::unique_ptr<fabric::MemoryRegion>> index = session.domain->register_memory(
      catalogue_->index().memory(), index_rights, catalogue_->index_region());
  if (!index.ok()) {
    return index.status();
  }
  peer.old_index = std::exchange(peer.index, std::move(index).value());
  return {};
}

// What the client was granted stays as it is until it can write no more.
bool EfactoryServer::left(const rpc::Session& session) {
  const auto peer = peers_.find(session.id);
  if (peer == peers_.end()) {
    return true;
  }
  peer->second.leaving = true;
  end_snapshot_of(session.id);
  if (!session.queue_pair->quiet()) {
    return false;
  }
  peers_.erase(peer);
  return true;
}

// Redis clients and standard whole puts do not wait for the commits of others, nor does cleaning.
bool EfactoryServer::may_wait() {
  const bool is_unused = local_->uses() == std::exchange(local_uses_, local_->uses());
  return options_.may_stand_still && is_unused && !local_->busy() && !cleaning_ && !growing_;
}

// Places are told as they lie in the pool, of which the region is the end.
Layout EfactoryServer::layout(const Peer& peer) const {
  fabric::RemoteAddress pool;
  if (peer.pool != nullptr) {
    pool = peer.pool->remote(0);
    pool.address -= host_.region().size() - peer.pool->bytes().size();
  }
  return {.round = round_,
          .pool = pool,
          .pool_bytes = host_.region().size(),
          .index = peer.index->remote(0),
          .geometry = catalogue_->index().geometry(),
          .put_timeout_ns = options_.put_timeout_ns,
          .reads = reads_,
          .whole_value_bytes = whole_value_bytes_max,
          .by_segment = peer.pool == nullptr ? 1u : 0u};
}

// --- Requests ---

rpc::Reply EfactoryServer::handle(const rpc::Session& session, std::uint32_t, rpc::Kind kind,
                                  ConstBytes request, Bytes body) {
  const bool changes = kind == put_request || kind == whole_put || kind == lasting_put ||
                       kind == del_request || kind == Message::persist;
  if (changes && !session.may_write) {
    return rpc::Reply::failure(body, Code::permission_denied, "this client may read alone");
  }
  switch (kind) {
    case hello:
      return {.size_bytes =
                  static_cast<std::uint32_t>(write_struct(body, layout(peers_.at(session.id))))};
    case put_request:
      ++puts_;
      return put(session, request, body);
    case whole_put:
      ++puts_;
      return put_whole(request, body, Durability::standard);
    case lasting_put:
      ++puts_;
      return put_whole(request, body, Durability::persistent);
    case get_request:
    case whole_get:
    case checked_get:
    case checked_whole_get:
      ++gets_;
      return get(request, body, kind == whole_get || kind == checked_whole_get,
                 kind == checked_get || kind == checked_whole_get);
    case del_request:
      ++dels_;
      return del(request, body);
    case scan_request:
      return scan(request, body);
    case Message::persist:
      return persist(session, request, body);
    case snapshot:
      return answer_snapshot(session, request, body);
    case segments:
      return list_segments(session, request, body);
    case Message::end_snapshot:
      end_snapshot_of(session.id);
      return {};
    case arrived:
      if (const std::optional<RoundReply> reply = read_struct<RoundReply>(request)) {
        return arrive(session, *reply);
      }
      break;
    default:
      break;
  }
  return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
}

// Under an older round a client may still be led to what is about to go.
rpc::Reply EfactoryServer::list_segments(const rpc::Session& session, ConstBytes request,
                                         Bytes body) {
  const std::optional<SegmentsRequest> ask = read_struct<SegmentsRequest>(request);
  Peer& peer = peers_.at(session.id);
  if (!ask || peer.segments == nullptr) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  const std::span<const Segment> leaving =
      ask->round == round_ ? std::span<const Segment>(leaving_) : std::span<const Segment>();
  const Result<std::size_t> size = peer.segments->list(*ask, leaving, body);
  return size.ok() ? rpc::Reply{.size_bytes = static_cast<std::uint32_t>(*size)}
                   : rpc::Reply::failure(body, size.code(), size.status().message());
}

rpc::Reply EfactoryServer::full(Bytes body) {
  full_ = true;
  wake_background();
  return cleaning_ || wants_cleaning()
             ? rpc::Reply::failure(body, Code::in_use, "space is being cleaned; try again")
             : rpc::Reply::failure(body, Code::no_space,
                                   "the pool is full: delete something, or use a larger pool");
}

rpc::Reply EfactoryServer::put(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<PutRequest> ask = read_struct<PutRequest>(request);
  if (!ask || ask->key_bytes != request.size() - sizeof(PutRequest) || ask->key_bytes == 0 ||
      ask->key_bytes > limits::key_bytes || ask->value_bytes > limits::value_bytes) {
    return rpc::Reply::failure(body, Code::invalid_argument,
                               "a key has 1 byte to 1 KB, a value at most 16 MB");
  }
  if (catalogue_->awaited().size() >= options_.awaited_versions) {
    return rpc::Reply::failure(body, Code::in_use, "too many values are on their way; try again");
  }
  const ConstBytes key = request.subspan(sizeof(PutRequest));
  const std::uint64_t size_bytes = object_format::size_bytes(key.size(), ask->value_bytes);
  Peer& peer = peers_.at(session.id);
  if (size_bytes > options_.client_bytes) {
    return rpc::Reply::failure(body, Code::invalid_argument,
                               "the value is larger than all that a client may have on its way; "
                               "the server's client_bytes says how much that is");
  }
  if (peer.values >= options_.client_operations ||
      peer.value_bytes > options_.client_bytes - size_bytes) {
    return rpc::Reply::failure(body, Code::in_use,
                               "too many values of this client are on their way; try again");
  }
  if (peer.guard->grants().size() >= most_grants) {
    forgets_grants_ = true;
    wake_background();
    return rpc::Reply::failure(body, Code::in_use,
                               "too many values of this client never came; try again");
  }
  if (!admits(size_bytes) || !in_pace()) {
    return full(body);
  }
  // Who says that it will ask is not forestalled: on page media that would be a commit of its own.
  const std::uint64_t look_ns =
      ask->will_persist != 0
          ? host_.now_ns() + std::min(look_forgotten_ns, options_.put_timeout_ns / 2)
          : 0;
  const Result<Catalogue::Granted> granted =
      catalogue_->put(key, ask->value_bytes, ask->client_sum, session.id, look_ns);
  if (!granted.ok()) {
    return granted.status().code() == Code::no_space
               ? full(body)
               : rpc::Reply::failure(body, granted.status().code(), granted.status().message());
  }
  took(size_bytes);
  pace_.taken_bytes += size_bytes;
  ++peer.values;
  peer.value_bytes += size_bytes;
  wake_background();
  const Offset offset = granted->placed.offset;
  peer.guard->open(catalogue_->log().at(offset));
  const PutReply reply{offset + object_format::value_begin(key.size()), offset, granted->sequence};
  return {.size_bytes = static_cast<std::uint32_t>(write_struct(body, reply)),
          .patient = ask->will_persist != 0};
}

// All of the version is here. No space is granted, so nothing has to be awaited, verified or given
// up.
rpc::Reply EfactoryServer::put_whole(ConstBytes request, Bytes body, Durability durability) {
  const std::optional<WholePut> ask = read_struct<WholePut>(request);
  if (!ask || ask->key_bytes > request.size() - sizeof(WholePut)) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  const ConstBytes key = request.subspan(sizeof(WholePut), ask->key_bytes);
  const ConstBytes value = request.subspan(sizeof(WholePut) + ask->key_bytes);
  if (!in_pace()) {
    return full(body);
  }
  const Result<Ticket> ticket =
      durability == Durability::persistent ? put_lasting(key, value) : put_standard(key, value);
  if (!ticket.ok()) {
    return ticket.code() == Code::no_space
               ? full(body)
               : rpc::Reply::failure(body, ticket.code(), ticket.status().message());
  }
  pace_.taken_bytes += object_format::size_bytes(key.size(), value.size());
  return {.ticket = *ticket};
}

// As one of the server's own process.
Result<Ticket> EfactoryServer::put_standard(ConstBytes key, ConstBytes value) {
  const Result<LocalStore::Mark> put = local_->put(key, std::span(&value, 1), 0);
  if (!put.ok()) {
    return put.status();
  }
  local_->hurry();
  return Ticket{};
}

// Past the local store: its changes wait for commits of its own, which would come beside the one
// that the reply asks for, and keep the loop from waiting for that one.
Result<Ticket> EfactoryServer::put_lasting(ConstBytes key, ConstBytes value) {
  const std::uint64_t size_bytes = object_format::size_bytes(key.size(), value.size());
  if (host_.region().granularity() == Granularity::page) {
    REMORA_TRY(host_.region().failure());  // no commit would come
  }
  if (!admits(size_bytes)) {
    return Status(Code::no_space, "space is to be cleaned first");
  }
  Result<Ticket> ticket = catalogue_->put_lasting(key, value);
  if (ticket.ok()) {
    changed(size_bytes, false);
    wake_flagger();
    if (host_.region().persistent(*ticket)) {
      durability_ns_.record(0);
    }
  }
  return ticket;
}

rpc::Reply EfactoryServer::get(ConstBytes key, Bytes body, bool whole, bool checked) {
  if (checked) [[unlikely]] {
    catalogue_->verify_newest(key);
  }
  const Catalogue::Found found = catalogue_->get(key);
  wake_flagger();
  if (found.damaged) [[unlikely]] {
    return rpc::Reply::failure(body, Code::damaged, damaged_text);
  }
  if (!found.object) {
    rpc::Reply reply = rpc::Reply::failure(body, Code::not_found, "there is no such key");
    reply.ticket = found.ticket;
    return reply;
  }
  if (!found.object->durable()) {
    close_grant(found.object->offset());
  }
  GetReply reply{found.object->offset(), found.object->size_bytes(), found.object->sequence()};
  std::size_t size = sizeof reply;
  if (const ConstBytes value = found.object->value();
      whole && value.size() <= whole_value_bytes_max) {
    reply.object_offset = 0;
    host_.charge_copy(value.size());
    racy_copy(body.subspan(size, value.size()), value);
    size += value.size();
  }
  write_struct(body, reply);
  return {.size_bytes = static_cast<std::uint32_t>(size), .ticket = found.ticket};
}

rpc::Reply EfactoryServer::del(ConstBytes key, Bytes body) {
  const Result<Ticket> ticket = catalogue_->del(key);
  if (!ticket.ok()) {
    return ticket.status().code() == Code::no_space
               ? full(body)
               : rpc::Reply::failure(body, ticket.status().code(), ticket.status().message());
  }
  wake_tidy();
  return {.ticket = *ticket};
}

// An object's offset proves nothing: a value may hold bytes that look like an object. Only what the
// client was granted is looked at.
rpc::Reply EfactoryServer::persist(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<PersistRequest> ask = read_struct<PersistRequest>(request);
  if (!ask) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  StoreGuard& guard = *peers_.at(session.id).guard;
  const Result<Ticket> ticket = guard.has(ask->object_offset)
                                    ? catalogue_->persist(ask->object_offset, ask->sequence)
                                    : Status(Code::not_found, "no such version was granted");
  wake_flagger();
  if (!ticket.ok()) {
    return rpc::Reply::failure(body, ticket.status().code(), ticket.status().message());
  }
  guard.close(ask->object_offset);
  return {.ticket = *ticket};
}

rpc::Reply EfactoryServer::scan(ConstBytes request, Bytes body) {
  const std::optional<ScanRequest> ask = read_struct<ScanRequest>(request);
  if (!ask) {
    return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
  }
  const std::size_t size = pack_scan(*ask, body, [&](Tag from, const auto& visit) {
    const bool lists_awaited = host_.faults().planted(faults::scan_lists_awaited);
    return catalogue_->scan_shown(
        from, 1, [&](std::uint64_t) { return lists_awaited; }, visit);
  });
  return {.size_bytes = static_cast<std::uint32_t>(size)};
}

std::vector<StoreServer::Counter> EfactoryServer::counters() const {
  const LogUsage usage = catalogue_->log().usage();
  const std::uint64_t now_ns = host_.now_ns();
  std::uint64_t oldest_ns = now_ns;
  for (const Awaited& version : catalogue_->awaited()) {
    oldest_ns = std::min(oldest_ns, version.received_ns);
  }
  if (local_->waits_since_ns() != 0) {
    oldest_ns = std::min(oldest_ns, local_->waits_since_ns());
  }
  return {{"keys", catalogue_->keys()},
          {"keys_with_expiry", catalogue_->expiring()},
          {"recovered_keys", catalogue_->recovered_keys()},
          {"verified_keys", verified_keys()},
          {"damaged_keys", catalogue_->damaged().size()},
          {"index_bytes", catalogue_->index_bytes()},
          {"expired_keys", expired_},
          {"put_requests", puts_},
          {"get_requests", gets_},
          {"del_requests", dels_},
          {"durability_lag_ns", now_ns - oldest_ns},
          {"log_bytes_in_use", usage.segment_bytes},
          {"log_bytes_total", usage.total_bytes},
          {"awaited_versions", catalogue_->awaited().size() + local_->waiting()},
          {"verified_versions", verified_},
          {"verified_by_worker", looked_aside_},
          {"superseded_versions", superseded_},
          {"invalidated_versions", invalidated_},
          {"cleanings", cleaned_},
          {"cleaned_parts", cleaned_parts_},
          {"moved_versions", moved_},
          {"scrub_passes", scrub_.passes},
          {"scrub_reached", scrub_.reached},
          {"scrub_objects", scrub_.objects},
          {"scrub_last_keys", scrub_.last_keys},
          {"scrub_last_damaged", scrub_.last_damaged},
          {"scrub_last_end_ms", scrub_.last_end_ms},
          {"rounds", round_}};
}

}  // namespace remora::kv::efactory
