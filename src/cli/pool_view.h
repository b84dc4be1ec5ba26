// PoolView: a private view of a pool's file that may be damaged anywhere: the pool if it opens, and
// the bytes in any case. The file is opened for reading, and no byte of it is changed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_file.h"

namespace remora::cli {

struct PoolView {
  std::optional<PoolFile> file;
  // Where the pool is refused: why, and its bytes with the log replayed as far as that goes.
  Status refusal = {};
  PoolFindings findings = {};
  std::optional<FileHandle> handle = {};
  std::unique_ptr<Region> region = {};

  // Fails where the file cannot be read, or is used by a server.
  static Result<PoolView> open(const std::string& path);

  Bytes bytes() { return file ? file->region().bytes() : region->bytes(); }
  Pool* pool() { return file ? &file->pool() : nullptr; }
};

}  // namespace remora::cli
