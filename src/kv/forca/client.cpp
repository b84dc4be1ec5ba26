#include "kv/forca/client.h"

#include "kv/common/values.h"

namespace remora::kv::forca {

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
