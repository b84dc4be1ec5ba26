#include "kv/rivals/imm/client.h"

#include "kv/rivals/imm/faults.h"

namespace remora::kv::imm {

Task<Status> ImmClient::put(ConstBytes key, ConstBytes value, PutOptions) {
  REMORA_CO_TRY(check_put(key, value));
  const Credit credit = co_await enter();
  const Buffer buffer = co_await fill(value);
  rpc::CallSlot slot = co_await caller().slot();

  REMORA_CO_TRY_RESULT(granted, co_await ask_for_space(slot, key, value, 0));
  if (!reaches(granted->value_offset, value.size())) {
    REMORA_CO_TRY(co_await reach(granted->value_offset, value.size(), &slot));
  }
  if (host().faults().planted(faults::write_without_imm)) {
    co_return co_await write(buffer, value.size(), in_pool(granted->value_offset));
  }
  const std::uint32_t call = caller().begin(slot);
  host().charge(Work::post);
  co_await host().charged();
  const fabric::WorkCompletion written = co_await caller().flows().write_imm(
      caller().queue_pair(), buffer.piece(0, value.size()), in_pool(granted->value_offset), call);
  if (written.status != fabric::WorkStatus::success) {
    (void)broken(written);  // and the call is answered with that
  }
  const Result<ConstBytes> persisted = co_await caller().reply(slot);
  co_return persisted.ok() ? Status() : persisted.status();
}

}  // namespace remora::kv::imm
