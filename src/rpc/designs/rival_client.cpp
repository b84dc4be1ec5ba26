#include "rpc/designs/rival_client.h"

#include <utility>

namespace remora::rpc {

Task<Result<ConstBytes>> RivalClient::result(std::uint32_t slot) {
  const Result<ConstBytes>& result = calls_[slot].result;
  if (!result.ok()) {
    co_return result.status();
  }
  co_return *result;
}

Task<Status> RivalClient::begin(std::uint32_t slot, Kind kind, std::size_t size_bytes) {
  if (!failure_.ok()) {
    co_return failure_;
  }
  Result<ConstBytes> result = co_await exchange(slot, kind, size_bytes);
  const Status status = result.status();
  calls_[slot].result = std::move(result);
  co_return status;
}

std::uint32_t RivalClient::next_call(std::uint32_t slot) {
  Call& call = calls_[slot];
  do {
    call.call = ++call.round << slot_bits | slot;
  } while (call.call == 0);
  return call.call;
}

Status RivalClient::failed(Status reason) {
  if (failure_.ok()) {
    failure_ = std::move(reason);
    if (queue_pair() != nullptr) {
      queue_pair()->fail();
    }
  }
  return failure_;
}

Result<ConstBytes> RivalClient::answer(std::uint16_t code, ConstBytes body) {
  if (code != 0) {
    return Status(static_cast<Code>(code),
                  std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }
  return body;
}

}  // namespace remora::rpc
