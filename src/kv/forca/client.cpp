#include "kv/forca/client.h"

#include "kv/common/values.h"

namespace remora::kv::forca {

Task<Status> ForcaClient::put(ConstBytes key, ConstBytes value, PutOptions options) {
  REMORA_CO_TRY(check_put(key, value));
  const Credit credit = co_await enter();
  const Buffer buffer = co_await fill(value);
  rpc::CallSlot slot = co_await caller().slot();

  host().charge_crc(value.size());
  const std::uint32_t sum = object_format::client_checksum(key, value);
  const Result<PutReply> granted = co_await ask_for_space(slot, key, value, sum);
  if (!granted.ok()) {
    co_return granted.status();
  }
  REMORA_CO_TRY(co_await write(buffer, value.size(), in_pool(granted->value_offset)));
  if (options.durability == Durability::persistent) {
    co_return co_await persist(slot, *granted);
  }
  co_return Status();
}

Task<Result<std::size_t>> ForcaClient::get(ConstBytes key, Bytes value) {
  if (Status status = check_sizes(key, {}); !status.ok()) {
    co_return status;
  }
  const Credit credit = co_await enter();
  const Result<GetReply> found = co_await ask(key);
  if (!found.ok()) {
    co_return found.status();
  }
  co_return co_await read_found(*found, key, value);
}

}  // namespace remora::kv::forca
