#include "kv/ca/client.h"

namespace remora::kv::ca {

Task<Status> CaClient::put(ConstBytes key, ConstBytes value, PutOptions options) {
  REMORA_CO_TRY(check_put(key, value));
  const Credit credit = co_await enter();
  const Buffer buffer = co_await fill(value);
  rpc::CallSlot slot = co_await caller().slot();

  const Result<PutReply> granted = co_await ask_for_space(slot, key, value, 0);
  if (!granted.ok()) {
    co_return granted.status();
  }
  REMORA_CO_TRY(co_await write(buffer, value.size(), in_pool(granted->value_offset)));
  if (options.durability == Durability::persistent) {
    co_return co_await persist(slot, *granted);
  }
  co_return Status();
}

}  // namespace remora::kv::ca
