#include "pmem/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace remora {

using pool_format::Header;
using pool_format::Root;

namespace {

std::string_view name_of(const std::array<char, Transaction::longest_root_name>& name) {
  return {name.data(), strnlen(name.data(), name.size())};
}

// Some bytes, and behind them nothing but zeros.
bool is_sound_name(const std::array<char, Transaction::longest_root_name>& name) {
  const std::string_view text = name_of(name);
  return !text.empty() && std::ranges::all_of(std::span(name).subspan(text.size()),
                                              [](char byte) { return byte == '\0'; });
}

// The magic goes last: what a cut leaves of an unfinished header does not look like a pool. It is
// on its way when this returns; the first opening waits for it.
Status write_header(Region& region, const Header& header) {
  Bytes place = region.bytes().first(sizeof header);
  std::memcpy(place.data(), &header, sizeof header);
  std::memset(place.data(), 0, sizeof header.magic);
  const Ticket body = region.persist(place);
  REMORA_TRY(region.wait(body));
  std::memcpy(place.data(), &header, sizeof header.magic);
  region.flush(place.first(sizeof header.magic));
  return Status();
}

}  // namespace

Pool::Pool(Region& region, const Header& header, const Faults& faults)
    : region_(region),
      header_(header),
      faults_(faults),
      log_(region, header, faults),
      allocator_(header) {}

Result<std::unique_ptr<Pool>> Pool::create(Region& region, const pool_format::Uuid& uuid,
                                           const Faults& faults) {
  if (region.size() < pool_format::smallest_pool_bytes ||
      region.size() > pool_format::largest_pool_bytes) {
    return Status(Code::invalid_argument,
                  "a pool has 256 KiB to 64 TiB; choose a size between the two");
  }
  const auto fresh = region.bytes().first(page_bytes);
  if (!std::ranges::all_of(fresh, [](std::byte byte) { return byte == std::byte{0}; })) {
    return Status(
        Code::already_exists,
        "the memory for the new pool is not blank; open the pool in it, or choose another "
        "place");
  }
  if (Status status = write_header(region, pool_format::plan(region.size(), uuid)); !status.ok()) {
    return status;
  }
  return open(region, "the new pool", faults);
}

Result<std::unique_ptr<Pool>> Pool::open(Region& region, std::string_view name,
                                         const Faults& faults) {
  if (region.size() < pool_format::smallest_pool_bytes) {
    return Status(Code::damaged, std::string(name) +
                                     " is too small to be a pool; choose another path, or "
                                     "restore it from a backup");
  }
  Header header;
  std::memcpy(&header, region.data(), sizeof header);
  if (Status status = pool_format::verify(header, region.size(), name); !status.ok()) {
    return status;
  }
  std::unique_ptr<Pool> pool(new Pool(region, header, faults));
  if (Status status = pool->recover(); !status.ok()) {
    return Status(status.code(), std::string(name) + ": " + std::string(status.message()));
  }
  return pool;
}

Status Pool::recover() {
  Result<std::uint64_t> replayed = log_.recover([this]() -> Status {
    REMORA_TRY(allocator_.load(region_.bytes()));
    return load_roots();
  });
  if (!replayed.ok()) {
    return replayed.status();
  }
  replayed_ = *replayed;
  return Status();
}

Status Pool::load_roots() {
  roots_.resize(header_.root_count);
  std::memcpy(roots_.data(), region_.data() + header_.roots, roots_.size() * sizeof(Root));
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const Root& root = roots_[i];
    if (root.in_use == 0) {
      continue;
    }
    if (root.in_use != 1 || !is_sound_name(root.name) || slot_of_root(root.name) != i) {
      return Status(Code::damaged,
                    "root " + std::to_string(i) + " is damaged; restore the pool from a backup");
    }
    if (!allocator_.is_live(root.value)) {
      return Status(Code::damaged, "the root '" + std::string(name_of(root.name)) +
                                       "' leads nowhere; restore the pool from a backup");
    }
  }
  return Status();
}

Status Pool::usable() {
  if (failure_.ok()) {
    failure_ = region_.failure();
  }
  return failure_;
}

Result<Offset> Pool::reserve(std::uint64_t size_bytes) {
  if (Status status = usable(); !status.ok()) {
    return status;
  }
  Result<Offset> offset = allocator_.reserve(size_bytes);
  if (offset.code() == Code::no_space && !freed_.empty()) {
    if (Status status = log_.retire_all(); !status.ok()) {
      return failure_ = status;
    }
    release_retired();
    offset = allocator_.reserve(size_bytes);
  }
  return offset;
}

Status Pool::cancel(Offset offset) {
  REMORA_TRY(usable());
  if (!allocator_.is_reserved(offset)) {
    return Status(Code::invalid_argument, "only reserved space can be given back");
  }
  allocator_.release(offset);
  return Status();
}

Bytes Pool::object(Offset offset) {
  return region_.bytes().subspan(offset, allocator_.capacity_bytes(offset));
}

Status Pool::wait(Ticket ticket) {
  REMORA_TRY(failure_);
  if (Status status = region_.wait(ticket); !status.ok()) {
    return failure_ = status;
  }
  log_.settle();
  return Status();
}

Offset Pool::root_place(std::size_t index) const {
  return header_.roots + index * sizeof(Root);
}

Result<Offset> Pool::root(std::string_view name) const {
  for (const Root& root : roots_) {
    if (root.in_use != 0 && name_of(root.name) == name) {
      return root.value;
    }
  }
  return Status(Code::not_found, "the pool has no root '" + std::string(name) + "'");
}

std::vector<std::string> Pool::root_names() const {
  std::vector<std::string> names;
  for (const Root& root : roots_) {
    if (root.in_use != 0) {
      names.emplace_back(name_of(root.name));
    }
  }
  return names;
}

PoolUsage Pool::usage() const {
  return PoolUsage{header_.size_bytes, allocator_.live_objects(), allocator_.live_bytes(),
                   allocator_.free_blocks() * pool_format::block_bytes,
                   allocator_.largest_free_run() * pool_format::block_bytes};
}

}  // namespace remora
