#include "kv/common/plain_client.h"

#include <cstring>
#include <utility>

#include "kv/common/index_search.h"
#include "kv/common/scan.h"
#include "kv/common/values.h"

namespace remora::kv {

using fabric::WorkCompletion;
using fabric::WorkStatus;

namespace {

Status no_reply() {
  return Status(Code::closed, "the server sent a malformed reply");
}

}  // namespace

PlainClient::PlainClient(std::unique_ptr<rpc::Caller> caller, std::unique_ptr<Buffers> buffers,
                         const PlainLayout& layout, const ClientOptions& options)
    : caller_(std::move(caller)),
      buffers_(std::move(buffers)),
      host_(caller_->host()),
      layout_(layout),
      credits_(host_.runtime(), options.in_flight) {}

Task<PlainClient::Credit> PlainClient::enter() {
  co_await credits_.acquire();
  co_return Credit(credits_);
}

// --- Put ---

Status PlainClient::check_put(ConstBytes key, ConstBytes value) const {
  REMORA_TRY(check_sizes(key, value));
  return value.size() <= buffers_->largest_bytes()
             ? Status()
             : Status(Code::invalid_argument, "the value is larger than the client's buffers");
}

Task<Buffer> PlainClient::fill(ConstBytes value) {
  Buffer buffer = co_await buffers_->take(value.size());
  host_.charge_copy(value.size());
  copy_bytes(buffer.bytes().data(), value);
  co_return buffer;
}

Task<Result<PutReply>> PlainClient::ask_for_space(rpc::CallSlot& slot, ConstBytes key,
                                                  ConstBytes value, std::uint32_t client_sum) {
  const PutRequest ask{.key_bytes = static_cast<std::uint32_t>(key.size()),
                       .value_bytes = static_cast<std::uint32_t>(value.size()),
                       .client_sum = client_sum};
  std::memcpy(slot.request().data() + write_struct(slot.request(), ask), key.data(), key.size());
  REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, put_request, sizeof ask + key.size()));
  const std::optional<PutReply> granted = read_struct<PutReply>(*reply);
  if (!granted) {
    co_return no_reply();
  }
  co_return *granted;
}

Task<Status> PlainClient::write(const Buffer& buffer, std::size_t size_bytes,
                                fabric::RemoteAddress to) {
  if (size_bytes == 0) {
    co_return Status();
  }
  host_.charge(Work::post);
  co_await host_.charged();
  const WorkCompletion completion =
      co_await caller_->flows().write(caller_->queue_pair(), buffer.piece(0, size_bytes), to);
  co_return completion.status == WorkStatus::success ? Status() : broken(completion);
}

Task<Status> PlainClient::persist(rpc::CallSlot& slot, const PutReply& granted) {
  const std::size_t size =
      write_struct(slot.request(), PersistRequest{granted.object_offset, granted.sequence});
  const Result<ConstBytes> reply = co_await caller_->call(slot, persist_request, size);
  co_return reply.ok() ? Status() : reply.status();
}

Task<Status> PlainClient::put_client_active(ConstBytes key, ConstBytes value, Checksum checksum,
                                            PutOptions options) {
  REMORA_CO_TRY(check_put(key, value));
  const Credit credit = co_await enter();
  const Buffer buffer = co_await fill(value);
  rpc::CallSlot slot = co_await caller().slot();

  std::uint32_t sum = 0;
  if (checksum == Checksum::by_client) {
    host().charge_crc(value.size());
    sum = object_format::client_checksum(key, value);
  }
  REMORA_CO_TRY_RESULT(granted, co_await ask_for_space(slot, key, value, sum));
  if (!reaches(granted->value_offset, value.size())) {
    REMORA_CO_TRY(co_await reach(granted->value_offset, value.size(), &slot));
  }
  REMORA_CO_TRY(co_await write(buffer, value.size(), in_pool(granted->value_offset)));
  if (options.durability == Durability::persistent) {
    co_return co_await persist(slot, *granted);
  }
  co_return Status();
}

// --- Get ---

Task<Result<GetReply>> PlainClient::ask(ConstBytes key) {
  ++asked_gets_;
  rpc::CallSlot slot = co_await caller_->slot();
  std::memcpy(slot.request().data(), key.data(), key.size());
  REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, get_request, key.size()));
  const std::optional<GetReply> found = read_struct<GetReply>(*reply);
  if (!found || (found->object_offset != 0 &&
                 !lies_within({.offset = found->object_offset, .size_bytes = found->size_bytes},
                              layout_.pool_bytes))) {
    co_return no_reply();
  }
  co_return *found;
}

Task<Result<std::size_t>> PlainClient::read_found(const GetReply& found, ConstBytes key,
                                                  Bytes value) {
  if (found.object_offset == 0) {
    co_return Status(Code::not_found, "there is no such key");
  }
  if (found.size_bytes > buffers_->largest_bytes()) {
    co_return Status(Code::no_space, "the value is larger than the client's buffers");
  }
  if (!reaches(found.object_offset, found.size_bytes)) {
    REMORA_CO_TRY(co_await reach(found.object_offset, found.size_bytes));
  }
  const Buffer buffer = co_await buffers_->take(found.size_bytes);
  REMORA_CO_TRY(co_await read(buffer, found.size_bytes, in_pool(found.object_offset)));
  const std::optional<ReadObject> object = ReadObject::parse(buffer.bytes());
  if (!object || !same(object->key, key) || object->sequence != found.sequence) {
    co_return Status(Code::closed, "stale address: the object has moved");
  }
  host_.charge_copy(object->value.size());
  co_return copy_out(object->value, value);
}

Task<Status> PlainClient::read_twice(ConstBytes key, Bytes value,
                                     std::optional<std::size_t>& size) {
  IndexSearch search(layout_.index, layout_.geometry, layout_.pool_bytes, key);
  do {  // A flow that waits for a buffer holds no other.
    const Buffer buffer = co_await buffers_->take(window_bytes);
    REMORA_CO_TRY(co_await read(buffer, window_bytes, search.next()));
    search.take(buffer.bytes());
  } while (search.goes_on());
  for (const Window::Candidate& candidate : search.candidates()) {
    const Place place = candidate.current;
    if (place.offset == 0 || place.deleted || candidate.doubtful ||
        place.size_bytes > buffers_->largest_bytes()) {
      continue;
    }
    if (!reaches(place.offset, place.size_bytes)) {
      REMORA_CO_TRY(co_await reach(place.offset, place.size_bytes));
    }
    const Buffer buffer = co_await buffers_->take(place.size_bytes);
    REMORA_CO_TRY(co_await read(buffer, place.size_bytes, in_pool(place.offset)));
    const std::optional<ReadObject> object = ReadObject::parse(buffer.bytes());
    if (!object || object->kind != Kind::value || !same(object->key, key)) {
      continue;
    }
    host_.charge_copy(object->value.size());
    REMORA_CO_TRY_RESULT(copied, copy_out(object->value, value));
    size = *copied;
    co_return Status();
  }
  co_return Status();
}

Task<Result<std::size_t>> PlainClient::get_by_reads(ConstBytes key, Bytes value) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const Credit credit = co_await enter();
  std::optional<std::size_t> size;
  REMORA_CO_TRY(co_await read_twice(key, value, size));
  if (size) {
    co_return *size;
  }
  REMORA_CO_TRY_RESULT(found, co_await ask(key));
  if (found->generation != layout_.generation) {
    REMORA_CO_TRY(co_await refresh());
  }
  co_return co_await read_found(*found, key, value);
}

Task<Status> PlainClient::refresh() {
  rpc::CallSlot slot = co_await caller_->slot();
  REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, hello, 0));
  const std::optional<PlainLayout> told = read_struct<PlainLayout>(*reply);
  if (!told || !told->geometry.plausible()) {
    co_return no_reply();
  }
  if (told->generation >= layout_.generation) {
    layout_ = *told;
  }
  co_return Status();
}

Task<Status> PlainClient::reach(std::uint64_t offset, std::uint64_t size_bytes,
                                rpc::CallSlot* slot) {
  std::optional<rpc::CallSlot> own;
  if (slot == nullptr) {
    own.emplace(co_await caller_->slot());
    slot = &*own;
  }
  REMORA_CO_TRY(co_await segments_.learn(*caller_, *slot, segments_request, 0, layout_.pool_bytes));
  co_return reaches(offset, size_bytes)
      ? Status()
      : Status(Code::closed, "the server named space outside of the memory that clients share");
}

// --- Del and scan ---

Task<Status> PlainClient::del(ConstBytes key) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const Credit credit = co_await enter();
  rpc::CallSlot slot = co_await caller_->slot();
  std::memcpy(slot.request().data(), key.data(), key.size());
  const Result<ConstBytes> reply = co_await caller_->call(slot, del_request, key.size());
  co_return reply.ok() ? Status() : reply.status();
}

Task<Result<ScanCursor>> PlainClient::scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) {
  const Credit credit = co_await enter();
  rpc::CallSlot slot = co_await caller_->slot();
  const std::size_t size = write_struct(slot.request(), ScanRequest{from, most_keys});
  REMORA_CO_TRY_RESULT(reply, co_await caller_->call(slot, scan_request, size));
  co_return unpack_scan(*reply, sink);
}

}  // namespace remora::kv
