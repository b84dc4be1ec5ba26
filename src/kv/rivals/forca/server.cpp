#include "kv/rivals/forca/server.h"

#include "kv/common/scan.h"
#include "kv/common/values.h"
#include "kv/common/wire.h"
#include "kv/rivals/forca/faults.h"

namespace remora::kv::forca {

ForcaServer::ForcaServer(const Host& host, Pool& pool, const ServerOptions& options,
                         Verifies verifies)
    : PlainServer(host, pool, options), verifies_(verifies) {
  const IndexGeometry geometry{host.runtime().random().next(), windows_for(options.expected_keys)};
  memory_ = IndexMemory::make(geometry);
  index_ = std::make_unique<Index>(geometry, memory_.bytes);
}

Result<std::unique_ptr<StoreServer>> ForcaServer::start(const Host& host, Pool& pool,
                                                        const ServerOptions& options,
                                                        Verifies verifies) {
  std::unique_ptr<ForcaServer> server(new ForcaServer(host, pool, options, verifies));
  if (options.create) {
    REMORA_TRY_RESULT(
        log, Log::create(host, pool, {.engine = "forca", .segment_bytes = options.segment_bytes}));
    server->log_ = std::move(log).value();
    REMORA_TRY_RESULT(records, Records::create(host, pool));
    server->records_ = std::move(records).value();
  } else {
    REMORA_TRY(server->recover(pool));
  }
  REMORA_TRY(server->listen());
  return std::unique_ptr<StoreServer>(std::move(server));
}

// --- Hash entry, record, object ---

IndexSlot ForcaServer::find(Tag tag, ConstBytes key) const {
  host().charge(Work::index);
  return index_->find(tag, [&](const IndexSlot& slot) {
    return same(object_of(records_->at(record_of(slot))).key(), key);
  });
}

void ForcaServer::lead_to(Tag tag, IndexSlot slot, Offset record, bool deleted) {
  const std::uint64_t place =
      encode({.offset = record, .size_bytes = sizeof(Record), .deleted = deleted});
  if (slot) {
    index_->set_place(slot, 0, place);
    return;
  }
  if (index_->crowded()) {
    IndexMemory next = IndexMemory::make(index_->grown());
    index_->begin_resize(index_->grown(), next.bytes);
    while (!index_->resize(1024)) {
    }
    index_->end_resize();
    host().charge_copy(next.bytes.size());
    memory_ = std::move(next);
  }
  index_->insert(tag, 0, place);
}

void ForcaServer::release(IndexSlot slot) {
  index_->clear(slot);
  index_->release(slot);
}

bool ForcaServer::whole(const Record& record) const {
  const Object object = object_of(record);
  host().charge_crc(record.value_bytes);
  return object_format::client_checksum(object.key(), object.value()) == record.client_sum;
}

Result<Offset> ForcaServer::append(ConstBytes key, Kind kind, std::uint32_t value_bytes,
                                   std::uint32_t client_sum, Offset previous) {
  const std::uint64_t sequence = sequence_ + 1;
  REMORA_TRY_RESULT(
      placed,
      log_->append({.key = key,
                    .value_bytes = value_bytes,
                    .kind = kind,
                    .checksum = object_format::object_checksum(sequence, client_sum),
                    .sequence = sequence},
                   DataPool::current, kind == Kind::tombstone ? Reserve::may_use : Reserve::keep));
  sequence_ = sequence;
  return records_->append({.object = placed->offset,
                           .sequence = sequence,
                           .previous = previous,
                           .value_bytes = value_bytes,
                           .kind = static_cast<std::uint32_t>(kind),
                           .client_sum = client_sum,
                           .checksum = 0,
                           .reserved = {}});
}

// --- Requests ---

rpc::Reply ForcaServer::put(const Request& request) {
  const Result<PutAsk> ask = read_put(request);
  if (!ask.ok()) {
    return failure(request, ask.status());
  }
  const Tag tag = index_->tag(ask->key);
  const IndexSlot slot = find(tag, ask->key);
  const bool is_linked = slot && !host().faults().planted(faults::forgets_previous);
  const Result<Offset> record = append(ask->key, Kind::value, ask->head.value_bytes,
                                       ask->head.client_sum, is_linked ? record_of(slot) : 0);
  if (!record.ok()) {
    return failure(request, record.status());
  }
  (void)host().drain();
  lead_to(tag, slot, *record, false);
  return grant(request, object_of(records_->at(*record)));
}

rpc::Reply ForcaServer::get(const Request& request) {
  const Faults& planted = host().faults();
  const IndexSlot slot = find(index_->tag(request.bytes), request.bytes);
  const Offset newest = slot ? record_of(slot) : 0;
  if (slot && slot.place(0).durable) {
    return answer(request, object_of(records_->at(newest)), {});
  }
  for (Offset offset = newest; offset != 0;) {
    const Record& record = records_->at(offset);
    if (record.kind == static_cast<std::uint32_t>(Kind::tombstone)) {
      break;
    }
    if (planted.planted(faults::get_skips_checksum) || whole(record)) {
      const Object object = object_of(record);
      Ticket ticket;
      if (!planted.planted(faults::get_skips_persist)) {
        ticket = host().persist(object.value());
      }
      if (offset == newest) {
        remember(slot, ticket);
      }
      return answer(request, object, ticket);
    }
    const Offset previous = record.previous;
    offset = previous != 0 && records_->is_whole(previous) ? previous : 0;
  }
  return reply(request, GetReply{}, last_del_);
}

rpc::Reply ForcaServer::answer(const Request& request, const Object& object, Ticket ticket) {
  return reply(request, GetReply{object.offset(), object.size_bytes(), object.sequence()}, ticket);
}

void ForcaServer::remember(IndexSlot slot, Ticket ticket) {
  if (verifies_ == Verifies::once && host().region().persistent(ticket)) {
    Place place = slot.place(0);
    place.durable = true;
    index_->set_place(slot, 0, encode(place));
  }
}

rpc::Reply ForcaServer::del(const Request& request) {
  if (const IndexSlot slot = find(index_->tag(request.bytes), request.bytes); slot) {
    const std::uint32_t sum = object_format::client_checksum(request.bytes, {});
    const Result<Offset> record = append(request.bytes, Kind::tombstone, 0, sum, 0);
    if (!record.ok()) {
      return failure(request, record.status());
    }
    last_del_ = host().faults().planted(faults::del_not_persisted) ? Ticket{} : host().drain();
    release(slot);
  }
  return {.ticket = last_del_};
}

rpc::Reply ForcaServer::persist(const Request& request) {
  return persist_if_intact(request, faults::persist_not_flushed);
}

rpc::Reply ForcaServer::scan(const Request& request) {
  const std::optional<ScanRequest> ask = read_struct<ScanRequest>(request.bytes);
  if (!ask) {
    return nonsense(request);
  }
  const std::size_t size = pack_scan(*ask, request.body, [this](Tag from, const auto& visit) {
    return index_->scan(from, 1, [&](const IndexSlot& slot) {
      visit(slot.tag(), object_of(records_->at(record_of(slot))).key());
    });
  });
  return {.size_bytes = static_cast<std::uint32_t>(size)};
}

std::vector<StoreServer::Counter> ForcaServer::counters() const {
  const LogUsage usage = log_->usage();
  return {{"keys", index_->size()},
          {"log_bytes_in_use", usage.segment_bytes},
          {"log_bytes_total", usage.total_bytes}};
}

}  // namespace remora::kv::forca
