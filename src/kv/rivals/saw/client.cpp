#include "kv/rivals/saw/client.h"

#include "kv/rivals/saw/faults.h"

namespace remora::kv::saw {

Task<Status> SawClient::put(ConstBytes key, ConstBytes value, PutOptions) {
  REMORA_CO_TRY(check_put(key, value));
  const Credit credit = co_await enter();
  const Buffer buffer = co_await fill(value);
  rpc::CallSlot slot = co_await caller().slot();

  REMORA_CO_TRY_RESULT(granted, co_await ask_for_space(slot, key, value, 0));
  if (!reaches(granted->value_offset, value.size())) {
    REMORA_CO_TRY(co_await reach(granted->value_offset, value.size(), &slot));
  }
  if (host().faults().planted(faults::send_before_write)) {
    REMORA_CO_TRY(co_await persist(slot, *granted));
    co_return co_await write(buffer, value.size(), in_pool(granted->value_offset));
  }
  REMORA_CO_TRY(co_await write(buffer, value.size(), in_pool(granted->value_offset)));
  co_return co_await persist(slot, *granted);
}

}  // namespace remora::kv::saw
