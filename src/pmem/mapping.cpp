#include "pmem/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace remora {
namespace {

// Addresses cost nothing, but a process has no end of them: so much room, or as many times the size
// where that is more.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t least_room_bytes = std::uint64_t{4} << 30;  // it has fewer addresses
#else
constexpr std::uint64_t least_room_bytes = std::uint64_t{64} << 30;
#endif
constexpr std::uint64_t times_its_size = 8;
// The largest pages of persistent memory that is worth their while: what lies at such an address
// can be mapped by them.
constexpr std::uint64_t large_page_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t usual_page_bytes = std::uint64_t{2} << 20;

// Addresses that nobody can use, aligned; null where the process has not so many in one piece.
std::byte* reserve(std::uint64_t room_bytes, std::uint64_t alignment) {
  const std::uint64_t wanted = room_bytes + alignment;
  void* const found =
      mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) {
    return nullptr;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(found);
  const std::uintptr_t aligned = round_up(begin, alignment);
  auto* const place = static_cast<std::byte*>(found) + (aligned - begin);
  if (aligned != begin) {
    munmap(found, aligned - begin);
  }
  munmap(place + room_bytes, wanted - room_bytes - (aligned - begin));
  return place;
}

Status cannot_map(const std::string& what) {
  return os_failure("cannot map " + what, errno);
}

}  // namespace

void MapDeleter::operator()(pmem2_map* map) const {
  pmem2_map_delete(&map);
}

Mapping::Mapping(Mapping&& other) noexcept
    : bytes(std::exchange(other.bytes, {})),
      map(std::move(other.map)),
      unmap_bytes(std::exchange(other.unmap_bytes, false)),
      descriptor(std::exchange(other.descriptor, -1)),
      close_descriptor(std::exchange(other.close_descriptor, false)),
      flags(other.flags),
      room_bytes(std::exchange(other.room_bytes, 0)) {}

Mapping::~Mapping() {
  map.reset();
  if (unmap_bytes) {
    munmap(bytes.data(), std::max(bytes.size(), room_bytes));
  }
  if (close_descriptor) {
    close(descriptor);
  }
}

// What shares a page with the new bytes is mapped again where it lies, which nobody notices.
Status Mapping::extend(std::uint64_t size_bytes) {
  if (!unmap_bytes || descriptor < 0) {
    return Status(Code::unsupported, "this memory cannot become larger");
  }
  if (size_bytes > room_bytes) {
    return Status(Code::no_space,
                  "the process has no addresses behind what it has mapped; it finds some when it "
                  "opens the file again");
  }
  const std::size_t from = round_down(bytes.size(), page_bytes);
  if (mmap(bytes.data() + from, size_bytes - from, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
           descriptor, static_cast<off_t>(from)) == MAP_FAILED) {
    return cannot_map("more of the file");
  }
  bytes = Bytes(bytes.data(), size_bytes);
  return Status();
}

std::optional<Backing> backing_of(const Mapping& mapping) {
  if (mapping.descriptor < 0) {
    return std::nullopt;
  }
  return Backing{mapping.descriptor, 0};
}

Result<Bytes> map_bytes(int descriptor, std::uint64_t size_bytes, int flags,
                        const std::string& what) {
  void* address = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (address == MAP_FAILED) {
    return cannot_map(what);
  }
  return Bytes(static_cast<std::byte*>(address), size_bytes);
}

Result<Mapping> map_with_room(int descriptor, std::uint64_t size_bytes, int flags,
                              const std::string& what) {
  Mapping mapping;
  mapping.descriptor = descriptor;
  mapping.flags = flags;
  const std::uint64_t room_bytes =
      std::max(least_room_bytes, round_up(size_bytes, page_bytes) * times_its_size);
  std::byte* const place =
      reserve(room_bytes, size_bytes >= large_page_bytes ? large_page_bytes : usual_page_bytes);
  if (place == nullptr) {
    REMORA_TRY_RESULT(bytes, map_bytes(descriptor, size_bytes, flags, what));
    mapping.bytes = *bytes;
  } else if (mmap(place, size_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, descriptor, 0) ==
             MAP_FAILED) {
    const Status status = cannot_map(what);
    munmap(place, room_bytes);
    return status;
  } else {
    mapping.bytes = Bytes(place, size_bytes);
    mapping.room_bytes = room_bytes;
  }
  mapping.unmap_bytes = true;
  return mapping;
}

}  // namespace remora
