#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kv/efactory/engine.h"
#include "kv/local_store.h"
#include "kv/rivals/ca/engine.h"
#include "kv/rivals/efactory_published/engine.h"
#include "kv/rivals/erda/engine.h"
#include "kv/rivals/forca/engine.h"
#include "kv/rivals/imm/engine.h"
#include "kv/rivals/rpc/engine.h"
#include "kv/rivals/saw/engine.h"
#include "kv/store.h"

namespace remora::kv {

const std::vector<const Engine*>& engines() {
  static const std::vector<const Engine*> list = {
      &efactory::engine(),
      &efactory::engine_without_hybrid_reads(),
      &rpc_store::engine(),
      &ca::engine(),
      &saw::engine(),
      &imm::engine(),
      &erda::engine(),
      &forca::engine(),
      &forca::engine_that_verifies_always(),
      &efactory_published::engine(),
      &efactory_published::engine_without_hybrid_reads()};
  return list;
}

Result<const Engine*> find_engine(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Engine* engine : engines()) {
    if (engine->name() == name) {
      return engine;
    }
    names.push_back(engine->name());
  }
  return Status(Code::invalid_argument, fmt::format("there is no engine \"{}\"; there are: {}",
                                                    name, fmt::join(names, ", ")));
}

Task<Status> StoreServer::grow(std::uint64_t /*pool_bytes*/) {
  co_return Status(Code::unsupported,
                   "the pool of this engine's store grows while nobody serves it: stop the server, "
                   "grow the pool, and start the server again");
}

Status StoreServer::scrub() {
  return Status(Code::unsupported, "this engine has no checksums that could be verified");
}

Task<Status> StoreClient::copy(CopySink&) {
  co_return Status(Code::unsupported, "this engine cannot copy its store while it serves it");
}

Task<Result<StoreClient::Versioned>> StoreClient::get_version(ConstBytes, Bytes) {
  co_return Status(Code::unsupported, "this engine does not tell versions");
}

Task<Status> StoreClient::write_together(const MultiWrite&, PutOptions) {
  co_return Status(Code::unsupported, "this engine writes one key at a time");
}

Result<LocalStore::Mark> LocalStore::write_together(const MultiWrite&) {
  return Status(Code::unsupported, "this store writes one key at a time");
}

}  // namespace remora::kv
