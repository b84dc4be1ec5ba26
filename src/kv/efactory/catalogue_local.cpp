// The catalogue for the server's own process.
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
  REMORA_TRY(check_sizes(key, value_bytes));
  if (!may_live(object_format::size_bytes(key.size(), value_bytes))) {
    return Status(Code::no_space, "the store is full");
  }
  const Tag tag = index_->tag(key);
  const IndexSlot slot = find_or_unreadable(tag, key, host_);
  const auto size = static_cast<std::uint32_t>(value_bytes);
  host_.charge_crc(size);
  host_.charge_copy(size);
  REMORA_TRY_RESULT(placed,
                    log_->append({.key = key,
                                  .value_bytes = size,
                                  .checksum = object_format::object_checksum(
                                      sequence_ + 1, checksum_of(key, value, size), expires),
                                  .sequence = sequence_ + 1,
                                  .previous = {slot ? newest(slot).offset() : 0, false},
                                  .expires = expires,
                                  .content = value},
                                 target_));
  ++sequence_;
  const IndexSlot entry = lead_to(
      tag, slot, which_,
      {.offset = placed->offset, .size_bytes = placed->size_bytes, .expires = expires != 0});
  if (expires != 0) {
    note_time(tag, expires, sequence_);
  }
  return Written{placed->offset, sequence_, {entry, index_->generation()}};
}

Result<Ticket> Catalogue::put_persistent(ConstBytes key, ConstBytes value) {
  REMORA_TRY_RESULT(written, put_here(key, std::span(&value, 1), 0));
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

}  // namespace remora::kv::efactory
