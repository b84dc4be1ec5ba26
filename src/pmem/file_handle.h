// FileHandle: an open file that belongs to this process alone: whoever holds the handle holds the
// lock, and closing it gives both back.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace remora {

// Whether who opens the path now gets the file that this descriptor is of.
bool leads_to(const std::string& path, int descriptor);

class FileHandle {
 public:
  // Opens an existing regular file, or a device DAX (persistent memory without a file system), and
  // locks it: exclusively for writing, shared for reading.
  // Refuses with in_use when another holder has it, has it mapped (see mark_mapped), or has just
  // removed it.
  static Result<FileHandle> open(const std::string& path, bool writable);

  // Whether the path leads to a device DAX.
  static bool is_dax_device(const std::string& path);

  // Makes a file of `size_bytes`, every byte of it allocated on the disk, all zero. Refuses to
  // touch a file that exists; leaves none behind when it fails.
  static Result<FileHandle> create(const std::string& path, std::uint64_t size_bytes);

  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  // A lock that says "somebody has mapped this file writable": it is on an open file description,
  // so it lasts until the last descriptor and the last mapping that came from it are gone,
  // whichever processes have them. Opening the file is refused until then: whoever was stopped in
  // the middle of a store for an earlier owner could still make it.
  static Status mark_mapped(int descriptor);

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  bool writable() const { return writable_; }
  Result<std::uint64_t> size_bytes() const;
  // Gives the file the blocks that it lacks: a copy that was restored has holes where there were
  // zeros, and a store into one on a full disk is a SIGBUS. No byte changes. At once where nothing
  // is missing. Refuses with no_space, and says how much is missing, where the disk has not got it.
  // The handle must be writable.
  [[nodiscard]] Status fill_holes() const;
  // Makes the file so long, its new bytes allocated on the disk and zero; persistent when this
  // returns. One that is longer stays so. Refuses with no_space, and leaves the file
  // as it was, where the disk has no room. Not for a device; the handle must be writable.
  [[nodiscard]] Status extend(std::uint64_t size_bytes) const;
  // Whether it is a device DAX: it can be mapped, shared, and neither read nor written.
  bool is_device() const { return device_bytes_ != 0; }
  // Whether the file lives in memory (tmpfs, ramfs).
  bool in_memory() const;

 private:
  FileHandle(int descriptor, std::string path, bool writable);

  int descriptor_ = -1;
  std::string path_;
  bool writable_ = false;
  std::uint64_t device_bytes_ = 0;
};

}  // namespace remora
