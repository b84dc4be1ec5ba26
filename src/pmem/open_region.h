// From a file, or from nothing, to a Region: the choice of how it is made persistent, made once.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "pmem/file_handle.h"
#include "pmem/region.h"

namespace remora {

enum class Media : std::uint8_t {
  automatic,  // dax where the mapping is DAX, dram on a file system in memory, else file
  dax,        // a DAX mapping with MAP_SYNC, or memory inside the persistence domain
  file,       // an ordinary file: pages, msync, group commit
  dram,       // cache-line granularity on memory that a power cut empties
};

std::string_view to_string(Media media);
Result<Media> parse_media(std::string_view text);

// While these run, libpmem2 changes the working directory of the process for a moment: no other
// thread should use a relative path meanwhile.

// Maps the whole file, shared: what is flushed reaches it. The handle must outlive the region, and
// must be writable. Holes of the file are filled (FileHandle::fill_holes). The reason for the
// choice is in strategy().
Result<std::unique_ptr<Region>> open_region(const FileHandle& file, Media media);

// The strategy that open_region would choose for this file, which may be open for reading only. The
// file is left untouched.
Result<Strategy> find_strategy(const FileHandle& file, Media media);

// Maps the whole file privately: stores stay in this process, flushes do nothing, the file is left
// untouched. For inspecting and checking.
Result<std::unique_ptr<Region>> open_private(const FileHandle& file);

// The first bytes of a device DAX, which cannot be read as a file is.
Status read_device(const FileHandle& device, Bytes into);

// `dram` with no file: memory without a name (a memfd), all zero, gone with the region and with
// whatever other process has mapped it.
Result<std::unique_ptr<Region>> make_dram(std::uint64_t size_bytes);
// Gives the system back the memory behind these whole pages of such a region; they read as zero
// from then on, for everybody who maps them. To end a large one in small steps.
void give_back(Bytes pages);

// Cache-line functions on a mapping that the caller made: it keeps it, and unmaps it after the
// region has gone. What stands behind it is the caller's to know.
Result<std::unique_ptr<Region>> adopt_mapping(Bytes bytes);

}  // namespace remora
