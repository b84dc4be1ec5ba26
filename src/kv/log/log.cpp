#include "kv/log/log.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kv/log/log_faults.h"

namespace remora::kv {

using object_format::Header;
using store_format::Marks;
using store_format::Slot;

namespace {

constexpr std::size_t default_reserve_segments = 2;

Status check_sizes(const NewObject& object) {
  if (object.key.empty() || object.key.size() > limits::key_bytes) {
    return Status(Code::invalid_argument, "a key has 1 byte to 1 KB");
  }
  if (object.value_bytes > object_format::most_value_bytes) {
    return Status(Code::invalid_argument, "a value has at most 16 MB; split it");
  }
  if (object.kind == Kind::tombstone && object.value_bytes != 0) {
    return Status(Code::invalid_argument, "a tombstone has no value");
  }
  return Status();
}

// Asks for the lines that the next object will be written to: they are cold, and a log that is
// written without asking waits for each of them.
void expect_object(const std::byte* at, std::uint64_t size_bytes) {
  constexpr std::uint64_t expected_bytes = 256;
  for (std::uint64_t i = 0; i < std::min(expected_bytes, size_bytes); i += cache_line_bytes) {
    __builtin_prefetch(at + i, 1);
  }
}

}  // namespace

Log::Log(const Host& host, Pool& pool, Offset superblock, const store_format::Head& head)
    : host_(host),
      pool_(pool),
      base_(pool.region().data()),
      superblock_(superblock),
      segment_bytes_(head.segment_bytes),
      reserve_bytes_(head.segment_bytes * default_reserve_segments) {
  REMORA_CHECK(&host.region() == &pool.region(), "host and pool have the same region");
}

Result<Placed> Log::append(const NewObject& object, DataPool pool, Reserve reserve, Site site) {
  REMORA_TRY(check_sizes(object));
  const Host& by = object.by == nullptr ? host_ : *object.by;
  by.charge(Work::allocate);
  const std::uint64_t size = object_format::size_bytes(object.key.size(), object.value_bytes);
  Segment* segment = open_[static_cast<std::size_t>(pool)];
  if (segment == nullptr || segment->capacity_bytes - segment->used_bytes < size) [[unlikely]] {
    REMORA_TRY_RESULT(opened, segment_for(size, pool, reserve));
    segment = *opened;
  }
  const Offset offset = segment->offset + segment->used_bytes;
  segment->used_bytes += size;
  appended_bytes_ += size;
  std::byte* const at = base_ + offset;
  Header header{object.value_bytes,
                static_cast<std::uint16_t>(object.key.size()),
                static_cast<std::uint8_t>(static_cast<std::uint8_t>(object.kind) |
                                          (object.more ? object_format::more_bit : 0)),
                object_format::magic,
                object.sequence,
                segment->number,
                object.checksum,
                0,
                object_format::link_word(object.previous, segment->number),
                object_format::link_word(Link{}, segment->number),
                object_format::state_word(segment->number, object.flags),
                object.expires};
  header.header_checksum = object_format::header_checksum(header, object.key);
  const std::uint64_t value_begin = object_format::value_begin(object.key.size());
  store(at + value_begin - word_bytes, std::uint64_t{0});  // what pads the key
  std::memcpy(at + sizeof header, object.key.data(), object.key.size());
  std::memcpy(at, &header, sizeof header);
  std::byte* end = at + value_begin;
  for (const ConstBytes piece : object.content) {
    copy_bytes(end, piece);
    end += piece.size();
  }
  if (!host_.faults().planted(log_faults::header_not_flushed)) {
    by.flush(ConstBytes(at, end), site);
  }
  expect_object(base_ + segment->offset + segment->used_bytes,
                segment->capacity_bytes - segment->used_bytes);
  return Placed{offset, size, Bytes(at + value_begin, object.value_bytes), segment->number};
}

// A segment with room: a new one. What is larger than an ordinary segment gets one of its own, and
// the one that was open stays so.
Result<Segment*> Log::segment_for(std::uint64_t size_bytes, DataPool pool, Reserve reserve) {
  REMORA_CHECK(pool == DataPool::current || cleaning_, "there is no next data pool");
  REMORA_TRY(changeable());
  std::deque<Segment*>& prepared = prepared_[static_cast<std::size_t>(pool)];
  Result<Segment*> opened =
      prepared.empty() ? open_for(size_bytes, pool, reserve) : Result<Segment*>(prepared.front());
  if (!prepared.empty()) {
    prepared.pop_front();
  }
  if (opened.ok() && size_bytes <= segment_bytes_) {
    open_[static_cast<std::size_t>(pool)] = *opened;
  }
  return opened;
}

Result<Segment*> Log::open_for(std::uint64_t size_bytes, DataPool pool, Reserve reserve) {
  std::uint64_t wanted = std::max(size_bytes, segment_bytes_);
  Result<Segment*> opened = open_segment(wanted, data_pool_of(pool), reserve);
  // Segments of large objects leave space in pieces that no ordinary segment fits into. Cleaning,
  // which would join them, must not wait for one: a smaller segment does.
  while (!opened.ok() && opened.code() == Code::no_space && reserve == Reserve::may_use &&
         wanted > std::max(size_bytes, pool_format::block_bytes)) {
    wanted = std::max(size_bytes, wanted / 2);
    opened = open_segment(wanted, data_pool_of(pool), reserve);
  }
  return opened;
}

std::optional<std::uint64_t> Log::space_for(std::span<const std::uint64_t> sizes_bytes,
                                            DataPool pool) const {
  const Segment* const open = open_[static_cast<std::size_t>(pool)];
  std::uint64_t left = open == nullptr ? 0 : open->capacity_bytes - open->used_bytes;
  std::uint64_t opened_bytes = 0;
  std::uint64_t opened = 0;
  for (const std::uint64_t size : sizes_bytes) {
    if (size <= left) {
      left -= size;
      continue;
    }
    const std::uint64_t wanted = round_up(std::max(size, segment_bytes_), pool_format::block_bytes);
    opened_bytes += wanted;
    ++opened;
    left = size <= segment_bytes_ ? wanted - size : left;
  }
  const std::uint64_t free = total_bytes_ - std::min(total_bytes_, held_bytes_ + reserve_bytes_);
  if (opened != 0 && (opened_bytes > free || opened > free_slots_.size())) {
    return std::nullopt;
  }
  return opened_bytes;
}

// The content of a new segment is nothing to wait for: no header in it has its number yet.
Result<Segment*> Log::open_segment(std::uint64_t size_bytes, std::uint64_t data_pool,
                                   Reserve reserve) {
  share_pool();
  const std::uint64_t wanted = round_up(size_bytes, pool_format::block_bytes);
  const std::uint64_t kept = reserve == Reserve::keep           ? reserve_bytes_
                             : reserve == Reserve::may_use_half ? reserve_bytes_ / 2
                                                                : 0;
  if (room_after(wanted) < kept || free_slots_.empty()) {
    return Status(Code::no_space, "the store is full; delete keys, or use a larger pool");
  }
  REMORA_TRY_RESULT(offset, pool_.reserve(wanted, Account::store));
  const Segment segment{.number = marks_.next_number,
                        .offset = *offset,
                        .data_pool = data_pool,
                        .capacity_bytes = pool_.object(*offset).size(),
                        .slot = free_slots_.back()};
  const Offset slot = slot_place(segment.slot);
  store_format::Marks marks = marks_;
  marks.next_number = segment.number + 1;
  marks.total = total_with(marks) + sum_of(segment);
  Transaction transaction;
  Status status = transaction.publish(segment.offset, 0);
  for (const auto& [place, word] :
       {std::pair{slot + offsetof(Slot, number), segment.number},
        std::pair{slot + offsetof(Slot, offset), segment.offset},
        std::pair{slot + offsetof(Slot, data_pool), data_pool},
        std::pair{slot + offsetof(Slot, end), std::uint64_t{0}},
        std::pair{marks_place(offsetof(Marks, next_number)), marks.next_number},
        std::pair{marks_place(offsetof(Marks, total)), marks.total}}) {
    status = status.ok() ? transaction.set(place, word) : status;
  }
  REMORA_CHECK(status.ok(), "a segment is opened by a small transaction");
  REMORA_TRY_RESULT(ticket, pool_.commit(transaction));
  host_.region().prepare(pool_.object(segment.offset));
  marks_ = marks;
  ++extent_changes_;
  free_slots_.pop_back();
  held_bytes_ += segment.capacity_bytes;
  share_pool();
  return &segments_.emplace(segment.offset, segment).first->second;
}

// What counts as room of so much that is free: where whole segments fit in, and of the rests beside
// them less than a segment. In a pool in one piece that is all. In one that was grown each piece
// ends with a rest, and no segment is opened in several of them together.
std::uint64_t Log::room_in(std::uint64_t free, std::uint64_t whole) const {
  return whole + std::min(free - whole, segment_bytes_ - pool_format::block_bytes);
}

// The room that is left when a segment of this size was opened.
std::uint64_t Log::room_after(std::uint64_t wanted) const {
  const std::optional<std::uint64_t> whole =
      pool_.whole_bytes_after(wanted, Account::store, segment_bytes_);
  if (whole) {
    return waiting_bytes_ + room_in(free_bytes_ - wanted, *whole);
  }
  // Nothing free is as long: it takes of what waits for the pool's log.
  const std::uint64_t room = total_bytes_ - held_bytes_;
  return room - std::min(room, wanted);
}

// Other services may have taken space, or given some back. They leave what the cleaner needs beyond
// the segments that there are, as far as it is there: the rests of a grown pool beside it, or those
// would be all that they leave.
void Log::share_pool() {
  const RoomUsage room = pool_.room(Account::store);
  const std::uint64_t whole = pool_.whole_bytes(Account::store, segment_bytes_);
  const std::uint64_t rests =
      std::min(room.free_bytes - whole, pool_.layout().extensions().size() * segment_bytes_);
  const auto beside =
      static_cast<std::int64_t>(room.held_bytes) - static_cast<std::int64_t>(held_bytes_);
  const auto reachable = static_cast<std::int64_t>(room.held_bytes + room.free_bytes);
  const auto needed =
      beside_bytes_ + static_cast<std::int64_t>(held_bytes_ + reserve_bytes_ + rests);
  waiting_bytes_ = static_cast<std::uint64_t>(std::max(std::int64_t{0}, beside - beside_bytes_));
  free_bytes_ = room.free_bytes;
  total_bytes_ = held_bytes_ + waiting_bytes_ + room_in(free_bytes_, whole);
  (void)pool_.keep(Account::store, static_cast<std::uint64_t>(std::min(needed, reachable)));
}

Result<Object> Log::find(Offset offset) const {
  const auto next = segments_.upper_bound(offset);
  if (next != segments_.begin() && offset % object_format::alignment_bytes == 0) {
    const Segment& segment = std::prev(next)->second;
    const std::uint64_t from = offset - segment.offset;
    if (from < segment.used_bytes) {
      Header header;
      std::memcpy(&header, base_ + offset, sizeof header);
      if (header.segment == segment.number &&
          object_format::plausible(header, segment.used_bytes - from)) {
        return at(offset);
      }
    }
  }
  return Status(Code::not_found, "no object begins at this offset");
}

void Log::set_durable(const Object& object, Site site) const {
  host_.flush(object_bytes(set_flag(object, object_format::durable_flag)), site);
}

void Log::set_invalid(const Object& object, Site site) const {
  host_.flush(object_bytes(set_flag(object, object_format::invalid_flag)), site);
}

void Log::note_durable(const Object& object) const {
  (void)set_flag(object, object_format::durable_flag);
}

void Log::note_invalid(const Object& object) const {
  (void)set_flag(object, object_format::invalid_flag);
}

void Log::note_valid(const Object& object) const {
  std::atomic_ref(object.word_at(offsetof(Header, state)))
      .store(object_format::state_word(object.segment(),
                                       object.flags() & ~object_format::invalid_flag),
             std::memory_order_release);
}

void Log::set_previous(const Object& object, Link link) const {
  set_link(object, offsetof(Header, previous), link);
}

void Log::set_next(const Object& object, Link link) const {
  set_link(object, offsetof(Header, next), link);
}

std::uint64_t& Log::set_flag(const Object& object, std::uint64_t flag) {
  std::uint64_t& word = object.word_at(offsetof(Header, state));
  std::atomic_ref(word).store(object_format::state_word(object.segment(), object.flags() | flag),
                              std::memory_order_release);
  return word;
}

void Log::set_link(const Object& object, std::size_t place, Link link) {
  std::atomic_ref(object.word_at(place))
      .store(object_format::link_word(link, object.segment()), std::memory_order_release);
}

void Log::recount() {
  appended_bytes_ = 0;
  cleared_segments_ = 0;
  for (const auto& [offset, segment] : segments_) {
    appended_bytes_ += segment.used_bytes;
    cleared_segments_ += segment.cleared ? 1u : 0u;
  }
}

}  // namespace remora::kv
