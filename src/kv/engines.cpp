#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kv/ca/engine.h"
#include "kv/efactory/engine.h"
#include "kv/erda/engine.h"
#include "kv/forca/engine.h"
#include "kv/imm/engine.h"
#include "kv/rpc/engine.h"
#include "kv/saw/engine.h"
#include "kv/store.h"

namespace remora::kv {

const std::vector<const Engine*>& engines() {
  static const std::vector<const Engine*> list = {
      &efactory::engine(),  &efactory::engine_without_hybrid_reads(),
      &rpc_store::engine(), &ca::engine(),
      &saw::engine(),       &imm::engine(),
      &erda::engine(),      &forca::engine()};
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

Status StoreServer::scrub() {
  return Status(Code::unsupported, "this engine has no checksums that could be verified");
}

Task<Status> StoreClient::copy(CopySink&) {
  co_return Status(Code::unsupported, "this engine cannot copy its store while it serves it");
}

}  // namespace remora::kv
