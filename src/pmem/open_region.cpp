#include "pmem/open_region.h"

#include <fcntl.h>
#include <libpmem2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/lost_memory.h"
#include "pmem/dax_region.h"
#include "pmem/file_region.h"

namespace remora {
namespace {

constexpr std::string_view cache_line_method = "cache line write-back (clwb) + fence";

// A region whose stores stay in this process.
class PrivateRegion final : public Region {
 public:
  PrivateRegion(Bytes bytes, Strategy strategy)
      : bytes_(bytes), watched_(std::in_place, bytes), strategy_(std::move(strategy)) {}
  ~PrivateRegion() override {
    watched_.reset();
    munmap(bytes_.data(), bytes_.size());
  }

  Bytes bytes() override { return bytes_; }
  const Strategy& strategy() const override { return strategy_; }
  void flush(ConstBytes, Site) override {}
  [[nodiscard]] Ticket drain(Site) override { return Ticket{}; }
  void copy(std::byte* to, ConstBytes from, Site) override { copy_bytes(to, from); }
  bool persistent(Ticket) const override { return true; }
  [[nodiscard]] Status wait(Ticket) override { return failure(); }
  void request(Ticket) override {}
  Status failure() const override { return lost() ? lost_memory_failure() : Status(); }
  bool lost() const override { return watched_->lost(); }

 private:
  Bytes bytes_;
  std::optional<WatchedMemory> watched_;
  Strategy strategy_;
};

Status pmem2_failure(const std::string& what) {
  return Status(Code::io_error, what + ": " + pmem2_errormsg());
}

struct SourceDeleter {
  void operator()(pmem2_source* source) const { pmem2_source_delete(&source); }
};
struct ConfigDeleter {
  void operator()(pmem2_config* config) const { pmem2_config_delete(&config); }
};

Result<Mapping> map_file(const FileHandle& file) {
  if (std::getenv("PMEM2_FORCE_GRANULARITY") != nullptr) {
    return Status(Code::unsupported,
                  "PMEM2_FORCE_GRANULARITY is set, which makes libpmem2 call an ordinary file "
                  "persistent memory; unset it: Remora must know what survives");
  }
  pmem2_source* raw_source = nullptr;
  if (pmem2_source_from_fd(&raw_source, file.descriptor()) != 0) {
    return pmem2_failure("cannot use " + file.path() + " as a source of memory");
  }
  const std::unique_ptr<pmem2_source, SourceDeleter> source(raw_source);
  pmem2_config* raw_config = nullptr;
  if (pmem2_config_new(&raw_config) != 0) {
    return pmem2_failure("cannot configure the mapping of " + file.path());
  }
  const std::unique_ptr<pmem2_config, ConfigDeleter> config(raw_config);
  const unsigned protection = PMEM2_PROT_READ | (file.writable() ? PMEM2_PROT_WRITE : 0);
  if (pmem2_config_set_required_store_granularity(raw_config, PMEM2_GRANULARITY_PAGE) != 0 ||
      pmem2_config_set_protection(raw_config, protection) != 0) {
    return pmem2_failure("cannot configure the mapping of " + file.path());
  }
  pmem2_map* map = nullptr;
  if (pmem2_map_new(&map, raw_config, raw_source) != 0) {
    return pmem2_failure("cannot map " + file.path());
  }
  Mapping mapping;
  mapping.map.reset(map);
  mapping.bytes =
      Bytes(static_cast<std::byte*>(pmem2_map_get_address(map)), pmem2_map_get_size(map));
  mapping.descriptor = file.descriptor();
  return mapping;
}

// libpmem2's mapping of one page, for the functions that it has for a granularity: they are the
// same for every mapping of that one. Memory that is mapped by other means is not made known to it:
// it would remember places that a forked process has not, or has something else at.
Result<pmem2_map*> make_page_map(std::byte* page, pmem2_granularity granularity) {
  pmem2_source* source = nullptr;
  if (pmem2_source_from_anon(&source, page_bytes) != 0) {
    return pmem2_failure("cannot describe memory");
  }
  const std::unique_ptr<pmem2_source, SourceDeleter> owner(source);
  pmem2_map* map = nullptr;
  if (pmem2_map_from_existing(&map, source, page, page_bytes, granularity) != 0) {
    return pmem2_failure("cannot treat memory as persistent memory");
  }
  return map;
}

// As long as the process.
const Result<pmem2_map*>& cache_line_map() {
  alignas(page_bytes) static std::byte page[page_bytes];
  static const Result<pmem2_map*> made = make_page_map(page, PMEM2_GRANULARITY_CACHE_LINE);
  return made;
}
const Result<pmem2_map*>& byte_map() {
  alignas(page_bytes) static std::byte page[page_bytes];
  static const Result<pmem2_map*> made = make_page_map(page, PMEM2_GRANULARITY_BYTE);
  return made;
}

Strategy volatile_strategy(std::string reason) {
  return {Granularity::cache_line, false, std::string(cache_line_method), std::move(reason)};
}

Strategy page_strategy(bool in_memory) {
  return {Granularity::page, !in_memory, "msync of dirty pages, group commit",
          in_memory ? "the file is in memory (tmpfs): msync does nothing there, and a power cut "
                      "empties it"
                    : "an ordinary file, not DAX: the kernel writes its pages to the disk and "
                      "flushes the disk's cache"};
}

Strategy dax_strategy(bool byte, bool device) {
  return {byte ? Granularity::byte : Granularity::cache_line, true,
          byte ? "fence only" : std::string(cache_line_method),
          byte ? "a DAX mapping on a platform whose caches are inside the persistence domain (eADR)"
          : device ? "a device DAX: lines written back reach persistent memory"
                   : "a DAX mapping with MAP_SYNC: lines written back reach persistent memory"};
}

bool wants_dram(const FileHandle& file, Media media) {
  return media == Media::dram || (media == Media::automatic && file.in_memory());
}

// The choice, given what libpmem2 found the mapping to be.
Result<Strategy> choose(const FileHandle& file, Media media, pmem2_granularity found) {
  if (media == Media::dram && !file.in_memory()) {
    return Status(Code::invalid_argument,
                  "media dram needs a file in memory, and " + file.path() +
                      " is on a disk; put it below /dev/shm, or use media file");
  }
  if (wants_dram(file, media)) {
    return volatile_strategy("the file is in memory (tmpfs): a power cut or a reboot empties it");
  }
  const bool is_dax = found != PMEM2_GRANULARITY_PAGE;
  if (media == Media::dax && !is_dax) {
    return Status(Code::unsupported, file.path() +
                                         " is not on a DAX file system; mount one with -o dax, or "
                                         "use media file");
  }
  return is_dax && media != Media::file
             ? dax_strategy(found == PMEM2_GRANULARITY_BYTE, file.is_device())
             : page_strategy(file.in_memory());
}

// Random access, said before the first touch: otherwise the kernel keeps large folios and one dirty
// byte writes back a megabyte.
void advise_random(const FileHandle& file, Bytes bytes) {
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_RANDOM);
  madvise(bytes.data(), bytes.size(), MADV_RANDOM);
}

// What an earlier owner left in the kernel's cache when it was killed must not be taken for
// persistent: it is written back before anybody reads it. Nor may pages be that a failed write-back
// left there as if they were clean: all are dropped, and what is read comes from the disk.
Result<std::unique_ptr<Region>> open_pages(const FileHandle& file, Strategy strategy) {
  REMORA_TRY_RESULT(size_bytes, file.size_bytes());
  REMORA_TRY_RESULT(mapping,
                    map_with_room(file.descriptor(), *size_bytes, MAP_SHARED, file.path()));
  if (fdatasync(file.descriptor()) != 0) {
    return os_failure("cannot write back " + file.path(), errno);
  }
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  advise_random(file, mapping->bytes);
  return std::unique_ptr<Region>(std::make_unique<FileRegion>(
      std::move(mapping).value(), file.descriptor(), std::move(strategy)));
}

// Mapped by Remora, with room to become larger. libpmem2 has said that the kernel can map it so
// that its lines are persistent when they are written back.
Result<std::unique_ptr<Region>> open_lines(const FileHandle& file, Strategy strategy) {
  const int flags = strategy.survives_power_cut ? MAP_SHARED_VALIDATE | MAP_SYNC : MAP_SHARED;
  const Result<pmem2_map*>& functions =
      strategy.granularity == Granularity::byte ? byte_map() : cache_line_map();
  REMORA_TRY(functions.status());
  REMORA_TRY_RESULT(size_bytes, file.size_bytes());
  REMORA_TRY_RESULT(mapping, map_with_room(file.descriptor(), *size_bytes, flags, file.path()));
  return std::unique_ptr<Region>(
      std::make_unique<DaxRegion>(std::move(mapping).value(), std::move(strategy), *functions));
}

}  // namespace

std::string_view to_string(Media media) {
  switch (media) {
    case Media::automatic:
      return "auto";
    case Media::dax:
      return "dax";
    case Media::file:
      return "file";
    case Media::dram:
      return "dram";
  }
  return "unknown";
}

Result<Media> parse_media(std::string_view text) {
  for (Media media : {Media::automatic, Media::dax, Media::file, Media::dram}) {
    if (text == to_string(media)) {
      return media;
    }
  }
  return Status(Code::invalid_argument,
                "unknown media '" + std::string(text) + "'; choose auto, dax, file or dram");
}

Result<Strategy> find_strategy(const FileHandle& file, Media media) {
  REMORA_TRY_RESULT(mapping, map_file(file));
  return choose(file, media, pmem2_map_get_store_granularity(mapping->map.get()));
}

Result<std::unique_ptr<Region>> open_region(const FileHandle& file, Media media) {
  REMORA_TRY(file.fill_holes());
  REMORA_TRY_RESULT(mapping, map_file(file));
  REMORA_TRY_RESULT(strategy,
                    choose(file, media, pmem2_map_get_store_granularity(mapping->map.get())));
  if (strategy->granularity == Granularity::page) {
    mapping->map.reset();
    return open_pages(file, std::move(strategy).value());
  }
  if (!file.is_device()) {
    mapping->map.reset();
    return open_lines(file, std::move(strategy).value());
  }
  pmem2_map* map = mapping->map.get();
  return std::unique_ptr<Region>(
      std::make_unique<DaxRegion>(std::move(mapping).value(), std::move(strategy).value(), map));
}

Status read_device(const FileHandle& device, Bytes into) {
  REMORA_TRY_RESULT(size_bytes, device.size_bytes());
  void* address = mmap(nullptr, *size_bytes, PROT_READ, MAP_SHARED, device.descriptor(), 0);
  if (address == MAP_FAILED) {
    return os_failure("cannot map " + device.path(), errno);
  }
  // What is blank there stays untouched here, and takes no memory.
  const ConstBytes all(static_cast<const std::byte*>(address), std::min(*size_bytes, into.size()));
  for (std::size_t at = 0; at < all.size(); at += page_bytes) {
    const ConstBytes page = all.subspan(at, std::min(page_bytes, all.size() - at));
    if (std::memcmp(page.data(), into.data() + at, page.size()) != 0) {
      std::memcpy(into.data() + at, page.data(), page.size());
    }
  }
  munmap(address, *size_bytes);
  return Status();
}

Result<std::unique_ptr<Region>> open_private(const FileHandle& file) {
  REMORA_TRY_RESULT(size_bytes, file.size_bytes());
  REMORA_TRY_RESULT(bytes,
                    file.is_device()
                        ? map_bytes(-1, *size_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                    "a copy of " + file.path())
                        : map_bytes(file.descriptor(), *size_bytes, MAP_PRIVATE, file.path()));
  if (file.is_device()) {
    if (Status status = read_device(file, *bytes); !status.ok()) {
      munmap(bytes->data(), bytes->size());
      return status;
    }
  }
  return std::unique_ptr<Region>(std::make_unique<PrivateRegion>(
      *bytes, Strategy{Granularity::byte, false, "none", "a private view: the file is untouched"}));
}

Result<std::unique_ptr<Region>> make_dram(std::uint64_t size_bytes) {
  const int descriptor = memfd_create("remora-dram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) {
    return os_failure("cannot make memory", errno);
  }
  Mapping mapping;
  mapping.descriptor = descriptor;
  mapping.close_descriptor = true;
  // Nobody cuts it short while it is mapped, and no other user opens it again by its descriptor.
  if (ftruncate(descriptor, static_cast<off_t>(size_bytes)) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
      fchmod(descriptor, S_IRUSR | S_IWUSR) != 0) {
    return os_failure("cannot make " + std::to_string(size_bytes) + " bytes of memory", errno);
  }
  REMORA_TRY_RESULT(bytes, map_bytes(descriptor, size_bytes, MAP_SHARED, "memory"));
  mapping.bytes = *bytes;
  mapping.unmap_bytes = true;
  const Result<pmem2_map*>& functions = cache_line_map();
  REMORA_TRY(functions.status());
  return std::unique_ptr<Region>(std::make_unique<DaxRegion>(
      std::move(mapping), volatile_strategy("plain memory: gone with its process"), *functions));
}

void give_back(Bytes pages) {
  (void)madvise(pages.data(), pages.size(), MADV_REMOVE);  // else it goes with the mapping
}

Result<std::unique_ptr<Region>> adopt_mapping(Bytes bytes) {
  Mapping mapping;
  mapping.bytes = bytes;
  const Result<pmem2_map*>& functions = cache_line_map();
  REMORA_TRY(functions.status());
  return std::unique_ptr<Region>(std::make_unique<DaxRegion>(
      std::move(mapping), volatile_strategy("memory of another process, mapped here"), *functions));
}

}  // namespace remora
