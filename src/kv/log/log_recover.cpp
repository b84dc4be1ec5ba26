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

std::uint64_t default_segment_bytes(std::uint64_t pool_bytes) {
  return round_up(
      std::clamp(pool_bytes / segments_in_pool, smallest_segment_bytes, largest_segment_bytes),
      pool_format::block_bytes);
}

std::string_view engine_of(const Head& head) {
  return {head.engine.data(), strnlen(head.engine.data(), head.engine.size())};
}

Status damaged(const std::string& what) {
  return Status(Code::damaged, what +
                                   "; restore the pool from a backup, or save what is whole with "
                                   "'remora pool salvage FROM TO'");
}

Status refuse(const std::string& why) {
  return Status(Code::invalid_argument, why);
}

}  // namespace

Result<Head> Log::plan(Pool& pool, const LogOptions& options) {
  const std::uint64_t pool_bytes = pool.size_bytes();
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
  REMORA_TRY_RESULT(head, plan(pool, options));
  const std::uint64_t size = store_format::superblock_bytes(head->slot_count);
  REMORA_TRY_RESULT(superblock, pool.reserve(size, Account::store));
  const Bytes place = pool.object(*superblock).first(size);
  Marks marks = {};
  marks.first_live = 1;
  marks.next_number = 1;
  marks.total = store_format::sum_of(marks);
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
  status = log->load_segments(*head, false);
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
  REMORA_TRY_RESULT(head, read_head(pool, *superblock));
  if (engine_of(*head) != options.engine) {
    return refuse("the store was made by the engine " + std::string(engine_of(*head)) +
                  "; open it with that");
  }
  std::unique_ptr<Log> log(new Log(host, pool, *superblock, *head));
  REMORA_TRY(log->load_segments(*head, options.accept_damage));
  if (options.is_all_of_store) {
    REMORA_TRY(log->look_for_more(options.accept_damage));
  }
  const bool has_old_states = head->version < store_format::oldest_marked;
  if (has_old_states) {
    REMORA_TRY(log->upgrade(head->version));  // they are read in the new form
  }
  REMORA_TRY(log->visit_all(visitor, options.accept_damage));
  if (!log->damage_.empty()) {
    return log;  // as it is: nobody knows what is missing, and a new total would hide it
  }
  if (!has_old_states && head->version != store_format::version) {
    REMORA_TRY(log->upgrade(head->version));
  }
  REMORA_TRY_RESULT(grown, log->grow_table(*head));
  REMORA_TRY(pool.wait(*grown));
  REMORA_TRY(log->skip_numbers());
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
  REMORA_TRY_RESULT(head, read_head(pool, *superblock));
  return std::string(engine_of(*head));
}

Result<Head> Log::read_head(Pool& pool, Offset superblock) {
  Head head;
  const Bytes place = pool.object(superblock);
  if (place.size() < store_format::superblock_bytes(0)) {
    return damaged("the superblock of the store is too small");
  }
  std::memcpy(&head, place.data(), sizeof head);
  const std::uint64_t version = pool.load(superblock + offsetof(Head, version));
  std::memcpy(&head.version, &version, sizeof version);
  if (head.magic != store_format::magic) {
    return damaged("the root 'store' does not lead to the superblock of a store");
  }
  if (head.version > store_format::version || head.version < store_format::oldest_version) {
    return Status(Code::unsupported, "the store has version " + std::to_string(head.version) +
                                         ", and this program serves versions 2 to " +
                                         std::to_string(store_format::version) +
                                         "; use the program that made it");
  }
  if (head.checksum != checksum_of(head) || head.segment_bytes < smallest_segment_bytes ||
      store_format::superblock_bytes(head.slot_count) > place.size()) {
    return damaged("the superblock of the store fails its checks");
  }
  return head;
}

// A slot that cannot be is said by itself, with its place; what is wrong elsewhere by the total.
Status Log::load_segments(const Head& head, bool accept_damage) {
  marks_.first_live = pool_.load(marks_place(offsetof(Marks, first_live)));
  marks_.next_number = pool_.load(marks_place(offsetof(Marks, next_number)));
  if (marks_.next_number == 0 || marks_.next_number >= object_format::number_limit ||
      marks_.first_live == 0) {
    return damaged("the marks of the store's superblock are impossible");
  }
  data_pool_ = marks_.first_live;
  marks_.settled = pool_.load(marks_place(offsetof(Marks, settled)));
  marks_.cleared = pool_.load(marks_place(offsetof(Marks, cleared)));
  marks_.total = store_format::sum_of(marks_);
  std::set<SegmentNumber> numbers;
  std::set<Offset> offsets = {superblock_};
  for (std::uint32_t slot = head.slot_count; slot-- > 0;) {
    Segment segment = slot_at(slot);
    if (segment.number == 0) {
      free_slots_.push_back(slot);
      continue;
    }
    marks_.total += sum_of(segment);
    const bool is_possible =
        segment.number < marks_.next_number && segment.data_pool != 0 &&
        pool_.is_live(segment.offset) && segment.end_bytes <= pool_.object(segment.offset).size() &&
        numbers.insert(segment.number).second && offsets.insert(segment.offset).second;
    if (!is_possible && !accept_damage) {
      return damaged("slot " + std::to_string(slot) + " of the store's superblock is damaged");
    }
    if (!is_possible) {
      damage_.push_back({0, slot_place(slot), sizeof(Slot)});
      continue;
    }
    segment.capacity_bytes = pool_.object(segment.offset).size();
    add_segment(segment, marks_.first_live);
  }
  const std::uint64_t found = pool_.load(marks_place(offsetof(Marks, total)));
  if (found != (head.version >= store_format::oldest_marked ? marks_.total : 0)) {
    if (!accept_damage) {
      return damaged("the table of segments in the store's superblock fails its check");
    }
    damage_.push_back({0, marks_place(offsetof(Marks, total)), sizeof found});
  }
  beside_bytes_ = static_cast<std::int64_t>(pool_.room(Account::store).held_bytes - held_bytes_);
  share_pool();
  return Status();
}

// Nothing leaks at a power cut: a segment and its slot are one record, and so are their ends.
Status Log::look_for_more(bool accept_damage) {
  const std::uint64_t led_to = 1 + segments_.size() + dead_.size();
  const AccountsUsage accounts = pool_.usage().accounts;
  if (!damage_.empty() ||
      accounts[static_cast<std::size_t>(Account::store)].object_count == led_to) {
    return Status();
  }
  if (!accept_damage) {
    return damaged("the superblock of the store is older than the pool, which holds more of it");
  }
  damage_.push_back({0, superblock_, sizeof(Head)});
  return Status();
}

Segment Log::slot_at(std::uint32_t slot) const {
  const Offset place = slot_place(slot);
  return Segment{.number = pool_.load(place + offsetof(Slot, number)),
                 .offset = pool_.load(place + offsetof(Slot, offset)),
                 .data_pool = pool_.load(place + offsetof(Slot, data_pool)),
                 .slot = slot,
                 .end_bytes = pool_.load(place + offsetof(Slot, end)),
                 .recovered = true};
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

// Segments in which nothing is found, or nothing that is not gone, are dead too.
Status Log::visit_all(const Visitor& visitor, bool accept_damage) {
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
    bool is_empty = true;
    const Visitor what_counts = [&](const Object& object) {
      if (object.sequence() > marks_.cleared) {
        is_empty = false;
        visitor(object);
      }
    };
    live.used_bytes = walk(base_, live, live.capacity_bytes, what_counts,
                           !host_.faults().planted(log_faults::header_checksum_ignored));
    if (live.used_bytes < live.end_bytes &&
        !host_.faults().planted(log_faults::damage_taken_for_cut)) {
      if (!accept_damage) {
        return damaged("the object at offset " + std::to_string(live.offset + live.used_bytes) +
                       " (segment " + std::to_string(live.number) +
                       ") fails its checksum, though it was persistent: any key may have lost its "
                       "newest version");
      }
      live.used_bytes = walk_on(base_, live, live.used_bytes, what_counts, damage_);
    }
    if (is_empty) {
      dead_.push_back(live);
      segments_.erase(segment.offset);
    } else if (host_.faults().planted(log_faults::tail_reused)) {
      open_[static_cast<std::size_t>(DataPool::current)] = &live;
    }
  }
  recount();
  return Status();
}

// Before the first append of this life: see numbers_skipped.
Status Log::skip_numbers() {
  if (host_.faults().planted(log_faults::numbers_come_again)) {
    return Status();
  }
  Marks marks = marks_;
  marks.next_number += store_format::numbers_skipped;
  marks.total = total_with(marks);
  marks_ = marks;
  Transaction transaction;
  REMORA_TRY(transaction.set(marks_place(offsetof(Marks, next_number)), marks_.next_number));
  REMORA_TRY(transaction.set(marks_place(offsetof(Marks, total)), marks_.total));
  Result<Ticket> ticket = pool_.commit(transaction);
  return ticket.ok() ? pool_.wait(*ticket) : ticket.status();
}

}  // namespace remora::kv
