#include "kv/common/one_sided.h"

#include <fmt/format.h>

namespace remora::kv {

Task<Status> read_into(rpc::Caller& caller, const Buffer& buffer, std::size_t size_bytes,
                       fabric::RemoteAddress from) {
  const Host& host = caller.host();
  host.charge(Work::post);
  co_await host.charged();
  const fabric::WorkCompletion completion =
      co_await caller.flows().read(caller.queue_pair(), buffer.piece(0, size_bytes), from);
  co_return completion.status == fabric::WorkStatus::success ? Status()
                                                             : broken(caller, completion);
}

Status broken(rpc::Caller& caller, const fabric::WorkCompletion& completion) {
  caller.fail(Status(Code::closed, fmt::format("the server cannot be reached: {}",
                                               fabric::to_string(completion.status))));
  return caller.failure();
}

}  // namespace remora::kv
