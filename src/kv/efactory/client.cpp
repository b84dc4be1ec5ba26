#include "kv/efactory/client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kv/common/index_search.h"
#include "kv/common/values.h"
#include "kv/efactory/faults.h"
#include "kv/log/object.h"

namespace remora::kv::efactory {

using fabric::SendWork;
using fabric::WorkCompletion;
using fabric::WorkStatus;

namespace {

void tell_version(std::uint64_t* to, std::uint64_t sequence) {
  if (to != nullptr) {
    *to = sequence;
  }
}

// Up to which a value travels within its request. Where the target's memory is reached past its
// processor, none should: that is what the design is for.
std::uint64_t whole_value_bytes_of(const Host& host, const ClientOptions& options,
                                   const Layout& layout) {
  const std::uint32_t usual =
      host.device().attributes().costs_by_message ? whole_value_bytes_max : 0;
  const std::uint32_t wanted = options.whole_value_bytes.value_or(usual);
  return std::min(
      {std::uint64_t{wanted}, std::uint64_t{whole_value_bytes_max}, layout.whole_value_bytes});
}

}  // namespace

EfactoryClient::EfactoryClient(std::unique_ptr<rpc::Caller> caller,
                               std::unique_ptr<Buffers> buffers, const Layout& layout,
                               const ClientOptions& options)
    : caller_(std::move(caller)),
      buffers_(std::move(buffers)),
      host_(caller_->host()),
      options_(options),
      layout_(layout),
      whole_value_bytes_(whole_value_bytes_of(host_, options, layout)),
      whole_gets_(whole_value_bytes_ != 0 && options.whole_gets),
      credits_(host_.runtime(), options.in_flight),
      parts_(host_.runtime(), 1) {
  caller_->on_notice([this](rpc::Kind kind, ConstBytes body) {
    if (listening_ || !host_.faults().planted(faults::notice_lost)) {
      noticed(kind, body);
    }
  });
  rounds_.fill(layout.round);
  listening_ = true;
}

EfactoryClient::~EfactoryClient() {
  flows_.abandon();
}

// --- Put ---

Task<Status> EfactoryClient::put(ConstBytes key, ConstBytes value, PutOptions options) {
  REMORA_CO_TRY(check_sizes(key, value));
  if (value.size() > buffers_->largest_bytes()) {
    co_return Status(Code::invalid_argument, "the value is larger than the client's buffers");
  }
  const bool whole = whole_value_bytes_ != 0 && value.size() <= whole_value_bytes_;
  std::uint64_t give_up_ns = never_ns;
  std::uint64_t wait_ns = retry_ns;
  for (;;) {
    Status status;
    if (whole) {
      status = co_await try_put_whole(key, value, options);
    } else {
      status = co_await try_put(key, value, options);
    }
    if (status.code() != Code::in_use || host_.now_ns() > give_up_ns) {
      co_return status;
    }
    if (give_up_ns == never_ns) {  // most puts do not need the clock for this
      give_up_ns = host_.runtime().after(options_.timeout_ns);
    }
    // The server cleans its log, or waits for what this client has on its way.
    co_await host_.runtime().sleep_for(wait_ns);
    wait_ns = std::min(2 * wait_ns, longest_retry_ns);
  }
}

Task<Status> EfactoryClient::try_put(ConstBytes key, ConstBytes value, PutOptions options) {
  co_await credits_.acquire();
  const Operation operation(*this);
  const Buffer buffer = co_await buffers_->take(value.size());
  host_.charge_copy(value.size());
  copy_bytes(buffer.bytes().data(), value);
  host_.charge_crc(value.size());
  const PutRequest ask{.key_bytes = static_cast<std::uint32_t>(key.size()),
                       .value_bytes = static_cast<std::uint32_t>(value.size()),
                       .client_sum = object_format::client_checksum(key, value),
                       .will_persist = options.durability == Durability::persistent ? 1u : 0u};

  // Where to?
  rpc::CallSlot slot = co_await caller_->slot();
  std::memcpy(slot.request().data() + write_struct(slot.request(), ask), key.data(), key.size());
  REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, put_request, sizeof ask + key.size()));
  const std::optional<PutReply> granted = read_struct<PutReply>(*reply);
  if (!granted) {
    co_return Status(Code::closed, "the server sent a malformed reply");
  }

  // There.
  const fabric::Sge piece = buffer.piece(0, value.size());
  std::optional<fabric::RemoteAddress> place =
      in_pool(operation, granted->value_offset, value.size());
  if (!place) {
    REMORA_CO_TRY(co_await learn_segments(slot, operation));
    place = in_pool(operation, granted->value_offset, value.size());
  }
  if (!place) {
    co_return Status(Code::closed,
                     "the server granted space outside of the memory that clients share");
  }
  const fabric::RemoteAddress there = *place;
  const auto size = static_cast<std::uint32_t>(value.size());
  std::array<SendWork, 2> works = {
      SendWork{.opcode = fabric::Opcode::write, .pieces = std::span(&piece, 1), .remote = there},
      SendWork{.opcode = fabric::Opcode::flush,
               .remote = there,
               .flush_bytes = size,
               .flush_placement = fabric::FlushPlacement::visibility}};
  const bool write_is_enough = options.durability == Durability::persistent ||
                               host_.faults().planted(faults::write_is_enough);
  if (size != 0) {
    host_.charge(Work::post);
    co_await host_.charged();
    const WorkCompletion written = co_await caller_->flows().post_all(
        caller_->queue_pair(), std::span(works).first(write_is_enough ? 1 : 2));
    if (written.status != WorkStatus::success) {
      co_return broken(written);
    }
  }
  if (options.durability == Durability::persistent) {
    const PersistRequest rest{granted->object_offset, granted->sequence};
    const std::size_t rest_bytes = write_struct(slot.request(), rest);
    const Result<ConstBytes> persisted = co_await caller_->call(slot, Message::persist, rest_bytes);
    co_return persisted.ok() ? Status() : persisted.status();
  }
  // The server counts from the receipt of the request, which is later than its beginning.
  if (host_.now_ns() - caller_->began_ns(slot) >= layout_.put_timeout_ns &&
      !host_.faults().planted(faults::late_put_succeeds)) {
    co_return Status(Code::timed_out, "the put took so long that the server may have given it up");
  }
  co_return Status();
}

Task<Status> EfactoryClient::try_put_whole(ConstBytes key, ConstBytes value, PutOptions options) {
  co_await credits_.acquire();
  const Operation operation(*this);
  rpc::CallSlot slot = co_await caller_->slot();
  const WholePut ask{.key_bytes = static_cast<std::uint32_t>(key.size())};
  const Bytes request = slot.request();
  host_.charge_copy(value.size());
  copy_bytes(request.data() + write_struct(request, ask), key);
  copy_bytes(request.data() + sizeof ask + key.size(), value);
  const rpc::Kind kind = options.durability == Durability::persistent ? persistent_put : whole_put;
  const Result<ConstBytes> reply =
      co_await caller_->call(slot, kind, sizeof ask + key.size() + value.size());
  co_return reply.ok() ? Status() : reply.status();
}

// --- Get ---

// Two READs. The second may be trusted because the first said that the object is durable: its bytes
// stood still before the second began. Where they do not suffice, the server is asked.
Task<Result<std::size_t>> EfactoryClient::get_into(ConstBytes key, Bytes value,
                                                   std::uint64_t* version) {
  REMORA_CO_TRY(check_sizes(key, {}));
  co_await credits_.acquire();
  const Operation operation(*this);
  // As it is now: a layout that comes meanwhile says nothing of an index that was READ before.
  const Reads reads = layout_.reads;
  if (reads == Reads::asked || whole_gets_) {
    co_return co_await ask_and_read(operation, key, value,
                                    options_.verify_reads == VerifyReads::always, version);
  }
  IndexSearch search(layout_.index, layout_.geometry, layout_.pool_bytes, key);
  do {  // A flow that waits for a buffer holds no other.
    const Buffer buffer = co_await buffers_->take(window_bytes);
    host_.charge(Work::post);
    co_await host_.charged();
    const WorkCompletion completion = co_await caller_->flows().read(
        caller_->queue_pair(), buffer.piece(0, window_bytes), search.next());
    if (completion.status != WorkStatus::success) {
      co_return broken(completion);
    }
    search.take(buffer.bytes());
  } while (search.goes_on());
  for (const Window::Candidate& candidate : search.candidates()) {
    const Place place = trusted(candidate, reads);
    if (place.offset == 0) {
      continue;
    }
    std::optional<fabric::RemoteAddress> there = in_pool(operation, place.offset, place.size_bytes);
    if (!there) {
      const Result<fabric::RemoteAddress> learnt =
          co_await learn_place(operation, place.offset, place.size_bytes);
      if (learnt.code() == Code::not_found) {
        continue;
      }
      REMORA_CO_TRY(learnt.status());
      there = *learnt;
    }
    const Buffer buffer = co_await buffers_->take(place.size_bytes);
    host_.charge(Work::post);
    co_await host_.charged();
    const WorkCompletion completion = co_await caller_->flows().read(
        caller_->queue_pair(), buffer.piece(0, place.size_bytes), *there);
    if (completion.status != WorkStatus::success) {
      co_return broken(completion);
    }
    const std::optional<ReadObject> object = ReadObject::parse(buffer.bytes());
    if (!object || !answers(*object, key)) {
      continue;
    }
    if (!passes(*object)) [[unlikely]] {
      co_return co_await ask_and_read(operation, key, value, true, version);
    }
    ++pure_gets_;
    if (object->expires != 0 && object->expires <= host_.runtime().wall_ms() &&
        !host_.faults().planted(faults::get_forgets_time)) {
      co_return Status(Code::not_found, "there is no such key");
    }
    host_.charge_copy(object->value.size());
    tell_version(version, object->sequence);
    co_return copy_out(object->value, value);
  }
  co_return co_await ask_and_read(operation, key, value,
                                  options_.verify_reads == VerifyReads::always, version);
}

// Which place leads to the newest version. While the log is cleaned, that is the one in the new
// data pool if it is there: puts and dels that leave one in the old pool clear it. So whichever
// word of the entry was READ first, it leads to a version that was the newest while the entry was
// READ.
Place EfactoryClient::newest(const Window::Candidate& candidate, Reads reads) const {
  if (reads == Reads::by_mark || host_.faults().planted(faults::reads_by_mark)) {
    return candidate.current;
  }
  const std::size_t newer = reads == Reads::first_newer ? 0 : 1;
  const Place& place = candidate.place(newer);
  return place.offset != 0 ? place : candidate.place(1 - newer);
}

// The same, or none if it may not be READ.
Place EfactoryClient::trusted(const Window::Candidate& candidate, Reads reads) const {
  const Place place = newest(candidate, reads);
  const Faults& planted = host_.faults();
  const bool is_durable = place.durable || planted.planted(faults::flag_travels) ||
                          planted.planted(faults::reads_undurable);
  const bool may_be_read = is_durable && !place.deleted && !candidate.doubtful &&
                           place.size_bytes <= buffers_->largest_bytes();
  return may_be_read ? place : Place{};
}

bool EfactoryClient::answers(const ReadObject& object, ConstBytes key) const {
  return object.kind == Kind::value && same(object.key, key) &&
         (object.durable || host_.faults().planted(faults::reads_undurable));
}

bool EfactoryClient::is_intact(const ReadObject& object) {
  host_.charge_crc(object.value.size());
  if (object.intact()) {
    return true;
  }
  ++failed_checks_;
  return false;
}

Task<Result<std::size_t>> EfactoryClient::ask_and_read(const Operation& operation, ConstBytes key,
                                                       Bytes value, bool checked,
                                                       std::uint64_t* version) {
  ++asked_gets_;
  GetReply found;
  {
    rpc::CallSlot slot = co_await caller_->slot();
    std::memcpy(slot.request().data(), key.data(), key.size());
    const rpc::Kind kind = checked ? (whole_gets_ ? checked_whole_get : checked_get)
                                   : (whole_gets_ ? whole_get : get_request);
    REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, kind, key.size()));
    const std::optional<GetReply> got = read_struct<GetReply>(*reply);
    if (got && got->object_offset == 0 && whole_gets_) {
      const ConstBytes whole = reply->subspan(sizeof(GetReply));
      host_.charge_copy(whole.size());
      tell_version(version, got->sequence);
      co_return copy_out(whole, value);
    }
    if (!got || !lies_within({.offset = got->object_offset, .size_bytes = got->size_bytes},
                             layout_.pool_bytes)) {
      co_return Status(Code::closed,
                       "the server sent a malformed reply: it names no place in the pool");
    }
    found = *got;
  }
  if (found.size_bytes > buffers_->largest_bytes()) {
    co_return Status(Code::no_space, "the value is larger than the client's buffers");
  }
  std::optional<fabric::RemoteAddress> there =
      in_pool(operation, found.object_offset, found.size_bytes);
  if (!there) {
    const Result<fabric::RemoteAddress> learnt =
        co_await learn_place(operation, found.object_offset, found.size_bytes);
    if (!learnt.ok()) {
      co_return learnt.code() == Code::not_found
          ? Status(Code::closed, "the server named space outside of the memory that clients share")
          : learnt.status();
    }
    there = *learnt;
  }
  const Buffer buffer = co_await buffers_->take(found.size_bytes);
  REMORA_CO_TRY(co_await read(buffer, found.size_bytes, *there));
  const std::optional<ReadObject> object = ReadObject::parse(buffer.bytes());
  if (!object || !same(object->key, key) || object->sequence != found.sequence) {
    co_return Status(Code::closed, "stale address: the object has moved");
  }
  if (checked && !object->intact()) {
    co_return Status(Code::damaged, "the value of this key fails its checksum");
  }
  host_.charge_copy(object->value.size());
  tell_version(version, object->sequence);
  co_return copy_out(object->value, value);
}

// --- Keys of segments ---

Task<Status> EfactoryClient::learn_segments(rpc::CallSlot& slot, const Operation& operation) {
  return segments_[operation.side()].learn(*caller_, slot, segments, rounds_[operation.side()],
                                           layout_.pool_bytes);
}

Task<Result<fabric::RemoteAddress>> EfactoryClient::learn_place(const Operation& operation,
                                                                std::uint64_t offset,
                                                                std::uint64_t size_bytes) {
  rpc::CallSlot slot = co_await caller_->slot();
  REMORA_CO_TRY(co_await learn_segments(slot, operation));
  const std::optional<fabric::RemoteAddress> place = in_pool(operation, offset, size_bytes);
  if (!place) {
    co_return Status(Code::not_found, "stale address: the object has moved");
  }
  co_return *place;
}

// --- Del and scan ---

Task<Status> EfactoryClient::del(ConstBytes key) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const std::uint64_t give_up_ns = host_.runtime().after(options_.timeout_ns);
  for (;;) {
    Status status;
    {
      co_await credits_.acquire();
      const Operation operation(*this);
      rpc::CallSlot slot = co_await caller_->slot();
      std::memcpy(slot.request().data(), key.data(), key.size());
      const Result<ConstBytes> reply = co_await caller_->call(slot, del_request, key.size());
      status = reply.ok() ? Status() : reply.status();
    }
    if (status.code() != Code::in_use || host_.now_ns() > give_up_ns) {
      co_return status;
    }
    co_await host_.runtime().sleep_for(retry_ns);
  }
}

Task<Result<ScanCursor>> EfactoryClient::scan(ScanCursor from, std::size_t most_keys,
                                              ScanSink& sink) {
  co_await credits_.acquire();
  const Operation operation(*this);
  rpc::CallSlot slot = co_await caller_->slot();
  const std::size_t size = write_struct(slot.request(), ScanRequest{from, most_keys});
  REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, scan_request, size));
  co_return unpack_scan(*reply, sink);
}

// --- Rounds ---

void EfactoryClient::noticed(rpc::Kind kind, ConstBytes body) {
  const std::optional<Layout> layout = read_struct<Layout>(body);
  if (kind != new_layout || !layout || !layout->geometry.plausible()) {
    return;
  }
  layout_ = *layout;
  arriving_ = true;
  side_ = 1 - side_;  // the other side has nothing under way: the server waits for each arrival
  segments_[side_].clear();
  rounds_[side_] = layout_.round;
  maybe_arrive();
}

void EfactoryClient::maybe_arrive() {
  if (arriving_ && under_way_[1 - side_] == 0) {
    arriving_ = false;
    flows_.keep(arrive(layout_.round));
  }
}

Task<void> EfactoryClient::arrive(std::uint64_t round) {
  rpc::CallSlot slot = co_await caller_->slot();
  const std::size_t size = write_struct(slot.request(), RoundReply{round});
  // A failure is the caller's for good, and every operation finds it.
  (void)co_await caller_->call(slot, arrived, size);
}

}  // namespace remora::kv::efactory
