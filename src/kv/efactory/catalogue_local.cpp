// The catalogue for the server's own process, and keys whose time has come.
#include <numeric>
#include <vector>

#include "kv/common/values.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

std::uint32_t checksum_of(ConstBytes key, std::span<const ConstBytes> value,
                          std::uint32_t value_bytes) {
  const std::array<std::uint32_t, 2> sizes = {static_cast<std::uint32_t>(key.size()), value_bytes};
  std::uint32_t sum = crc32c(key, crc32c(std::as_bytes(std::span(sizes))));
  for (const ConstBytes piece : value) {
    sum = crc32c(piece, sum);
  }
  return sum;
}

}  // namespace

Status Catalogue::check_sizes(ConstBytes key, std::uint64_t value_bytes) {
  if (key.empty() || key.size() > limits::key_bytes || value_bytes > limits::value_bytes) {
    return Status(Code::invalid_argument, "a key has 1 byte to 1 KB, a value at most 16 MB");
  }
  return Status();
}

// No link leads from the version before to this one: nobody follows those.
Result<Catalogue::Written> Catalogue::put_here(ConstBytes key, std::span<const ConstBytes> value,
                                               std::uint64_t expires) {
  std::size_t value_bytes = 0;
  for (const ConstBytes piece : value) {
    value_bytes += piece.size();
  }
  if (const Status status = check_sizes(key, value_bytes); !status.ok()) [[unlikely]] {
    return status;
  }
  if (!may_live(object_format::size_bytes(key.size(), value_bytes))) {
    return Status(Code::no_space, "the store is full");
  }
  const Tag tag = index_->tag(key);
  const IndexSlot slot = find(tag, key, host_);
  const auto size = static_cast<std::uint32_t>(value_bytes);
  host_.charge_crc(size);
  host_.charge_copy(size);
  const Result<Placed> placed =
      log_->append({.key = key,
                    .value_bytes = size,
                    .checksum = object_format::object_checksum(
                        sequence_ + 1, checksum_of(key, value, size), expires),
                    .sequence = sequence_ + 1,
                    .previous = {slot ? newest(slot).offset() : 0, false},
                    .expires = expires,
                    .content = value},
                   target_);
  if (!placed.ok()) {
    return placed.status();
  }
  ++sequence_;
  const IndexSlot entry = lead_to(
      tag, slot, which_,
      {.offset = placed->offset, .size_bytes = placed->size_bytes, .expires = expires != 0});
  return Written{placed->offset, sequence_, {entry, index_->generation()}};
}

Result<Ticket> Catalogue::put_lasting(ConstBytes key, ConstBytes value) {
  const Result<Written> written = put_here(key, std::span(&value, 1), 0);
  if (!written.ok()) {
    return written.status();
  }
  if (host_.faults().planted(faults::persist_not_awaited)) {
    return Ticket{};
  }
  const Ticket ticket = drain_durable(log_->at(written->offset), host_, written->entry);
  if (!flushed_.empty() && flushed_.back().offset == written->offset) {
    flushed_.back().received_ns = host_.now_ns();
  }
  return ticket;
}

std::optional<std::uint64_t> Catalogue::space_for(
    std::span<const std::uint64_t> sizes_bytes) const {
  if (!may_live(std::accumulate(sizes_bytes.begin(), sizes_bytes.end(), std::uint64_t{0}))) {
    return std::nullopt;
  }
  return log_->space_for(sizes_bytes, target_);
}

// What hides older versions is on the medium, and none of those was moved to where it is not.
bool Catalogue::may_forget(const Object& newest) const {
  return newest.kind() == Kind::value && newest.durable() && expired(newest) && !log_->cleaning();
}

Catalogue::Expiries Catalogue::forget_expired(Tag from, std::uint64_t most_entries) {
  Expiries pass;
  std::vector<IndexSlot> gone;
  std::vector<IndexSlot> buried;
  // As after a recovery, nothing has to lead to a tombstone that is persistent.
  const bool may_release = !log_->cleaning() && host_.region().persistent(last_tombstone_);
  pass.next = index_->scan(from, most_entries, [&](const IndexSlot& slot) {
    const Place place = slot.place(newest_of(slot));
    if (place.deleted && may_release) {
      buried.push_back(slot);
    } else if (place.expires) {
      ++pass.seen;
      if (may_forget(log_->at(place.offset))) {
        gone.push_back(slot);
      }
    }
  });
  for (const IndexSlot slot : buried) {
    release(slot);
  }
  for (const IndexSlot slot : gone) {
    pass.forgotten += forget(slot) ? 1u : 0u;
  }
  return pass;
}

// Without room it stays hidden by its time, until a cleaning drops it.
bool Catalogue::forget(IndexSlot slot) {
  if (host_.faults().planted(faults::expired_in_memory)) {
    release(slot);
    return true;
  }
  const ConstBytes key = newest(slot).key();
  return bury(index_->tag(key), slot, key, Reserve::keep).ok();
}

}  // namespace remora::kv::efactory
