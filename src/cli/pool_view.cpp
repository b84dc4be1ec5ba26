#include "cli/pool_view.h"

#include <utility>

namespace remora::cli {

Result<PoolView> PoolView::open(const std::string& path) {
  PoolView view;
  Result<PoolFile> file = PoolFile::inspect(path);
  if (file.ok()) {
    view.file.emplace(std::move(file).value());
    return view;
  }
  view.refusal = file.status();
  REMORA_TRY_RESULT(handle, FileHandle::open(path, false));
  const Result<std::uint64_t> size_bytes = handle->size_bytes();
  if (!size_bytes.ok() || *size_bytes < pool_format::smallest_pool_bytes ||
      *size_bytes > pool_format::largest_pool_bytes) {
    return view.refusal;
  }
  view.handle.emplace(std::move(handle).value());
  REMORA_TRY_RESULT(region, open_private(*view.handle));
  view.region = std::move(region).value();
  (void)Pool::open_damaged(*view.region, path, view.findings);
  return view;
}

}  // namespace remora::cli
