#include "pmem/pool_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/size_text.h"
#include "pmem/file_ahead.h"
#include "runtime/system_random.h"

namespace remora {
namespace {

// Looks at the header before anything is mapped, so that a file that is no pool, or too short to be
// mapped as one, is refused for the right reason.
Status verify_header(const FileHandle& file) {
  REMORA_TRY_RESULT(size_bytes, file.size_bytes());
  std::array<std::byte, page_bytes> first_page{};
  if (file.is_device()) {
    REMORA_TRY(read_device(file, first_page));
  } else if (pread(file.descriptor(), first_page.data(), first_page.size(), 0) < 0) {
    return os_failure("cannot read " + file.path(), errno);
  }
  return PoolLayout::read(first_page, *size_bytes, file.path()).status();
}

pool_format::Uuid new_uuid() {
  pool_format::Uuid uuid{};
  fill_random(std::as_writable_bytes(std::span(uuid)));
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);  // version 4, as RFC 4122 has it
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

Status look_for_blank(const FileHandle& device) {
  std::array<std::byte, page_bytes> first{};
  REMORA_TRY(read_device(device, first));
  if (std::ranges::all_of(first, [](std::byte byte) { return byte == std::byte{0}; })) {
    return Status();
  }
  return Status(Code::already_exists,
                device.path() +
                    " is not blank; open the pool on it, or give up what is there first: daxio "
                    "--zero --output " +
                    device.path());
}

Result<std::unique_ptr<Region>> zeroed_device(const FileHandle& device, Media media) {
  REMORA_TRY(look_for_blank(device));
  Result<std::unique_ptr<Region>> region = open_region(device, media);
  if (region.ok()) {
    std::ranges::fill((*region)->bytes(), std::byte{0});
    REMORA_TRY((*region)->wait((*region)->persist((*region)->bytes())));
  }
  return region;
}

// Nobody waits much longer than this for blocks of a new pool to be written; the rest is left to
// those who write there first (file_ahead.h).
constexpr std::chrono::milliseconds longest_write{1000};

Result<std::unique_ptr<Region>> open_new_file(const FileHandle& file, Media media) {
  Result<std::unique_ptr<Region>> region = open_region(file, media);
  if (region.ok() && (*region)->granularity() == Granularity::page && !file.in_memory()) {
    REMORA_TRY(write_blocks(file.descriptor(), (*region)->bytes().size(), longest_write));
  }
  return region;
}

// Of an open file: what is in it, recovered.
Result<std::unique_ptr<Pool>> open_pool(Region& region, const std::string& path) {
  Result<std::unique_ptr<Pool>> pool = Pool::open(region, path);
  REMORA_TRY(region.failure());  // what was read may have been gone
  return pool;
}

Status refuse_growth(const FileHandle& file, const Status& why) {
  return Status(why.code(), "cannot grow " + file.path() + ": " + std::string(why.message()));
}

Result<FileHandle> open_to_grow(const std::string& path) {
  Result<FileHandle> file = FileHandle::open(path, true);
  if (file.code() == Code::in_use) {
    return Status(
        Code::in_use,
        std::string(file.status().message()) +
            "; a pool that is served grows through its server, or when that has stopped ('remora "
            "stop')");
  }
  if (file.ok() && file->is_device()) {
    return Status(Code::invalid_argument,
                  path +
                      " is a device DAX, all of which its pool has; make a larger device, and "
                      "copy the store to it");
  }
  return file;
}

// Before a byte changes, but for what opening a pool changes: whether it is whole, and can have
// that size.
Status look_before_growth(const FileHandle& file, std::uint64_t size_bytes, Media media) {
  REMORA_TRY(verify_header(file));
  REMORA_TRY_RESULT(region, open_region(file, media));
  REMORA_TRY_RESULT(pool, open_pool(**region, file.path()));
  if (const Status whole = (*pool)->check_in_full(); !whole.ok()) {
    return refuse_growth(file, whole);
  }
  const Result<PoolLayout> grown = (*pool)->layout().grown_to(size_bytes);
  return grown.ok() ? (*pool)->close() : refuse_growth(file, grown.status());
}

}  // namespace

bool PoolFile::is_blank_device(const std::string& path) {
  if (!FileHandle::is_dax_device(path)) {
    return false;
  }
  const Result<FileHandle> device = FileHandle::open(path, false);
  return device.ok() && look_for_blank(*device).ok();
}

Result<PoolFile> PoolFile::create(const std::string& path, std::uint64_t size_bytes, Media media) {
  if (size_bytes < pool_format::smallest_pool_bytes ||
      size_bytes > pool_format::largest_pool_bytes) {
    return Status(Code::invalid_argument,
                  "a pool of " + format_size(size_bytes) + " cannot be; choose a size from " +
                      format_size(pool_format::smallest_pool_bytes) + " to " +
                      format_size(pool_format::largest_pool_bytes));
  }
  const bool device = FileHandle::is_dax_device(path);
  REMORA_TRY_RESULT(
      file, device ? FileHandle::open(path, true)
                   : FileHandle::create(path, round_down(size_bytes, pool_format::block_bytes)));
  Result<std::unique_ptr<Region>> region =
      device ? zeroed_device(*file, media) : open_new_file(*file, media);
  Result<std::unique_ptr<Pool>> pool = region.ok() ? Pool::create(**region, new_uuid())
                                                   : Result<std::unique_ptr<Pool>>(region.status());
  if (!pool.ok()) {
    if (!device) {
      unlink(path.c_str());
    }
    return pool.status();
  }
  return PoolFile(std::move(file).value(), std::move(region).value(), std::move(pool).value());
}

Result<PoolFile> PoolFile::grow(const std::string& path, std::uint64_t size_bytes, Media media) {
  REMORA_TRY_RESULT(file, open_to_grow(path));
  REMORA_TRY(look_before_growth(*file, size_bytes, media));
  REMORA_TRY(file->extend(round_down(size_bytes, pool_format::block_bytes)));
  REMORA_TRY_RESULT(region, open_region(*file, media));
  REMORA_TRY_RESULT(pool, open_pool(**region, path));
  REMORA_TRY((*pool)->grow(size_bytes));
  REMORA_TRY((*pool)->close());
  REMORA_TRY_RESULT(grown, open_pool(**region, path));  // as everybody will find it
  return PoolFile(std::move(file).value(), std::move(region).value(), std::move(grown).value());
}

Result<PoolFile> PoolFile::open(const std::string& path, Media media) {
  return open_with(path, true,
                   [media](const FileHandle& file) { return open_region(file, media); });
}

Status PoolFile::verify(const std::string& path) {
  Result<FileHandle> file = FileHandle::open(path, false);
  return file.ok() ? verify_header(*file) : file.status();
}

Result<PoolFile> PoolFile::inspect(const std::string& path) {
  return open_with(path, false, [](const FileHandle& file) { return open_private(file); });
}

Result<PoolFile> PoolFile::inspect_damaged(const std::string& path, PoolFindings& findings) {
  REMORA_TRY_RESULT(file, FileHandle::open(path, false));
  REMORA_TRY_RESULT(region, open_private(*file));
  REMORA_TRY_RESULT(pool, Pool::open_damaged(**region, path, findings));
  return PoolFile(std::move(file).value(), std::move(region).value(), std::move(pool).value());
}

Result<PoolFile> PoolFile::open_with(const std::string& path, bool writable, const MapFile& map) {
  REMORA_TRY_RESULT(file, FileHandle::open(path, writable));
  REMORA_TRY(verify_header(*file));
  REMORA_TRY_RESULT(region, map(*file));
  REMORA_TRY_RESULT(pool, open_pool(**region, path));
  return PoolFile(std::move(file).value(), std::move(region).value(), std::move(pool).value());
}

}  // namespace remora
