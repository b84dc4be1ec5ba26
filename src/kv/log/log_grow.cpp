// The pool was grown since its store was made: the table of segments gets as many slots as the pool
// can have segments now. The superblock is copied to a larger object; one transaction publishes
// that, leads the root there, and frees the old one, so a cut leaves the one table or the other,
// each whole. What a table adds up to knows of no places, and new slots add nothing to it.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kv/log/log.h"

namespace remora::kv {

using store_format::Head;

// Records of the pool's log are kept or lost in their order: what names a new slot, or a place in
// the larger table, comes behind the record that publishes it.
Status Log::pool_grew() {
  REMORA_TRY(changeable());
  REMORA_TRY_RESULT(found, read_head(pool_, superblock_));
  REMORA_TRY(grow_table(*found).status());
  share_pool();
  return Status();
}

Result<Ticket> Log::grow_table(const Head& found) {
  const std::uint64_t slots = store_format::most_slots(pool_.size_bytes(), found.segment_bytes);
  if (slots <= found.slot_count) {
    return Ticket{};
  }
  share_pool();  // what waits for the pool's log is told apart from what else is held
  const std::uint64_t size = store_format::superblock_bytes(slots);
  const Result<Offset> grown = pool_.reserve(size, Account::store);
  if (grown.code() == Code::no_space) {
    return Ticket{};  // then there is no room for more segments either
  }
  REMORA_TRY(grown.status());
  const Bytes place = pool_.object(*grown).first(size);
  std::ranges::fill(place, std::byte{0});
  for (Offset at = 0; at < store_format::superblock_bytes(found.slot_count); at += word_bytes) {
    store(place.data() + at, pool_.load(superblock_ + at));
  }
  Head head = found;
  head.version = store_format::version;
  head.slot_count = static_cast<std::uint32_t>(slots);
  head.checksum = store_format::checksum_of(head);
  std::memcpy(place.data(), &head, sizeof head);
  Transaction transaction;
  REMORA_TRY(transaction.publish(*grown, size));
  REMORA_TRY(transaction.set_root(store_format::root_name, *grown));
  REMORA_TRY(transaction.free(superblock_));
  const Result<Ticket> ticket = pool_.commit(transaction);
  REMORA_TRY(ticket.status());
  superblock_ = *grown;
  std::vector<std::uint32_t> free_slots;
  for (std::uint32_t slot = head.slot_count; slot-- > found.slot_count;) {
    free_slots.push_back(slot);
  }
  free_slots.insert(free_slots.end(), free_slots_.begin(), free_slots_.end());
  free_slots_ = std::move(free_slots);  // the last one is taken first
  beside_bytes_ = static_cast<std::int64_t>(pool_.room(Account::store).held_bytes - held_bytes_ -
                                            waiting_bytes_);
  share_pool();
  return *ticket;
}

}  // namespace remora::kv
