// Index: from a key's hash to the places of its object; a table that peers READ (index_format.h),
// written by the server's one thread with one atomic store for each word.
//
// Two keys may share a tag. So a lookup asks the caller, of every entry with the tag, whether it is
// the key's: `is_mine(const IndexSlot&) -> bool`, which compares the key in the object.
//
// A key that finds its window full goes to a spill window, where peers look for it too; one that
// finds that full as well, to memory of the server's own: peers miss it and ask. A list of all that
// overflowed tells the server which they are.
//
// The table grows, and gets smaller, in steps that the engine makes: begin_resize() with memory for
// another number of windows, resize() until it is finished, end_resize(). fitting_windows() says
// how many there should be. Meanwhile every change is made in both tables; peers go on with the old
// one, and are told of the new when it has replaced the old. The old memory is theirs until the
// engine knows that none of them reads it any more.
//
// Freed entries: clear() leaves the tag without places, and nobody takes the entry but a key with
// the same tag. release() makes it free for every key; a peer that READs it meanwhile may see words
// of two keys together, which is harmless to a reader who compares the key in the object. An engine
// whose readers do not (they trust the tag) releases only when no reader is inside.
//
// Lookups and changes do not allocate, but for keys that do not fit. Places and marks are stored
// before the tag, with release order.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "kv/index/index_format.h"
#include "kv/index/index_table.h"

namespace remora::kv {

class Index {
 public:
  // The memory has geometry.table_bytes(), is aligned to 64, all zero, and outlives the index.
  Index(const IndexGeometry& geometry, Bytes memory);

  const IndexGeometry& geometry() const { return table_.geometry(); }
  Bytes memory() const { return table_.memory(); }
  Tag tag(ConstBytes key) const { return geometry().tag(key); }

  // The entry of the key, or none.
  template <typename IsMine>
  IndexSlot find(Tag tag, const IsMine& is_mine) const {
    return table_.find(tag, is_mine);
  }
  // Brings the window of a tag on its way into the caches, before a look for it.
  void expect(Tag tag) const {
    const std::byte* const window = memory().data() + geometry().window_offset(tag);
    for (std::size_t line = 0; line < window_bytes; line += cache_line_bytes) {
      __builtin_prefetch(window + line, 1);
    }
  }
  // A new entry for a key that find() did not find, with this place in the current data pool.
  IndexSlot insert(Tag tag, std::size_t mark, std::uint64_t place);

  // Changes of an entry, each one word.
  void set_place(IndexSlot slot, std::size_t which, std::uint64_t place);
  void set_mark(IndexSlot slot, std::size_t mark);
  // No places; see above for the tag.
  void clear(IndexSlot slot);
  // Free for any key. Requires that it has no places. The slot is of no use any more.
  void release(IndexSlot slot);

  // Slots that were handed out while this was the same number are still good.
  std::uint64_t generation() const { return generation_; }

  // Entries with a tag, and those of them that found their window full.
  std::uint64_t size() const { return table_.size(); }
  std::uint64_t overflowed() const { return table_.overflowed(); }

  // --- Another size.
  bool crowded() const { return table_.crowded(); }
  // The windows that the table should have, at least so many: twice as many where it is crowded,
  // fewer where it is nearly empty, else those that it has. After a change as many keys again must
  // come, or half of them go, before there is another.
  std::uint64_t fitting_windows(std::uint64_t least) const { return table_.fitting_windows(least); }
  bool resizing() const { return next_.has_value(); }
  IndexGeometry resized(std::uint64_t windows) const {
    return {geometry().seed, windows, geometry().tag_bits};
  }
  IndexGeometry grown() const { return resized(geometry().windows * std::uint64_t{2}); }
  // Memory as for the constructor, by this geometry, which is one of resized().
  void begin_resize(const IndexGeometry& geometry, Bytes memory);
  // Carries up to so many windows over. True when all are.
  bool resize(std::uint64_t most_windows);
  // The new table replaces the old, whose memory is returned. Requires that resize() said true.
  // Slots that were handed out are of no use any more.
  Bytes end_resize();
  // Gives the change of size up: the table stays as it is, and the memory that it was to get is not
  // used any more.
  void cancel_resize() { next_.reset(); }
  // An empty table takes the place of all that there is, whose memory is returned. As at the end of
  // a change of size, which this gives up where one is under way.
  Bytes replace(const IndexGeometry& geometry, Bytes memory);

  // All entries with a place, from the tag `from` on, for at least one window and for about so many
  // entries: visit(const IndexSlot&). Returns the tag to go on from, or 0 at the end. The order is
  // that of windows and holds across changes of size: an entry that is there from the first call to
  // the last is visited. `visit` does not insert or release.
  template <typename Visit>
  Tag scan(Tag from, std::uint64_t most_entries, const Visit& visit) const {
    return table_.scan(from, most_entries, visit);
  }

 private:
  // Whether resize() has passed the entry.
  bool carried(IndexSlot slot) const;
  // Puts a copy of the entry into the table that is being filled.
  void carry(IndexSlot slot);

  IndexTable table_;
  std::optional<IndexTable> next_;
  std::uint64_t carried_windows_ = 0;
  bool all_carried_ = false;
  std::uint64_t generation_ = 0;
};

}  // namespace remora::kv
