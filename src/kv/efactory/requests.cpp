#include "kv/efactory/requests.h"

#include <algorithm>
#include <utility>

#include "base/racy_copy.h"
#include "kv/efactory/catalogue_shown.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

// Grants of one client that are open or remembered. Those that it never writes stay until a round.
constexpr std::size_t most_grants = 1 << 16;
// A client has announced a persist request. If none comes, the value is looked for after so long.
constexpr std::uint64_t look_forgotten_ns = 50'000'000;
constexpr std::string_view damaged_text =
    "the value of this key is damaged: it fails its checksum; put the key again, delete it, or "
    "restore it from a backup";

rpc::Reply refused(Bytes body, const Status& status) {
  return rpc::Reply::failure(body, status.code(), status.message());
}
rpc::Reply no_such_request(Bytes body) {
  return rpc::Reply::failure(body, Code::invalid_argument, "no such request");
}

bool is_change(rpc::Kind kind) {
  return kind == put_request || kind == whole_put || kind == persistent_put ||
         kind == del_request || kind == Message::persist || kind == together ||
         kind == persistent_together;
}

}  // namespace

Requests::Requests(const RequestParts& parts, const ServerOptions& options)
    : catalogue_(parts.catalogue),
      host_(parts.catalogue.host()),
      peers_(parts.peers),
      rounds_(parts.rounds),
      snapshots_(parts.snapshots),
      verifier_(parts.verifier),
      cleaner_(parts.cleaner),
      upkeep_(parts.upkeep),
      local_(parts.local),
      options_(options) {}

// --- Clients ---

Status Requests::joined(const rpc::Session& session) {
  return peers_.join(session, rounds_.number());
}

bool Requests::client_left(const rpc::Session& session) {
  end_snapshot_of(session.id);
  gathered_.end(session.id);
  return peers_.leave(session);
}

rpc::Reply Requests::handle(const rpc::Session& session, std::uint32_t, rpc::Kind kind,
                            ConstBytes request, Bytes body) {
  if (!session.may_write && is_change(kind)) {
    return rpc::Reply::failure(body, Code::permission_denied, "read-only client");
  }
  switch (kind) {
    case hello:
      return hello_to(session, body);
    case put_request:
      ++puts_;
      return put(session, request, body);
    case whole_put:
      ++puts_;
      return put_whole(request, body, Durability::standard);
    case persistent_put:
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
    case together:
      return gather(session, request, body, Durability::standard);
    case persistent_together:
      return gather(session, request, body, Durability::persistent);
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
      return arrive(session, request, body);
    default:
      return no_such_request(body);
  }
}

// --- Puts and dels ---

rpc::Reply Requests::full(Bytes body) {
  cleaner_.press();
  verifier_.wake();
  upkeep_.wake();
  return cleaner_.is_due()
             ? rpc::Reply::failure(body, Code::in_use, "space is being cleaned; try again")
             : rpc::Reply::failure(body, Code::no_space,
                                   "the pool is full: delete something, or use a larger pool");
}

rpc::Reply Requests::failed(const Status& status, Bytes body) {
  return status.code() == Code::no_space ? full(body) : refused(body, status);
}

Status Requests::check_quota(const Peer& peer, std::uint64_t size_bytes) {
  if (size_bytes > options_.client_bytes) {
    return Status(Code::invalid_argument,
                  "the value exceeds what one client may have in flight (the setting client_bytes "
                  "of the server)");
  }
  if (peer.values >= options_.client_operations ||
      peer.value_bytes > options_.client_bytes - size_bytes) {
    return Status(Code::in_use, "too many values of this client are on their way; try again");
  }
  if (peer.guard->grants().size() >= most_grants) {
    upkeep_.forget_grants();
    verifier_.wake();
    upkeep_.wake();
    return Status(Code::in_use, "too many values of this client never came; try again");
  }
  return Status();
}

rpc::Reply Requests::put(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<PutRequest> ask = read_struct<PutRequest>(request);
  if (!ask || ask->key_bytes != request.size() - sizeof(PutRequest) || ask->key_bytes == 0 ||
      ask->key_bytes > limits::key_bytes || ask->value_bytes > limits::value_bytes) {
    return rpc::Reply::failure(body, Code::invalid_argument,
                               "a key has 1 byte to 1 KB, a value at most 16 MB");
  }
  if (catalogue_.awaited().size() >= options_.awaited_versions) {
    return rpc::Reply::failure(body, Code::in_use, "too many values are on their way; try again");
  }
  const ConstBytes key = request.subspan(sizeof(PutRequest));
  const std::uint64_t size_bytes = object_format::size_bytes(key.size(), ask->value_bytes);
  Peer& peer = peers_.at(session.id);
  if (const Status status = check_quota(peer, size_bytes); !status.ok()) [[unlikely]] {
    return refused(body, status);
  }
  if (!cleaner_.admits(size_bytes) || !cleaner_.in_pace()) {
    return full(body);
  }
  // Do not verify early if the client announced a persist request: on page media that would cost a
  // separate commit.
  const std::uint64_t look_ns =
      ask->will_persist != 0
          ? host_.now_ns() + std::min(look_forgotten_ns, options_.put_timeout_ns / 2)
          : 0;
  const Result<Catalogue::Granted> granted =
      catalogue_.put(key, ask->value_bytes, ask->client_sum, session.id, look_ns);
  if (!granted.ok()) {
    return failed(granted.status(), body);
  }
  cleaner_.took(size_bytes);
  cleaner_.took_in_pace(size_bytes);
  ++peer.values;
  peer.value_bytes += size_bytes;
  verifier_.wake();
  upkeep_.wake();
  const Offset offset = granted->placed.offset;
  peer.guard->open(granted->placed, key.size());
  const PutReply reply{offset + object_format::value_begin(key.size()), offset, granted->sequence};
  return {.size_bytes = static_cast<std::uint32_t>(write_struct(body, reply)),
          .patient = ask->will_persist != 0};
}

// All of the version is here. No space is granted, so nothing has to be awaited, verified or given
// up.
rpc::Reply Requests::put_whole(ConstBytes request, Bytes body, Durability durability) {
  const std::optional<WholePut> ask = read_struct<WholePut>(request);
  if (!ask || ask->key_bytes > request.size() - sizeof(WholePut)) {
    return no_such_request(body);
  }
  const ConstBytes key = request.subspan(sizeof(WholePut), ask->key_bytes);
  const ConstBytes value = request.subspan(sizeof(WholePut) + ask->key_bytes);
  if (!cleaner_.in_pace()) {
    return full(body);
  }
  const Result<Ticket> ticket =
      durability == Durability::persistent ? put_persistent(key, value) : put_standard(key, value);
  if (!ticket.ok()) {
    return failed(ticket.status(), body);
  }
  cleaner_.took_in_pace(object_format::size_bytes(key.size(), value.size()));
  return {.ticket = *ticket};
}

// As one of the server's own process.
Result<Ticket> Requests::put_standard(ConstBytes key, ConstBytes value) {
  REMORA_TRY_RESULT(put, local_.put(key, std::span(&value, 1), 0));
  local_.hurry();
  return Ticket{};
}

// Past the local store. That has commits of its own, which would come in addition to the one that
// the reply asks for, and keep the loop from waiting for that one.
Result<Ticket> Requests::put_persistent(ConstBytes key, ConstBytes value) {
  const std::uint64_t size_bytes = object_format::size_bytes(key.size(), value.size());
  if (host_.region().granularity() == Granularity::page) {
    REMORA_TRY(host_.region().failure());  // no commit would come
  }
  if (!cleaner_.admits(size_bytes)) {
    return Status(Code::no_space, "the log must be cleaned first");
  }
  Result<Ticket> ticket = catalogue_.put_persistent(key, value);
  if (ticket.ok()) {
    cleaner_.took(size_bytes);
    upkeep_.wake();
    verifier_.wake_flagger();
    if (host_.region().persistent(*ticket)) {
      verifier_.note_durability(0);
    }
  }
  return ticket;
}

// An object's offset proves nothing: a value may hold bytes that look like an object. Only what the
// client was granted is looked at.
rpc::Reply Requests::persist(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<PersistRequest> ask = read_struct<PersistRequest>(request);
  if (!ask) {
    return no_such_request(body);
  }
  StoreGuard& guard = *peers_.at(session.id).guard;
  const Result<Ticket> ticket = guard.has(ask->object_offset)
                                    ? catalogue_.persist(ask->object_offset, ask->sequence)
                                    : Status(Code::not_found, "no such version was granted");
  verifier_.wake_flagger();
  if (!ticket.ok()) {
    return refused(body, ticket.status());
  }
  guard.close(ask->object_offset);
  return {.ticket = *ticket};
}

rpc::Reply Requests::del(ConstBytes key, Bytes body) {
  const Result<Ticket> ticket = catalogue_.del(key);
  if (!ticket.ok()) {
    return failed(ticket.status(), body);
  }
  upkeep_.wake();
  return {.ticket = *ticket};
}

// --- Gets and scans ---

rpc::Reply Requests::get(ConstBytes key, Bytes body, bool whole, bool checked) {
  if (checked) [[unlikely]] {
    catalogue_.verify_newest(key);
  }
  const Catalogue::Found found = catalogue_.get(key);
  verifier_.wake_flagger();
  if (found.damaged) [[unlikely]] {
    return rpc::Reply::failure(body, Code::damaged, damaged_text);
  }
  if (!found.object) {
    rpc::Reply reply = rpc::Reply::failure(body, Code::not_found, "there is no such key");
    reply.ticket = found.ticket;
    return reply;
  }
  if (!found.object->durable()) {
    peers_.close_grant(found.object->offset());
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

rpc::Reply Requests::scan(ConstBytes request, Bytes body) {
  const std::optional<ScanRequest> ask = read_struct<ScanRequest>(request);
  if (!ask) {
    return no_such_request(body);
  }
  const std::size_t size = pack_scan(*ask, body, [&](Tag from, const auto& visit) {
    const bool lists_awaited = host_.faults().planted(faults::scan_lists_awaited);
    return catalogue_.scan_shown(
        from, 1, [&](std::uint64_t) { return lists_awaited; }, visit);
  });
  return {.size_bytes = static_cast<std::uint32_t>(size)};
}

// --- What lies where ---

rpc::Reply Requests::hello_to(const rpc::Session& session, Bytes body) {
  return {.size_bytes = static_cast<std::uint32_t>(write_struct(body, rounds_.layout(session.id)))};
}

rpc::Reply Requests::list_segments(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<SegmentsRequest> ask = read_struct<SegmentsRequest>(request);
  const Peer& peer = peers_.at(session.id);
  if (!ask || peer.segments == nullptr) {
    return no_such_request(body);
  }
  const Result<std::size_t> size = peer.segments->list(*ask, rounds_.leaving(ask->round), body);
  return size.ok() ? rpc::Reply{.size_bytes = static_cast<std::uint32_t>(*size)}
                   : refused(body, size.status());
}

rpc::Reply Requests::answer_snapshot(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<SnapshotRequest> ask = read_struct<SnapshotRequest>(request);
  return ask ? snapshots_.answer(session.id, *ask, cleaner_.is_cleaning(), body)
             : no_such_request(body);
}

void Requests::end_snapshot_of(rpc::SessionId session) {
  if (snapshots_.end_of(session)) {
    upkeep_.wake();
  }
}

rpc::Reply Requests::arrive(const rpc::Session& session, ConstBytes request, Bytes body) {
  const std::optional<RoundReply> reply = read_struct<RoundReply>(request);
  if (!reply) {
    return no_such_request(body);
  }
  rounds_.arrive(session.id, reply->round);
  return {};
}

}  // namespace remora::kv::efactory
