// Log: the objects of a store in persistent memory, one behind the other in segments. A segment is
// one object of the pool; the superblock (root "store") says which there are. Every engine keeps
// its objects here; what they mean, and which of them are the newest, is the engine's business.
//
// WHAT IS FOUND AGAIN. append() flushes header and key. An object is acknowledged only after a
// ticket that was drawn behind it is persistent (seal(), or any later drain of the same host). Then
// recovery finds it, on every medium:
//  - Within a segment objects are handed out in order, and each is flushed before the next is
//    handed out. So the ticket of an object covers the headers of all objects before it in its
//    segment: the walk from the start of the segment meets no hole on its way there. This holds on
//    page media too, where pages reach the disk in any order before the commit: holes are possible
//    only behind everything that was acknowledged.
//  - The transaction that opened the segment was drained before the first object in it. A ticket
//    that is persistent has all earlier ones persistent.
//  - The walk ends at the first header whose checksum or segment number is wrong. What lies behind,
//    complete or not, was never acknowledged, and is dead: a recovered segment is never appended
//    to again, so that nothing can bridge the hole; and its number never comes again.
//
// DAMAGE. Each segment has a mark on the medium: up to there every object was persistent, header
// and key, and decided, before the mark was written (note_bounds, move_marks). So a header that
// fails before the mark is damage, and no power cut: recovery refuses the store, with the place.
// Behind the mark it is what a cut leaves, as above. What `decided` means is the engine's affair:
// it says which objects are not.
//
// DATA POOLS. Segments belong to a data pool: the current one, and, while the cleaner works, the
// next one. end_old_pool() ends all segments of the old with one word. A cut in the middle of a
// cleaning leaves both alive: recovery gives the objects of both, the same object possibly twice
// (same key, same sequence).
//
// One thread, that of the host's loop; host and pool outlive the log, and nothing else changes the
// root "store". append, at, find and the setters do not allocate unless they fail; opening a
// segment does. Nothing blocks on cache-line media. On page media opening a segment blocks only
// when the pool's log is full, or when all free space waits for a commit; create and recover block.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "kv/log/object.h"
#include "kv/log/object_format.h"
#include "kv/log/store_format.h"
#include "pmem/pool.h"

namespace remora::kv {

struct LogOptions {
  std::string_view engine;          // 1 to 32 bytes; a store is opened by the engine that made it
  std::uint64_t segment_bytes = 0;  // of a new store; 0: by the size of the pool
  // Recovery goes on behind damage. A log in which there is some takes no changes.
  bool accept_damage = false;
  // Whether the store has nothing in the pool but its log: what the superblock does not lead to is
  // damage then. Nothing leaks at a power cut, so it is a superblock that is older than the pool.
  bool is_all_of_store = false;
};

// What recovery could not read, though it was persistent.
struct LogDamage {
  SegmentNumber segment = 0;  // 0: the superblock
  Offset offset = 0;
  std::uint64_t size_bytes = 0;
};

enum class DataPool : std::uint8_t {
  current,
  next,  // from begin_new_pool() to end_old_pool(), or to keep_both_pools()
};

// Whether an append may take the space that is kept back for the cleaner. Deletions may take half
// of it, and so may a cleaning of all: a full store can be emptied, and cleaned part by part.
enum class Reserve : std::uint8_t { keep, may_use_half, may_use };

struct NewObject {
  ConstBytes key;
  std::uint32_t value_bytes = 0;
  Kind kind = Kind::value;
  std::uint32_t checksum = 0;  // object_format::object_checksum
  std::uint64_t sequence = 0;
  Link previous = {};
  std::uint64_t flags = 0;    // object_format::durable_flag, for a tombstone or a copy
  bool more = false;          // the next sequence number belongs to the same write
  std::uint64_t expires = 0;  // milliseconds since 1970; 0: never
  // The value, when it is at hand: it is copied, and flushed with the header.
  std::span<const ConstBytes> content = {};
  const Host* by = nullptr;  // whose core does it; the log's own where this is null
};

struct Placed {
  Offset offset = 0;
  std::uint64_t size_bytes = 0;
  Bytes value;  // undefined bytes, to be filled, unless the content was given
  SegmentNumber segment = 0;
};

struct Segment {
  SegmentNumber number = 0;
  Offset offset = 0;
  std::uint64_t data_pool = 0;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t used_bytes = 0;  // up to the end of its last object
  std::uint32_t slot = 0;
  std::uint64_t end_bytes = 0;    // its mark
  std::uint64_t noted_bytes = 0;  // where the mark may go once what was flushed is persistent
  bool recovered = false;         // in an earlier life, and not decided in this one
  bool cleared = false;           // all that it holds is gone
};

struct LogUsage {
  std::uint64_t total_bytes = 0;     // that segments can have
  std::uint64_t segment_bytes = 0;   // what segments have, dead ones too
  std::uint64_t appended_bytes = 0;  // what objects in live segments take
  std::uint64_t reserve_bytes = 0;
  std::uint64_t segments = 0;  // live
  std::uint64_t dead_segments = 0;
};

class Log {
 public:
  // Told of every object that recovery finds: segments in order of their numbers, and in each from
  // its start. Header and key are as they were appended; the value is whatever the medium has. The
  // order of versions is that of their sequence numbers.
  using Visitor = std::function<void(const Object&)>;

  // A new store in the pool. already_exists when it has one.
  static Result<std::unique_ptr<Log>> create(const Host& host, Pool& pool,
                                             const LogOptions& options);
  // The engine that made the store in the pool; not_found when there is none, damaged when the
  // superblock is.
  static Result<std::string> maker(Pool& pool);
  // The store that is there; not_found when there is none, damaged when the superblock is, or a
  // header or key before the mark of its segment, and invalid_argument when another engine made it.
  // Frees dead segments and empty ones. A store of an older version is brought up to date. It may
  // be cut at any point and be called again.
  static Result<std::unique_ptr<Log>> recover(const Host& host, Pool& pool,
                                              const LogOptions& options, const Visitor& visitor);

  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Space for an object, its header and its key, which are flushed; the caller drains, or seals.
  // The flags are those given. invalid_argument for impossible sizes; no_space when the pool is
  // full, but for the reserve.
  Result<Placed> append(const NewObject& object, DataPool pool = DataPool::current,
                        Reserve reserve = Reserve::keep, Site site = Site::current());
  // What segments would have to be opened for objects of these sizes, one behind the other, in
  // bytes; nothing when they do not all find space, but for the reserve.
  std::optional<std::uint64_t> space_for(std::span<const std::uint64_t> sizes_bytes,
                                         DataPool pool) const;
  // Opens the segments that objects of these sizes need, one behind the other, so that each of them
  // finds its place when they are appended next, in this order and with nothing between. Fails as
  // append does, and then nothing is left of it.
  Status prepare(std::span<const std::uint64_t> sizes_bytes, DataPool pool, Reserve reserve);
  // Takes that back, before anything was appended.
  void drop_prepared(DataPool pool);
  // The ticket for everything appended and set before.
  Ticket seal(Site site = Site::current()) const { return host_.drain(site); }

  // The object at an offset that this log gave out and that is still in a live or dead segment.
  Object at(Offset offset) const { return Object(base_ + offset, offset); }
  // Brings the begin of such an object on its way into the caches, before a look at it.
  void expect(Offset offset) const {
    for (std::size_t line = 0; line < expected_bytes; line += cache_line_bytes) {
      __builtin_prefetch(base_ + offset + line);
    }
  }
  // The same before a look at the header and a short key.
  void expect_key(Offset offset) const {
    __builtin_prefetch(base_ + offset);
    __builtin_prefetch(base_ + offset + cache_line_bytes);
  }
  // The same for an offset that comes from outside, or from a link that recovery found: not_found
  // when no segment has an object there. An offset inside of a value whose bytes look like an
  // object is not noticed: who grants space remembers what it granted.
  Result<Object> find(Offset offset) const;

  // One word each, stored atomically and flushed; the caller drains.
  void set_durable(const Object& object, Site site = Site::current()) const;
  void set_invalid(const Object& object, Site site = Site::current()) const;
  // One word each, stored atomically and never flushed. A cut may leave the word as it is or as it
  // was: for an engine whose recovery asks the checksum where the flag is missing, and finds the
  // order of versions by their sequence numbers.
  void note_durable(const Object& object) const;
  void note_invalid(const Object& object) const;
  void note_valid(const Object& object) const;
  void set_previous(const Object& object, Link link) const;
  void set_next(const Object& object, Link link) const;

  // --- Marks (log_marks.cpp).
  // Takes down how far each segment is decided: up to the first of these objects that lies in it,
  // or its end. Returns whether a mark can move.
  bool note_bounds(std::span<const Offset> undecided);
  // Moves marks to what was noted; everything that was flushed before that is persistent. Several
  // small transactions, at most so many; persistent when the ticket is.
  Result<Ticket> move_marks(std::size_t most_transactions);
  // Versions with a sequence number up to this one are persistent, and need not be asked for by
  // their neighbours any more: what recovery finds behind it counts as far as nothing is missing
  // (kept_prefix.h). Everything that was flushed before them is persistent. Once the ticket is
  // persistent they may be cleaned away.
  Result<Ticket> settle(std::uint64_t sequence);
  std::uint64_t settled() const { return marks_.settled; }
  // Versions with a sequence number up to this one are gone; none: 0.
  std::uint64_t cleared() const { return marks_.cleared; }
  // The same for the pool's own log (Pool::tend).
  Result<bool> tend() { return pool_.tend(); }
  // Everything in this segment, which recovery found, is persistent and decided, but for what
  // note_bounds is told.
  void note_decided(SegmentNumber segment);
  // Whether it is live, and not another one at its place.
  bool has(const Segment& segment) const {
    const auto at = segments_.find(segment.offset);
    return at != segments_.end() && at->second.number == segment.number;
  }
  // Whether this object lies before the mark that recovery found.
  bool is_before_mark(Offset object) const;
  // What recovery could not read; not empty only where that was accepted.
  const std::vector<LogDamage>& damage() const { return damage_; }
  // Why there can be no changes, or success.
  Status changeable() const;

  // --- Cleaning.
  // From now on appends may go to the next data pool too. Requires that none is under way.
  void begin_new_pool();
  bool cleaning() const { return cleaning_; }
  // All segments of the current data pool are dead once the ticket is persistent, all together; the
  // next one is the current one. Their space stays until free_dead().
  Result<Ticket> end_old_pool();
  // Gives up a cleaning: both data pools live on as the current one.
  void keep_both_pools();
  // These segments of the current data pool are dead from now on, though not on the medium: each
  // goes by itself when free_dead() comes to it, and a cut brings back those to which it has not
  // come. None of them is open for appends.
  void retire(const std::vector<Segment>& segments);
  // Whether appends to the current data pool may go to this segment.
  bool is_open(const Segment& segment) const;
  // What copies may take at most, in the segment that is open for them and in new ones, however
  // small.
  std::uint64_t room_for_copies() const;
  // Everything appended until now is gone, and with it all versions up to this sequence number,
  // once the ticket is persistent: wholly, and without looking at any. Nothing is appended to a
  // segment that holds some of it; these may be retired when nobody reads or writes them any more.
  Result<Ticket> clear(std::uint64_t sequence);
  // Segments in which all is gone, in no order. Replaces the content of `out`.
  void list_cleared(std::vector<Segment>& out) const;
  bool has_cleared() const { return cleared_segments_ != 0; }
  // Frees up to `most` dead segments, when no peer can still read or write them, and says how many
  // remain. The space is used again when the pool's log lets it go.
  Result<std::size_t> free_dead(std::size_t most);

  // After recovery, before the first append. Whether segments of several data pools are alive,
  // which may hold versions twice: a cleaning did not come to its end, or was one of a part.
  bool holds_several_pools() const;
  // Frees every segment in which none of these objects lies. Requires that they are the newest
  // of their keys, tombstones among them: what no segment has any more, none of them hides.
  Status keep_only(std::vector<Offset> objects);

  // The live segments of a data pool, in the order of their numbers. Replaces the content of `out`.
  void list(DataPool pool, std::vector<Segment>& out) const;
  // All objects in a segment, first to last.
  void visit(const Segment& segment, const Visitor& visitor) const;
  // Their offsets; a cleaner walks them from the end.
  // Replaces the content of `out`, which may be used again and again.
  void collect(const Segment& segment, std::vector<Offset>& out) const;

  // What appends that keep the reserve leave free for the cleaner, and what other services of the
  // pool leave free for it, too: two segments unless told.
  void set_reserve(std::uint64_t reserve_bytes) {
    reserve_bytes_ = reserve_bytes;
    share_pool();
  }

  // The pool was grown: segments may lie in its new room, as many as fit in. What is appended later
  // is persistent no sooner than the larger table. On page media it blocks for a commit.
  Status pool_grew();

  LogUsage usage() const {
    return {total_bytes_,   held_bytes_,      appended_bytes_,
            reserve_bytes_, segments_.size(), dead_.size()};
  }
  std::uint64_t segment_bytes() const { return segment_bytes_; }

  // Where segments lie that were opened and not freed, live ones and dead ones, in no order:
  // visit(const Segment&). The number differs whenever that has changed.
  template <typename Visit>
  void for_each_extent(const Visit& visit) const {
    for (const auto& [offset, segment] : segments_) {
      visit(segment);
    }
    for (const Segment& segment : dead_) {
      visit(segment);
    }
  }
  std::uint64_t extent_changes() const { return extent_changes_; }

 private:
  // Header, key and the begin of a value, of most objects.
  static constexpr std::size_t expected_bytes = 256;

  Log(const Host& host, Pool& pool, Offset superblock, const store_format::Head& head);

  static Result<store_format::Head> plan(Pool& pool, const LogOptions& options);
  static Result<store_format::Head> read_head(Pool& pool, Offset superblock);
  // From this version (log_upgrade.cpp).
  Status upgrade(std::uint32_t version);
  // A larger table, where the pool was grown (log_grow.cpp).
  Result<Ticket> grow_table(const store_format::Head& found);

  Result<Segment*> segment_for(std::uint64_t size_bytes, DataPool pool, Reserve reserve);
  Result<Segment*> open_for(std::uint64_t size_bytes, DataPool pool, Reserve reserve);
  Result<Segment*> open_segment(std::uint64_t size_bytes, std::uint64_t data_pool, Reserve reserve);
  static std::uint64_t& set_flag(const Object& object, std::uint64_t flag);
  static void set_link(const Object& object, std::size_t place, Link link);
  Offset slot_place(std::uint32_t slot) const {
    return store_format::slot_place(superblock_, slot);
  }
  std::uint64_t data_pool_of(DataPool pool) const {
    return data_pool_ + (pool == DataPool::next ? 1 : 0);
  }

  Status look_for_more(bool accept_damage);
  Status load_segments(const store_format::Head& head, bool accept_damage);
  Segment slot_at(std::uint32_t slot) const;
  void add_segment(const Segment& segment, std::uint64_t first_live);
  Status visit_all(const Visitor& visitor, bool accept_damage);
  Status skip_numbers();
  static std::uint64_t sum_of(const Segment& segment) {
    return store_format::sum_of(
        segment.slot, {segment.number, segment.offset, segment.data_pool, segment.end_bytes});
  }
  // What marks and slots add up to when the marks are these.
  std::uint64_t total_with(const store_format::Marks& marks) const {
    return marks_.total - store_format::sum_of(marks_) + store_format::sum_of(marks);
  }
  Offset marks_place(std::size_t member) const {
    return superblock_ + store_format::marks_begin + member;
  }
  // After segments have gone or come with content.
  void recount();
  void share_pool();
  std::uint64_t room_in(std::uint64_t free, std::uint64_t whole) const;
  std::uint64_t room_after(std::uint64_t wanted) const;

  const Host host_;
  Pool& pool_;
  std::byte* const base_;  // of the pool
  Offset superblock_;
  const std::uint64_t segment_bytes_;
  std::uint64_t total_bytes_ = 0;    // of segments, and of room for more
  std::uint64_t free_bytes_ = 0;     // in pieces of any size
  std::uint64_t waiting_bytes_ = 0;  // of segments that were freed: the pool's log still needs them
  std::uint64_t reserve_bytes_;
  std::uint64_t held_bytes_ = 0;   // by segments, live and dead
  std::int64_t beside_bytes_ = 0;  // what else the store holds of the pool
  std::uint64_t appended_bytes_ = 0;
  std::size_t cleared_segments_ = 0;
  store_format::Marks marks_ = {};  // of the superblock
  std::vector<LogDamage> damage_;
  std::uint64_t data_pool_ = 1;  // the current one
  bool cleaning_ = false;
  Segment* open_[2] = {nullptr, nullptr};  // where the next object goes, by DataPool
  std::deque<Segment*> prepared_[2];       // that the next ones are to be, by DataPool
  std::map<Offset, Segment> segments_;     // live ones
  std::vector<Segment> dead_;
  std::uint64_t extent_changes_ = 0;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace remora::kv
