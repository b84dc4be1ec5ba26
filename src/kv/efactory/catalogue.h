// Catalogue: the objects of the store and the index that leads to them, with the rules that keep
// both true. The request handler, the verifier and the cleaner all work on it, on one thread.
//
// Versions of a key form a list, the newest first. A version is
//   undecided   its value has not been seen complete, and may still come
//   durable     its value is complete and persistent; the flag says so, and the index too
//   invalid     its value did not come in time, and is never asked for again
//   damaged     its checksum fails, though it was persistent: the key is known, and answers so
//   unreadable  its header or key fails its checksum: the index alone tells of it, by the hash of
//   the
//               key, which answers that it is damaged
// A version whose time has come hides what is older, as a tombstone does: the key is not there.
//
// What recovery finds is believed as far as it goes, and not called durable in the index before its
// checksum was verified in this life: by the background, or by the first get of it.
//
// The index says "durable" only after the value is persistent, so a client that READ the index
// before the bytes of the object knows that these bytes stand still. A flag that came with the
// bytes would prove nothing: a READ sees lines in any order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "kv/common/index_memory.h"
#include "kv/efactory/living.h"
#include "kv/efactory/time_wheel.h"
#include "kv/index/index.h"
#include "kv/log/log.h"
#include "kv/store.h"
#include "pmem/pool.h"

namespace remora::kv::efactory {

// A version that is complete and flushed, and durable when the ticket is persistent.
struct Flushed {
  Offset offset = 0;
  std::uint64_t sequence = 0;
  Ticket ticket;
  std::uint64_t received_ns = 0;  // when it was put, unless it was awaited
};

// A version whose value is awaited.
struct Awaited {
  Offset offset = 0;
  std::uint64_t sequence = 0;
  std::uint64_t received_ns = 0;  // the request
  std::uint64_t next_look_ns = 0;
  std::uint64_t owner = 0;  // the session that puts it; 0: none
  std::uint64_t size_bytes = 0;
  bool whole = false;  // it was seen complete: if it is not, it is damaged
};

// The entry of a key in the index, as it was found once: good while the index says so.
struct KnownEntry {
  IndexSlot slot = {};
  std::uint64_t generation = 0;
};

class Catalogue {
 public:
  static Result<std::unique_ptr<Catalogue>> create(const Host& host, Pool& pool,
                                                   const ServerOptions& options);
  // What the pool holds. The newest complete version of each key is found by its sequence number;
  // everything else is garbage for the cleaner.
  static Result<std::unique_ptr<Catalogue>> recover(const Host& host, Pool& pool,
                                                    const ServerOptions& options);

  // --- Requests.

  // Space for a new version, linked before all others of its key and led to by the index. Its
  // header is flushed, and drained by whatever drains first: nothing is acknowledged as persistent,
  // and no version is called durable, without a drain that came after the headers of all versions
  // before it. Nobody looks for its value before `look_ns`.
  struct Granted {
    Placed placed;
    std::uint64_t sequence = 0;
  };
  Result<Granted> put(ConstBytes key, std::uint32_t value_bytes, std::uint32_t client_sum,
                      std::uint64_t owner, std::uint64_t look_ns);

  // A tombstone; the del has happened when the ticket is persistent. A key that is not there needs
  // none.
  Result<Ticket> del(ConstBytes key);

  // All keys are gone; that has happened when the ticket is persistent, and wholly. Takes no longer
  // for many. An empty index takes the place of the one that there was, which is the caller's until
  // no client READs it. A change of its size ends with that.
  using Table = IndexMemory;
  Result<Ticket> clear(Table& old);

  // The newest version of the key that is complete, made durable if it is not; the ticket says when
  // it is. Without an object there is no such key, once the ticket is persistent.
  struct Found {
    std::optional<Object> object;
    Ticket ticket;
    bool damaged = false;  // there is no object that could be shown
  };
  Found get(ConstBytes key);

  // Makes this very version durable; not_found when it is not there, or is invalid.
  Result<Ticket> persist(Offset offset, std::uint64_t sequence);

  // --- Requests of the server's own process (catalogue_local.cpp).

  // A version whose value is at hand: it is complete, and flushed; the caller drains, waits, and
  // then calls mark_durable, with the entry of the index, which it need not look for again.
  struct Written {
    Offset offset = 0;
    std::uint64_t sequence = 0;
    KnownEntry entry = {};
  };
  Result<Written> put_here(ConstBytes key, std::span<const ConstBytes> value,
                           std::uint64_t expires);
  // The same, but drained: persistent when the ticket is, and flagged as what `persist` asks for.
  Result<Ticket> put_persistent(ConstBytes key, ConstBytes value);
  static Status check_sizes(ConstBytes key, std::uint64_t value_bytes);
  // Whether versions of these sizes find space, one behind the other: what they need of it that
  // nothing has yet, in bytes.
  std::optional<std::uint64_t> space_for(std::span<const std::uint64_t> sizes_bytes) const;

  // --- Several keys at once (catalogue_together.cpp).

  // A write that can happen: its conditions hold, no key stands twice, and what it needs of the
  // log's space that nothing has yet is told. It must happen before anything else changes.
  struct Together {
    std::vector<const Write*> writes;  // those that change something
    std::uint64_t needed_bytes = 0;    // the larger of what is written and what must be opened
    Reserve reserve = Reserve::keep;
  };
  Result<Together> plan(const MultiWrite& what);
  // All of it, or nothing. The versions in order; a deletion has no offset. They are flushed: no
  // ticket makes a part of them persistent.
  Result<std::vector<Written>> write(const Together& what);
  // The version that conditions name, 0 where there is no such key; damaged, or in_use while the
  // newest value is on its way.
  Result<std::uint64_t> version_of(ConstBytes key);

  // The newest version that may be shown, which may be damaged; none when there is no such key, or
  // when what is damaged does not even tell of a version.
  // `known(sequence)` says that a version is complete, whose checksum is then not computed. A key
  // whose time has come is deleted where nothing is against it.
  struct Shown {
    std::optional<Object> object;
    bool damaged = false;
  };
  template <typename Known>
  Shown shown(ConstBytes key, const Known& known);
  // As Index::scan: visit(Tag, ConstBytes key) for keys that are there.
  template <typename Known, typename Visit>
  Tag scan_shown(Tag from, std::uint64_t most_entries, const Known& known, const Visit& visit);

  // Keys whose newest version is a value, and those among them with a time; without those whose
  // time has come. This costs time in proportion to the latter, of which there are few.
  std::uint64_t keys() const { return keys_ - (expiring_ == 0 ? 0 : expired_keys()); }
  std::uint64_t expiring() const { return expiring_ - (expiring_ == 0 ? 0 : expired_keys()); }
  // Deletes keys whose time has come, up to so many, with tombstones as a client's deletions have
  // them: a clock that is set back brings none of them back. The caller sees to it that they become
  // persistent.
  struct Expiries {
    std::uint64_t forgotten = 0;
    bool goes_on = false;  // more might be done at once
  };
  Expiries forget_expired(std::uint64_t most);
  // Nothing is to be forgotten before; TimeWheel::never_ms where no key has a time.
  std::uint64_t next_expiry_ms() const { return times_.next_ms(); }
  bool expired(const Object& object) const {
    return object.expires() != 0 && object.expires() <= host_.runtime().wall_ms();
  }

  // --- Verification.

  // Looks at a version whose value is awaited: its value is flushed if it is complete. The caller
  // drains, waits, and then calls mark_durable.
  bool flush_if_complete(const Object& object, const Host& by);
  // The newest version of its key, if that is a later one. Once that is durable, nobody will ever
  // ask for this one again.
  std::optional<Object> newer_version(const Object& object, const Host& by) const;
  void mark_durable(const Object& object, const Host& by, const KnownEntry& entry = {});
  // Gives up a version whose value did not come in time, for good once the caller has drained,
  // waited and called marks_persisted.
  void give_up(const Object& object);
  bool marks_pending() const { return !pending_marks_.empty(); }
  void marks_persisted();
  std::deque<Awaited>& awaited() { return awaited_; }
  const std::deque<Awaited>& awaited() const { return awaited_; }
  // Versions that requests and the cleaner have flushed, in the order of their tickets. They are
  // marked durable when their tickets are persistent, and no second commit is needed.
  std::deque<Flushed>& flushed() { return flushed_; }

  // --- Damage (catalogue_damage.cpp).

  // Whether its checksum was not looked at since recovery, or is known to fail.
  bool is_suspect(IndexSlot slot, const Object& version) const {
    if (version.sequence() > recovered_ && damaged_.empty()) [[likely]] {
      return false;
    }
    return is_unverified(slot, version) || damaged_.contains(version.offset());
  }
  // Looks at the checksum of a version that was persistent: if it is the newest of its key, the
  // index says that it is durable, or it is one of the damaged.
  enum class Verdict : std::uint8_t {
    sound,
    damaged,
    open,  // it is not the newest of a key, was verified before, or its value is awaited
  };
  Verdict verify(const Object& object, Tag tag, const Host& by);
  // The same for the newest version of this key, if there is one.
  void verify_newest(ConstBytes key);
  // Its checksum fails, though it was persistent.
  void note_damaged(const Object& object, const Host& by);
  // Newest versions whose checksums fail, by their offsets; unreadable ones are among them.
  const std::set<Offset>& damaged() const { return damaged_; }
  // Where headers in the log fail their checksums, as far as that was noticed. What lies behind
  // such a one in its segment is found by the index alone: a cleaning of all would lose it.
  const std::set<Offset>& unreadable() const { return unreadable_; }
  void note_unreadable(Offset header) {
    unreadable_.insert(header);
    has_unreadable_ = true;
  }
  // Segments that recovery found, and how many keys. Everything in the segment is persistent once
  // verify has seen all of it.
  const std::vector<Segment>& recovered_segments() const { return recovered_segments_; }
  std::uint64_t recovered_keys() const { return recovered_keys_; }
  // Versions that marks may not pass. Replaces the content of `out`.
  void list_undecided(std::vector<Offset>& out) const;
  // Verifies what some entries of the index lead to, from `from` on: newest versions that are
  // values. One that fails is damaged from then on.
  struct Scrubbed {
    Tag next = 0;  // 0: at the end
    std::uint64_t seen = 0;
    std::uint64_t damaged = 0;
  };
  Scrubbed scrub(Tag from, std::uint64_t most_entries);

  // --- Cleaning (catalogue_cleaning.cpp; cleaning_stages.h for its stages).

  // Where new versions go from now on.
  void append_to(DataPool pool) {
    target_ = pool;
    which_ = pool == DataPool::next ? next_mark() : mark_;
  }
  // Which place of an entry is for versions in the next data pool. It leads to the newest version
  // of the key whenever it leads anywhere.
  std::size_t newer_place() const { return next_mark(); }
  // What a deletion hides, or a version whose time has come, goes with it when all of the old pool
  // goes. When a part goes, it may be in another part: such a version lives on as a tombstone.
  enum class Goes : std::uint8_t { whole, part };
  void begin_cleaning(Goes goes);
  // Whether the version must live on: no newer version of its key is durable or can be made so, and
  // its value is complete.
  enum class Fate : std::uint8_t {
    stale,
    keep,
    hide,       // as a tombstone: what it hides may be where nothing goes
    undecided,  // its value may still come
  };
  // The tag is its key's.
  Fate judge(const Object& object, Tag tag);
  Fate judge(const Object& object) { return judge(object, index_->tag(object.key())); }
  // All objects in a segment, first to last, and the tags of their keys. Replaces what was there.
  void collect(const Segment& segment, std::vector<Offset>& offsets, std::vector<Tag>& tags) const;
  // Brings what judging needs on its way into the caches. The caller judges objects with these
  // tags from the last to the first, and is at this one.
  void look_ahead(const std::vector<Tag>& tags, std::size_t at) const;
  // Persistent when all versions are that others were called stale for, but for deletions.
  Ticket relied_on() const { return relied_on_; }
  // Persistent when all deletions are.
  Ticket last_tombstone() const { return last_tombstone_; }
  // Once it is persistent, so is all that was put until now, and may be settled.
  static Ticket drain_to_settle(const Host& host) { return host.drain(); }
  // Copies a version to the next data pool, and leads there whatever led to it. The copy is
  // persistent when the ticket is.
  Result<Ticket> move(const Object& object);
  // Copies a version whose fate is to hide others, as a tombstone.
  Result<Ticket> move_hiding(const Object& object);
  // Whatever led to a version that was given up leads to the one before it.
  void bypass(const Object& object, Tag tag);
  // The entries of the index from `from` on lead to the next data pool alone; those that lead
  // nowhere go. Returns where to go on, 0 at the end.
  Tag flip(Tag from, std::uint64_t most_entries);
  // The same after a cleaning that was given up: entries lead where they led, by the place that is
  // the current pool's.
  Tag unflip(Tag from, std::uint64_t most_entries);
  // A version that stays forgets links to those that go.
  void unlink_old(const Object& object, const std::vector<Segment>& old);

  // The pool was grown: there is room for more.
  Status pool_grew() {
    living_->grow(host_.region().bytes().size());
    return log_->pool_grew();
  }

  Log& log() { return *log_; }
  const Log& log() const { return *log_; }
  Index& index() { return *index_; }
  std::uint64_t index_bytes() const { return table_.bytes.size(); }
  // What the index lies in, for the wire; null when that is nothing to share.
  Region* index_region() const { return table_.region.get(); }
  Pool& pool() { return pool_; }
  const Host& host() const { return host_; }
  const Host& background() const { return background_; }
  std::uint64_t sequence() const { return sequence_; }
  // What the newest versions take, where they are values.
  std::uint64_t live_bytes() const { return live_bytes_; }
  // What of that lies in the segment, about, and the deletions there that the index leads to.
  std::uint64_t living_bytes(const Segment& segment) const { return living_->within(segment); }

  // --- The size of the index.

  // The windows that it should have.
  std::uint64_t fitting_windows() const { return index_->fitting_windows(least_windows_); }
  // Memory for another size; end_resize gives the one before back to the caller, who keeps it until
  // no client READs it.
  void begin_resize(std::uint64_t windows);
  Table end_resize();
  void cancel_resize() {
    index_->cancel_resize();
    next_table_ = {};
  }
  // Whether most of what it holds are deletions.
  bool is_full_of_tombstones() const {
    const std::uint64_t tombstones = index_->size() - keys_;
    return 2 * tombstones > index_->size() && 2 * tombstones > index_->geometry().windows;
  }
  // The entries from `from` on of deletions up to this sequence number, which are persistent, leave
  // the index: as after a recovery, nothing has to lead to them. Not while the log is cleaned.
  // Returns where to go on, 0 at the end.
  Tag forget_tombstones(Tag from, std::uint64_t most_entries, std::uint64_t up_to);

 private:
  Catalogue(const Host& host, Pool& pool, const ServerOptions& options);
  void make_index(std::uint64_t keys, std::uint16_t tag_bits);
  void take_log(std::unique_ptr<Log> log);
  void take_recovered(const Object& object, Tag tag);
  // What the log held, in its order.
  struct Recovered {
    Offset offset = 0;
    std::uint64_t sequence = 0;
  };
  // Leaves of what was found what counts, and makes that so on the medium.
  Status keep_what_counts(std::vector<Recovered>& found);
  std::uint64_t end_of_kept(const std::vector<Recovered>& found, std::uint64_t settled) const;
  Status keep_or_drop(const Object& object, bool counts);
  // What speaks for a version that recovery finds.
  enum class Standing : std::uint8_t {
    none,      // its value never came
    complete,  // its checksum
    known,     // its flag, or the mark of its segment: if its checksum fails, it is damaged
  };
  Standing standing(const Object& object) const;
  void end_recovery();
  bool is_unverified(IndexSlot slot, const Object& version) const {
    const Place place = slot.place(newest_of(slot));
    return version.sequence() <= recovered_ && !(place.offset == version.offset() && place.durable);
  }
  Found get_suspect(IndexSlot slot, const Object& version);
  // Of the newest version of an entry.
  bool is_unreadable(IndexSlot slot) const {
    return has_unreadable_ && unreadable_.contains(slot.place(newest_of(slot)).offset);
  }
  bool is_readable(const Object& object) const;
  void note_unreadable(IndexSlot slot);
  // Whether a look for the version that counts, from this one on, comes to one that is unreadable.
  bool ends_unreadable(Object version) const;
  // Whether the index may say so.
  bool is_surely_durable(const Object& object) const {
    return object.kind() == Kind::tombstone ||
           (object.durable() && object.sequence() > recovered_ &&
            !damaged_.contains(object.offset()));
  }
  Status persist_newest();
  Status drop_what_is_twice();

  IndexSlot find(Tag tag, ConstBytes key, const Host& by) const;
  // The same; or the entry with this tag whose newest version is unreadable, since no other key has
  // the tag. Requests ask so.
  IndexSlot find_or_unreadable(Tag tag, ConstBytes key, const Host& by);
  // The entry whose newest version lies there. No object is looked at for it: most lines of the log
  // are far from the caches.
  IndexSlot find_newest(Tag tag, Offset offset) const;
  // The place that leads to the newest version.
  static std::size_t newest_of(IndexSlot slot);
  void release(IndexSlot slot);
  // What the index leads to counts, or does not any more.
  void count(const Place& place);
  void discount(const Place& place);
  // Puts a tombstone over all versions of the key that this entry leads to.
  Result<Ticket> bury(Tag tag, IndexSlot slot, ConstBytes key, Reserve reserve);
  // What was just appended is a tombstone: its ticket.
  Ticket seal_tombstone() { return last_tombstone_ = log_->seal(); }
  // Whether so much more may live.
  bool may_live(std::uint64_t more_bytes) const;
  bool may_forget(const Object& newest) const;
  bool forget(IndexSlot slot);
  std::uint64_t expired_keys() const;
  void note_time(Tag tag, std::uint64_t expires, std::uint64_t sequence);
  void note_times();
  // The entry whose newest version this is.
  IndexSlot find_timed(const TimedVersion& version) const;
  // Whether it may be, or become, the version that counts.
  bool is_listed(const TimedVersion& version) const;
  TimeWheel::Outcome end_time(const TimedVersion& version, std::uint64_t& forgotten);
  template <typename Known>
  std::optional<Object> shown_of(const Object& newest, const Known& known) const;
  Object newest(IndexSlot slot) const;
  // The version before one that may never come; none at the end of the list. Nobody asks what was
  // before a version that is durable, or a tombstone, and it may be gone: there the list ends.
  std::optional<Object> before(const Object& object) const;
  // Whatever its link leads to.
  std::optional<Object> linked(const Object& object) const;
  bool complete(const Object& object, const Host& by) const;
  // Complete, as far as the cleaner is concerned.
  bool is_whole(const Object& object) const {
    return object.kind() == Kind::tombstone || object.durable() ||
           object.sequence() <= recovered_ || complete(object, background_);
  }
  bool is_given_up(const Object& version, const Host& by) const;
  // Whether a look for the newest version that counts ends here, and never follows its link.
  // One that was given up may be complete by now, and is passed all the same.
  bool ends_list(const Object& version) const {
    return version.durable() || version.kind() == Kind::tombstone ||
           (!is_given_up(version, background_) && complete(version, background_));
  }
  // Whether the index alone tells that it is stale: other versions are far from the caches.
  bool is_surely_stale(const Object& object, Tag tag) const;
  ConstBytes to_flush(const Object& object, const Host& by) const;
  // Makes a complete version persistent, and marks it if it is at once; else it is `flushed`.
  Ticket make_durable(const Object& object, const Host& by);
  // The same for a version that is flushed.
  Ticket drain_durable(const Object& object, const Host& by, const KnownEntry& entry = {});
  static Place place_of(const Object& object, bool durable);
  // Returns the entry.
  IndexSlot lead_to(Tag tag, IndexSlot slot, std::size_t which, const Place& place);
  // To the next data pool; flushed, and persistent when the ticket is.
  struct Copied {
    Object object;
    Ticket ticket;
  };
  Result<Copied> copy(const NewObject& what, ConstBytes value);
  // A version of a write of several keys, for which room was prepared; nothing leads to it yet.
  Place append_member(const Write& one, IndexSlot slot, bool more, DataPool pool);
  // The first of these versions that stays when those segments go.
  std::optional<Object> staying(std::optional<Object> version,
                                const std::vector<Segment>& gone) const;
  // The newest version in the next data pool that counts, of a key whose newer ones never came.
  std::optional<Object> survivor(IndexSlot slot, const std::vector<Segment>& next) const;
  std::size_t next_mark() const { return 1 - mark_; }
  // Which place leads to a copy: where all goes, gets find their way by either meanwhile.
  std::size_t copies_mark() const { return goes_ == Goes::whole ? next_mark() : mark_; }
  // The version of the list from `from` on that comes right before this one, if anybody gets there.
  std::optional<Object> newer_than(const Object& object, Object from) const;

  const Host host_;
  const Host background_;
  Pool& pool_;
  std::unique_ptr<Log> log_;
  std::optional<Living> living_;
  Table table_;
  Table next_table_;
  std::uint64_t least_windows_ = 0;
  std::unique_ptr<Index> index_;
  std::deque<Awaited> awaited_;
  std::deque<Flushed> flushed_;
  DataPool target_ = DataPool::current;
  Goes goes_ = Goes::whole;
  Ticket last_del_;        // of the newest deletion that a client asked for
  Ticket last_tombstone_;  // of the newest of all
  Ticket relied_on_;       // by the cleaner
  // Versions that were given up, and whose marks are not persistent yet.
  std::vector<Offset> pending_marks_;
  std::size_t mark_ = 0;         // which place of an entry is the current pool's
  std::size_t which_ = 0;        // which place new versions get
  std::uint64_t sequence_ = 0;   // of the newest version
  std::uint64_t recovered_ = 0;  // up to here links mean nothing: recovery did not check them
  std::uint64_t recovered_keys_ = 0;
  std::vector<Segment> recovered_segments_;
  std::vector<Offset> never_came_;  // what recovery found without their values
  std::set<Offset> damaged_;
  std::set<Offset> unreadable_;
  bool has_unreadable_ = false;  // the set is not empty; hot paths look at this alone
  std::uint64_t live_bytes_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t expiring_ = 0;
  TimeWheel times_;
};

}  // namespace remora::kv::efactory
