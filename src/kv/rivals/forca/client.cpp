#include "kv/rivals/forca/client.h"

#include "kv/common/values.h"

namespace remora::kv::forca {

Task<Result<std::size_t>> ForcaClient::get(ConstBytes key, Bytes value) {
  REMORA_CO_TRY(check_sizes(key, {}));
  const Credit credit = co_await enter();
  REMORA_CO_TRY_RESULT(found, co_await ask(key));
  co_return co_await read_found(*found, key, value);
}

}  // namespace remora::kv::forca
