#include "kv/rivals/rpc/client.h"

#include <cstring>

#include "kv/common/values.h"
#include "kv/common/wire.h"

namespace remora::kv::rpc_store {
namespace {

std::size_t write_put(Bytes request, ConstBytes key, ConstBytes value) {
  const PutRequest head{.key_bytes = static_cast<std::uint32_t>(key.size()),
                        .value_bytes = static_cast<std::uint32_t>(value.size())};
  const std::size_t size = write_struct(request, head);
  std::memcpy(request.data() + size, key.data(), key.size());
  return size + key.size();
}

Status no_reply() {
  return Status(Code::closed, "the server sent a malformed reply");
}

}  // namespace

Task<Status> RpcClient::put(ConstBytes key, ConstBytes value, PutOptions) {
  REMORA_CO_TRY(check_put(key, value));
  const Credit credit = co_await enter();
  if (value.size() > inline_bytes) {
    co_return co_await put_staged(key, value);
  }
  rpc::CallSlot slot = co_await caller().slot();
  std::size_t size = write_put(slot.request(), key, value);
  if (!value.empty()) {
    host().charge_copy(value.size());
    copy_bytes(slot.request().data() + size, value);
    size += value.size();
  }
  const Result<ConstBytes> reply = co_await caller().call(slot, put_request, size);
  co_return reply.ok() ? Status() : reply.status();
}

Task<Status> RpcClient::put_staged(ConstBytes key, ConstBytes value) {
  co_await stage_free_.acquire();
  const Credit stage(stage_free_);
  const Buffer buffer = co_await fill(value);
  rpc::CallSlot slot = co_await caller().slot();
  REMORA_CO_TRY(co_await make_room(slot, value.size()));
  REMORA_CO_TRY(co_await write(buffer, value.size(), stage_.area));
  const std::size_t size = write_put(slot.request(), key, value);
  const Result<ConstBytes> reply = co_await caller().call(slot, put_request, size);
  co_return reply.ok() ? Status() : reply.status();
}

Task<Status> RpcClient::make_room(rpc::CallSlot& slot, std::size_t size_bytes) {
  if (size_bytes <= stage_.size_bytes) {
    co_return Status();
  }
  const std::size_t size = write_struct(slot.request(), StageRequest{size_bytes});
  REMORA_CO_TRY_RESULT(reply, co_await caller().call(slot, stage_request, size));
  const std::optional<StageReply> stage = read_struct<StageReply>(*reply);
  if (!stage || stage->size_bytes < size_bytes) {
    co_return no_reply();
  }
  stage_ = *stage;
  co_return Status();
}

Task<Result<std::size_t>> RpcClient::get(ConstBytes key, Bytes value) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const Credit credit = co_await enter();
  ValueReply head;
  {
    rpc::CallSlot slot = co_await caller().slot();
    std::memcpy(slot.request().data(), key.data(), key.size());
    REMORA_CO_TRY_RESULT(reply, co_await caller().call(slot, get_request, key.size()));
    const std::optional<ValueReply> told = read_struct<ValueReply>(*reply);
    if (!told) {
      co_return no_reply();
    }
    head = *told;
    if (head.found.object_offset != 0 && head.value_bytes <= inline_bytes) {
      if (head.value_bytes != reply->size() - sizeof head) {
        co_return no_reply();
      }
      host().charge_copy(head.value_bytes);
      co_return copy_out(reply->subspan(sizeof head), value);
    }
  }
  if (head.found.object_offset != 0 &&
      !lies_within({.offset = head.found.object_offset, .size_bytes = head.found.size_bytes},
                   layout().pool_bytes)) {
    co_return no_reply();
  }
  co_return co_await read_found(head.found, key, value);
}

}  // namespace remora::kv::rpc_store
