// How a log comes to be, and how it comes back.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "kv/log/log.h"
#include "kv/log/log_faults.h"
#include "kv/log/log_walk.h"
#include "pmem/read_ahead.h"

namespace remora::kv {

using store_format::Head;
using store_format::Marks;
using store_format::Slot;

namespace {

constexpr std::uint64_t segments_in_pool = 32;
constexpr std::uint64_t smallest_segment_bytes = 16 << 10;
constexpr std::uint64_t largest_segment_bytes = 64 << 20;
static_assert(largest_segment_bytes <= remora::largest_object_bytes);
// What is fetched while recovery looks at what was fetched before: two of the largest segments.
constexpr std::uint64_t read_ahead_bytes = 2 * largest_segment_bytes;

std::uint32_t checksum_of(const Head& head) {
  return crc32c(object_bytes(head).first(offsetof(Head, checksum)));
}

std::uint64_t default_segment_bytes(std::uint64_t pool_bytes) {
  return round_up(
      std::clamp(pool_bytes / segments_in_pool, smallest_segment_bytes, largest_segment_bytes),
      pool_format::block_bytes);
}

std::string_view engine_of(const Head& head) {
  return {head.engine.data(), strnlen(head.engine.data(), head.engine.size())};
}

Status damaged(const std::string& what) {
  return Status(Code::damaged, what + "; restore the pool from a backup");
}

Status refuse(const std::string& why) {
  return Status(Code::invalid_argument, why);
}

}  // namespace

Result<Head> Log::plan(Pool& pool, const LogOptions& options) {
  const std::uint64_t pool_bytes = pool.header().size_bytes;
  Head head{store_format::magic, store_format::version, 0, {}, options.segment_bytes, 0, 0};
  if (options.engine.empty() || options.engine.size() > head.engine.size()) {
    return refuse("the name of an engine has 1 to 32 bytes");
  }
  std::ranges::copy(options.engine, head.engine.begin());
  if (head.segment_bytes == 0) {
    head.segment_bytes = default_segment_bytes(pool_bytes);
  }
  if (head.segment_bytes % pool_format::block_bytes != 0 ||
      head.segment_bytes < smallest_segment_bytes || head.segment_bytes > largest_segment_bytes) {
    return refuse("a segment has 16 KB to 64 MB, in whole blocks of 4 KB");
  }
  const std::uint64_t slots = pool_bytes / head.segment_bytes;
  if (store_format::superblock_bytes(slots) > largest_object_bytes) {
    return refuse("these segments are too many for one store; make them larger");
  }
  head.slot_count = static_cast<std::uint32_t>(slots);
  head.checksum = checksum_of(head);
  return head;
}

Result<std::unique_ptr<Log>> Log::create(const Host& host, Pool& pool, const LogOptions& options) {
  if (pool.root(store_format::root_name).ok()) {
    return Status(Code::already_exists,
                  "the pool has a store already; open that, or choose another pool");
  }
  Result<Head> head = plan(pool, options);
  if (!head.ok()) {
    return head.status();
  }
  const std::uint64_t size = store_format::superblock_bytes(head->slot_count);
  Result<Offset> superblock = pool.reserve(size);
  if (!superblock.ok()) {
    return superblock.status();
  }
  const Bytes place = pool.object(*superblock).first(size);
  const Marks marks{1, 1, {}};
  std::ranges::fill(place, std::byte{0});
  std::memcpy(place.data(), &*head, sizeof *head);
  std::memcpy(place.data() + store_format::marks_begin, &marks, sizeof marks);
  Transaction transaction;
  Status status = transaction.publish(*superblock, size);
  status = status.ok() ? transaction.set_root(store_format::root_name, *superblock) : status;
  REMORA_CHECK(status.ok(), "a superblock and its root fit one transaction");
  Result<Ticket> ticket = pool.commit(transaction);
  status = ticket.ok() ? pool.wait(*ticket) : ticket.status();
  if (!status.ok()) {
    return status;
  }
  std::unique_ptr<Log> log(new Log(host, pool, *superblock, *head));
  status = log->load_segments();
  REMORA_CHECK(status.ok(), "a new table of segments is empty");
  return log;
}

// Everything here may be cut and done again: the walk changes nothing, the skip is one transaction,
// and so is each freeing.
Result<std::unique_ptr<Log>> Log::recover(const Host& host, Pool& pool, const LogOptions& options,
                                          const Visitor& visitor) {
  Result<Offset> superblock = pool.root(store_format::root_name);
  if (!superblock.ok()) {
    return Status(Code::not_found, "the pool has no store; create one");
  }
  const Result<Head> head = read_head(pool, *superblock);
  if (!head.ok()) {
    return head.status();
  }
  if (engine_of(*head) != options.engine) {
    return refuse("the store was made by the engine " + std::string(engine_of(*head)) +
                  "; open it with that");
  }
  std::unique_ptr<Log> log(new Log(host, pool, *superblock, *head));
  if (Status status = log->load_segments(); !status.ok()) {
    return status;
  }
  log->visit_all(visitor);
  if (Status status = log->skip_numbers(); !status.ok()) {
    return status;
  }
  if (Result<std::size_t> freed = log->free_dead(log->dead_.size()); !freed.ok()) {
    return freed.status();
  }
  return log;
}

Result<std::string> Log::maker(Pool& pool) {
  const Result<Offset> superblock = pool.root(store_format::root_name);
  if (!superblock.ok()) {
    return Status(Code::not_found, "the pool has no store");
  }
  const Result<Head> head = read_head(pool, *superblock);
  if (!head.ok()) {
    return head.status();
  }
  return std::string(engine_of(*head));
}

Result<Head> Log::read_head(Pool& pool, Offset superblock) {
  Head head;
  const Bytes place = pool.object(superblock);
  if (place.size() < store_format::superblock_bytes(0)) {
    return damaged("the superblock of the store is too small");
  }
  std::memcpy(&head, place.data(), sizeof head);
  if (head.magic != store_format::magic) {
    return damaged("the root 'store' does not lead to the superblock of a store");
  }
  if (head.version != store_format::version) {
    return Status(Code::unsupported, "the store has version " + std::to_string(head.version) +
                                         ", and this program serves version " +
                                         std::to_string(store_format::version) +
                                         "; use the program that made it");
  }
  if (head.checksum != checksum_of(head) || head.segment_bytes < smallest_segment_bytes ||
      store_format::superblock_bytes(head.slot_count) > place.size()) {
    return damaged("the superblock of the store fails its checks");
  }
  return head;
}

Status Log::load_segments() {
  const Offset marks = superblock_ + store_format::marks_begin;
  const std::uint64_t first_live = pool_.load(marks + offsetof(Marks, first_live));
  next_number_ = pool_.load(marks + offsetof(Marks, next_number));
  if (next_number_ == 0 || next_number_ >= object_format::number_limit || first_live == 0) {
    return damaged("the marks of the store's superblock are impossible");
  }
  data_pool_ = first_live;
  Head head;
  std::memcpy(&head, base_ + superblock_, sizeof head);
  std::set<SegmentNumber> numbers;
  std::set<Offset> offsets = {superblock_};
  for (std::uint32_t slot = head.slot_count; slot-- > 0;) {
    Segment segment = slot_at(slot);
    if (segment.number == 0) {
      free_slots_.push_back(slot);
      continue;
    }
    if (segment.number >= next_number_ || segment.data_pool == 0 ||
        !pool_.is_live(segment.offset) || !numbers.insert(segment.number).second ||
        !offsets.insert(segment.offset).second) {
      return damaged("slot " + std::to_string(slot) + " of the store's superblock is damaged");
    }
    segment.capacity_bytes = pool_.object(segment.offset).size();
    add_segment(segment, first_live);
  }
  total_bytes_ = pool_.usage().free_bytes + held_bytes_;
  return Status();
}

Segment Log::slot_at(std::uint32_t slot) const {
  const Offset place = slot_place(slot);
  return Segment{pool_.load(place + offsetof(Slot, number)),
                 pool_.load(place + offsetof(Slot, offset)),
                 pool_.load(place + offsetof(Slot, data_pool)),
                 0,
                 0,
                 slot};
}

void Log::add_segment(const Segment& segment, std::uint64_t first_live) {
  held_bytes_ += segment.capacity_bytes;
  if (segment.data_pool < first_live) {
    dead_.push_back(segment);
  } else {
    data_pool_ = std::max(data_pool_, segment.data_pool);
    segments_.emplace(segment.offset, segment);
  }
}

// Segments in which nothing is found are dead too.
void Log::visit_all(const Visitor& visitor) {
  std::vector<Segment> order;
  list(DataPool::current, order);
  std::size_t expected = 0;  // segments that are being fetched, or have been
  std::uint64_t ahead_bytes = 0;
  for (const Segment& segment : order) {
    for (; expected < order.size() && ahead_bytes < read_ahead_bytes; ++expected) {
      read_ahead(ConstBytes(base_ + order[expected].offset, order[expected].capacity_bytes));
      ahead_bytes += order[expected].capacity_bytes;
    }
    ahead_bytes -= segment.capacity_bytes;
    Segment& live = segments_.at(segment.offset);
    live.used_bytes = walk(base_, live, live.capacity_bytes, visitor,
                           !host_.faults().planted(log_faults::header_checksum_ignored));
    if (live.used_bytes == 0) {
      dead_.push_back(live);
      segments_.erase(segment.offset);
    } else if (host_.faults().planted(log_faults::tail_reused)) {
      open_[static_cast<std::size_t>(DataPool::current)] = &live;
    }
  }
  recount();
}

// Before the first append of this life: see numbers_skipped.
Status Log::skip_numbers() {
  if (host_.faults().planted(log_faults::numbers_come_again)) {
    return Status();
  }
  next_number_ += store_format::numbers_skipped;
  Transaction transaction;
  REMORA_TRY(transaction.set(superblock_ + store_format::marks_begin + offsetof(Marks, next_number),
                             next_number_));
  Result<Ticket> ticket = pool_.commit(transaction);
  return ticket.ok() ? pool_.wait(*ticket) : ticket.status();
}

}  // namespace remora::kv
