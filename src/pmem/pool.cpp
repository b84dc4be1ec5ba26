#include "pmem/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/printable.h"
#include "pmem/pool_checks.h"

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
  RedoLog::format(region, header);
  Bytes place = region.bytes().first(sizeof header);
  std::memcpy(place.data(), &header, sizeof header);
  std::memset(place.data(), 0, sizeof header.magic);
  const Ticket body = region.persist(place);
  REMORA_TRY(region.wait(body));
  std::memcpy(place.data(), &header, sizeof header.magic);
  region.flush(place.first(sizeof header.magic));
  return Status();
}

// A pool of version 1 was never grown.
PoolLayout up_to_date(const PoolLayout& layout) {
  Header header = layout.header();
  if (header.version != pool_format::oldest_version) {
    return layout;
  }
  header.version = pool_format::version;
  return header;
}

}  // namespace

Pool::Pool(Region& region, const PoolLayout& layout, const Faults& faults)
    : region_(region),
      found_version_(layout.header().version),
      layout_(up_to_date(layout)),
      header_(layout_.header()),
      faults_(faults),
      log_(region, layout, faults),
      allocator_(layout) {}

Result<std::unique_ptr<Pool>> Pool::create(Region& region, const pool_format::Uuid& uuid,
                                           const Faults& faults, std::uint64_t size_bytes) {
  const std::uint64_t wanted = size_bytes == 0 ? region.size() : size_bytes;
  REMORA_CHECK(wanted <= region.size(), "a pool lies within its region");
  if (wanted < pool_format::smallest_pool_bytes || wanted > pool_format::largest_pool_bytes) {
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
  REMORA_TRY(write_header(region, pool_format::plan(wanted, uuid)));
  return open(region, "the new pool", faults);
}

Result<std::unique_ptr<Pool>> Pool::open(Region& region, std::string_view name,
                                         const Faults& faults) {
  if (region.size() < pool_format::smallest_pool_bytes) {
    return Status(Code::damaged, std::string(name) +
                                     " is too small to be a pool; choose another path, or "
                                     "restore it from a backup");
  }
  REMORA_TRY_RESULT(layout,
                    PoolLayout::read(region.bytes().first(page_bytes), region.size(), name));
  std::unique_ptr<Pool> pool(new Pool(region, *layout, faults));
  if (Status status = pool->recover(); !status.ok()) {
    return Status(status.code(), std::string(name) + ": " + std::string(status.message()));
  }
  return pool;
}

Status Pool::recover() {
  const auto verify = [this]() -> Status {
    REMORA_TRY(allocator_.load(region_.bytes(), found_version_, account_of_version_one()));
    REMORA_TRY(load_roots());
    return is_old() ? Status() : check_total();
  };
  REMORA_TRY_RESULT(replayed, log_.recover(verify, found_version_));
  replayed_ = *replayed;
  return is_old() ? upgrade() : Status();
}

Status Pool::load_roots() {
  roots_.resize(header_.root_count);
  std::memcpy(roots_.data(), region_.data() + header_.roots, roots_.size() * sizeof(Root));
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    Root& root = roots_[i];
    if (root.in_use != 0) {
      REMORA_TRY(check_root(i));
      root.in_use = pool_format::in_use_word(i, root.value, root.name);
      roots_total_ += share_of(root_place(i), root);
    }
  }
  return Status();
}

Status Pool::check_root(std::size_t index) const {
  const Root& root = roots_[index];
  const bool older = is_old() && root.in_use == 1;
  if ((root.in_use != pool_format::in_use_word(index, root.value, root.name) && !older) ||
      !is_sound_name(root.name) || slot_of_root(root.name) != index) {
    return Status(Code::damaged, "root " + std::to_string(index) + " is damaged, at " +
                                     std::to_string(root_place(index)) + pool_format::remedy);
  }
  if (!allocator_.is_live(root.value)) {
    return Status(Code::damaged, "the root '" + printable(name_of(root.name)) + "' leads nowhere" +
                                     pool_format::remedy);
  }
  return Status();
}

Status Pool::check_total() const {
  if (log_.load(pool_format::total_place(header_)) == total()) {
    return Status();
  }
  return Status(Code::damaged,
                "the block table, its summary or the roots are damaged: parts of them are missing, "
                "or older than the rest" +
                    pool_format::remedy);
}

Status Pool::usable() {
  if (failure_.ok()) {
    failure_ = region_.failure();
  }
  return failure_;
}

Status Pool::keep(Account account, std::uint64_t size_bytes) {
  REMORA_TRY(usable());
  return allocator_.keep(account, size_bytes);
}

RoomUsage Pool::room(Account account) const {
  const AccountRoom& room = allocator_.rooms().of(account);
  return {.held_bytes = room.held_blocks * pool_format::block_bytes,
          .kept_bytes = room.kept_blocks * pool_format::block_bytes,
          .free_bytes = allocator_.room_bytes(account)};
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
  const std::uint64_t adopted = adopted_bytes(offset);
  return region_.bytes().subspan(offset,
                                 adopted != 0 ? adopted : allocator_.capacity_bytes(offset));
}

Status Pool::wait(Ticket ticket) {
  REMORA_TRY(failure_);
  if (Status status = region_.wait(ticket); !status.ok()) {
    return failure_ = status;
  }
  log_.put_in_place();
  return Status();
}

Result<bool> Pool::tend() {
  REMORA_TRY(usable());
  Result<bool> busy = log_.tend();
  if (!busy.ok()) {
    failure_ = busy.status();
  }
  release_retired();
  return busy;
}

Status Pool::close() {
  REMORA_TRY(usable());
  REMORA_TRY(failure_ = log_.retire_all());
  release_retired();
  failure_ = Status(Code::closed, "the pool was closed; open it again to change it");
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

std::vector<std::string> Pool::root_names(Account account) const {
  std::vector<std::string> names = root_names();
  std::erase_if(names,
                [account](const std::string& name) { return owner_of_root(name) != account; });
  return names;
}

PoolUsage Pool::usage() const {
  return PoolUsage{size_bytes(),
                   allocator_.live_objects(),
                   allocator_.live_bytes(),
                   allocator_.free_blocks() * pool_format::block_bytes,
                   allocator_.largest_free_run() * pool_format::block_bytes,
                   allocator_.accounts()};
}

}  // namespace remora
