// What the disk itself can do to make bytes persistent: plain files and system calls that group
// commit is measured against.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "base/result.h"
#include "pmem/file_handle.h"

namespace remora::bench {

inline constexpr std::size_t record_bytes = 64;

// The first failure of several threads.
class FirstFailure {
 public:
  void note(Status status);
  Status status() const;

 private:
  mutable std::mutex mutex_;
  Status status_;
};

// A file without a name in that folder: it goes away with the handle. Every page of it is written
// and on the disk, one page at a time, so that no later write allocates or finds a large folio.
// Fails for a folder in memory.
Result<FileHandle> make_unnamed_file(const std::string& folder, std::uint64_t size_bytes);

// The way of a database: pwrite of a record to a random page, then fdatasync. One thread.
class BareWriter {
 public:
  // The file must outlive it.
  BareWriter(const FileHandle& file, std::uint64_t size_bytes);

  void write(std::uint64_t records, FirstFailure& failure);

 private:
  const int descriptor_;
  const std::uint64_t pages_;
  Random random_{1};
};

// The way of a mapping: a record to each of a few random pages, then one msync. One thread.
class BareMapping {
 public:
  // The file must outlive it.
  static Result<BareMapping> map(const FileHandle& file, std::uint64_t size_bytes);
  BareMapping(BareMapping&& other) noexcept;
  BareMapping& operator=(BareMapping&&) = delete;
  ~BareMapping();

  // `times` groups of `records` records, each group with one msync.
  void write(std::uint64_t times, std::uint64_t records, FirstFailure& failure);

 private:
  explicit BareMapping(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;
  Random random_{1};
};

}  // namespace remora::bench
