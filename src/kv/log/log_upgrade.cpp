// A store of version 2 is brought up to date. The state words of its objects are written anew, each
// by itself; both forms are told apart, so that a cut in the middle leaves what is begun again.
// Then one transaction says that it is a store of version 3, and what its table adds up to. Marks
// are where they are in a new segment: at its begin.
#include <atomic>

#include "kv/log/log.h"
#include "kv/log/log_faults.h"
#include "kv/log/log_walk.h"

namespace remora::kv {

using store_format::Head;
using store_format::Marks;

Status Log::upgrade() {
  for (const auto& [offset, segment] : segments_) {
    walk(base_, segment, segment.capacity_bytes, [this](const Object& object) {
      std::uint64_t& word = object.word_at(offsetof(object_format::Header, state));
      const std::uint64_t upgraded = object_format::upgraded_state(word, object.segment());
      if (upgraded != word && !host_.faults().planted(log_faults::upgrade_leaves_states)) {
        std::atomic_ref(word).store(upgraded, std::memory_order_release);
        host_.flush(object_bytes(word));
      }
    });
  }
  REMORA_TRY(pool_.wait(host_.drain()));
  const Offset version = superblock_ + offsetof(Head, version);
  const std::uint64_t slot_count = pool_.load(version) >> 32;
  Transaction transaction;
  REMORA_TRY(transaction.set(version, slot_count << 32 | store_format::version));
  REMORA_TRY(transaction.set(marks_place(offsetof(Marks, total)), total_));
  const Result<Ticket> ticket = pool_.commit(transaction);
  return ticket.ok() ? pool_.wait(*ticket) : ticket.status();
}

}  // namespace remora::kv
