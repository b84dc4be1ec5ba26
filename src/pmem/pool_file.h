// PoolFile: a pool in a file: the lock on it, the region over it, the pool in that.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "pmem/file_handle.h"
#include "pmem/open_region.h"
#include "pmem/pool.h"

namespace remora {

class PoolFile {
 public:
  // Makes a new file of `size_bytes` (rounded down to whole blocks) and a pool in it. Leaves no
  // file behind when it fails. Of a device DAX it takes all, whatever size is asked for; it must be
  // blank, that is, begin with zeros, and is zeroed in full.
  static Result<PoolFile> create(const std::string& path, std::uint64_t size_bytes, Media media);

  // Whether the path leads to such a device, with nothing on it.
  static bool is_blank_device(const std::string& path);

  // Opens and recovers. The file is this process's alone until the PoolFile is destroyed.
  static Result<PoolFile> open(const std::string& path, Media media);

  // Makes the pool in a file larger, to `size_bytes` (rounded down to whole blocks), and opens it.
  // The pool is looked at in full first, and brought up to date where it is of an earlier version;
  // one that is damaged, or has an owner, is refused. After a failure, and after a power cut on the
  // way, the pool has its old size or the new one, wholly; the file may be longer than the pool.
  static Result<PoolFile> grow(const std::string& path, std::uint64_t size_bytes, Media media);

  // Whether the file can be read and has the header of a pool that this version can open. Nothing
  // is mapped and nothing changed.
  static Status verify(const std::string& path);

  // Opens a private view, recovered in memory: the file is not changed by a byte. Other inspectors
  // may look at the same time, an owner may not.
  static Result<PoolFile> inspect(const std::string& path);

  // The same for a pool that is damaged: see Pool::open_damaged.
  static Result<PoolFile> inspect_damaged(const std::string& path, PoolFindings& findings);

  Pool& pool() { return *pool_; }
  Region& region() { return *region_; }
  const FileHandle& file() const { return file_; }

 private:
  using MapFile = std::function<Result<std::unique_ptr<Region>>(const FileHandle& file)>;

  static Result<PoolFile> open_with(const std::string& path, bool writable, const MapFile& map);

  PoolFile(FileHandle file, std::unique_ptr<Region> region, std::unique_ptr<Pool> pool)
      : file_(std::move(file)), region_(std::move(region)), pool_(std::move(pool)) {}

  FileHandle file_;
  std::unique_ptr<Region> region_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace remora
