// Several keys at once, and the versions that their conditions name.
#include "kv/common/values.h"
#include "kv/efactory/client.h"
#include "kv/efactory/faults.h"
#include "kv/efactory/together_message.h"

namespace remora::kv::efactory {

Task<Result<StoreClient::Versioned>> EfactoryClient::get_version(ConstBytes key, Bytes value) {
  std::uint64_t version = 0;
  REMORA_CO_TRY_RESULT(size, co_await get_into(key, value, &version));
  co_return Versioned{*size, version};
}

Task<Status> EfactoryClient::write_together(const MultiWrite& what, PutOptions options) {
  for (const Condition& one : what.conditions) {
    REMORA_CO_TRY(check_sizes(one.key, {}));
  }
  for (const Write& one : what.writes) {
    REMORA_CO_TRY(check_sizes(one.key, one.value.value_or(ConstBytes())));
  }
  if (host_.faults().planted(faults::together_split) && what.writes.size() > 1) {
    const std::size_t half = what.writes.size() / 2;
    REMORA_CO_TRY(co_await write_until({what.conditions, what.writes.first(half)}, options));
    co_return co_await write_until({{}, what.writes.subspan(half)}, options);
  }
  co_return co_await write_until(what, options);
}

// As long as the server cleans its log, or a value that a condition names is on its way.
Task<Status> EfactoryClient::write_until(const MultiWrite& what, PutOptions options) {
  const std::vector<std::byte> packed = pack(what);
  const std::uint64_t give_up_ns = host_.runtime().after(options_.timeout_ns);
  std::uint64_t wait_ns = retry_ns;
  for (;;) {
    const Status status = co_await send_packed(packed, options);
    if (status.code() != Code::in_use || host_.now_ns() > give_up_ns) {
      co_return status;
    }
    co_await host_.runtime().sleep_for(wait_ns);
    wait_ns = std::min(2 * wait_ns, longest_retry_ns);
  }
}

Task<Status> EfactoryClient::send_packed(ConstBytes packed, PutOptions options) {
  constexpr std::size_t most_bytes = request_bytes_max - sizeof(TogetherPart);
  const bool is_in_parts = packed.size() > most_bytes;
  if (is_in_parts) {
    co_await parts_.acquire();
  }
  co_await credits_.acquire();
  const Operation operation(*this);
  rpc::CallSlot slot = co_await caller_->slot();
  const rpc::Kind kind =
      options.durability == Durability::persistent ? persistent_together : together;
  Status status;
  for (std::size_t at = 0; at < packed.size() && status.ok();) {
    const ConstBytes part = packed.subspan(at, std::min(most_bytes, packed.size() - at));
    const Bytes request = slot.request();
    host_.charge_copy(part.size());
    const std::size_t head = write_struct(request, TogetherPart{packed.size(), at});
    copy_bytes(request.data() + head, part);
    const Result<ConstBytes> reply = co_await caller_->call(slot, kind, head + part.size());
    status = reply.status();
    at += part.size();
  }
  if (is_in_parts) {
    parts_.release();
  }
  co_return status;
}

}  // namespace remora::kv::efactory
