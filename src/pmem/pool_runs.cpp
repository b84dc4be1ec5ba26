// Space of a pool: any, at a place, as much as there is; and one object as two.
#include "pmem/pool.h"

namespace remora {

template <typename Reserve>
auto Pool::reserve_or_wait(const Reserve& reserve) -> decltype(reserve()) {
  if (Status status = usable(); !status.ok()) {
    return status;
  }
  auto taken = reserve();
  if (taken.code() == Code::no_space && !freed_.empty()) {
    if (Status status = log_.retire_all(); !status.ok()) {
      return failure_ = status;
    }
    release_retired();
    taken = reserve();
  }
  return taken;
}

Result<Offset> Pool::reserve(std::uint64_t size_bytes, Account account) {
  return reserve_or_wait([&] { return allocator_.reserve(size_bytes, account); });
}

// Not worth a wait: the place is one of many.
Result<Offset> Pool::reserve_at(Offset place, std::uint64_t size_bytes, Account account) {
  if (Status status = usable(); !status.ok()) {
    return status;
  }
  return allocator_.reserve_at(place, size_bytes, account);
}

Result<ReservedRun> Pool::reserve_most(std::uint64_t size_bytes, Account account) {
  return reserve_or_wait([&] { return allocator_.reserve_most(size_bytes, account); });
}

Result<Ticket> Pool::split(Offset offset, std::uint64_t first_bytes) {
  if (Status status = usable(); !status.ok()) {
    return status;
  }
  const bool lives = allocator_.is_live(offset);
  if (!allocator_.is_run(offset) || !(lives || allocator_.is_reserved(offset)) ||
      first_bytes % pool_format::block_bytes != 0 || first_bytes == 0 ||
      first_bytes >= allocator_.capacity_bytes(offset)) {
    return Status(Code::invalid_argument,
                  "an object can be split between two of its 4 KiB blocks alone");
  }
  WordSet words;
  allocator_.split(offset, first_bytes, words);
  if (!lives) {
    return Ticket{};
  }
  put_total(words);
  Result<Ticket> ticket = log_.append(words.writes(), {});
  if (!ticket.ok()) {
    failure_ = ticket.status();
  }
  return ticket;
}

}  // namespace remora
