// A store of an older version is brought up to date.
//
// From version 2 the state words of its objects are written again, each by itself; both forms are
// told apart, so that a cut in the middle leaves what is begun again. Marks are where they are in a
// new segment: at its begin.
//
// Then one transaction says that it is a store of this version, what its table adds up to, and that
// everything in it is settled: no version of a store before version 4 needs another one.
#include <algorithm>
#include <atomic>

#include "kv/log/log.h"
#include "kv/log/log_faults.h"
#include "kv/log/log_walk.h"

namespace remora::kv {

using store_format::Head;
using store_format::Marks;

Status Log::upgrade(std::uint32_t version) {
  const bool has_old_states = version < store_format::oldest_marked;
  std::uint64_t newest = 0;
  for (const auto& [offset, segment] : segments_) {
    walk(base_, segment, segment.capacity_bytes, [&](const Object& object) {
      newest = std::max(newest, object.sequence());
      std::uint64_t& word = object.word_at(offsetof(object_format::Header, state));
      const std::uint64_t upgraded = object_format::upgraded_state(word, object.segment());
      if (has_old_states && upgraded != word &&
          !host_.faults().planted(log_faults::upgrade_leaves_states)) {
        std::atomic_ref(word).store(upgraded, std::memory_order_release);
        host_.flush(object_bytes(word));
      }
    });
  }
  REMORA_TRY(pool_.wait(host_.drain()));
  Marks marks = marks_;
  marks.settled = newest;
  marks.total = total_with(marks);
  const Offset place = superblock_ + offsetof(Head, version);
  const std::uint64_t slot_count = pool_.load(place) >> 32;
  Transaction transaction;
  REMORA_TRY(transaction.set(place, slot_count << 32 | store_format::version));
  REMORA_TRY(transaction.set(marks_place(offsetof(Marks, settled)), marks.settled));
  REMORA_TRY(transaction.set(marks_place(offsetof(Marks, total)), marks.total));
  marks_ = marks;
  const Result<Ticket> ticket = pool_.commit(transaction);
  return ticket.ok() ? pool_.wait(*ticket) : ticket.status();
}

}  // namespace remora::kv
