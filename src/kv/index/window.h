// Window: a reader's copy of one window of the index, and the entries in it that may be a key's.
// The bytes come from a peer and prove nothing; places are checked against the pool's size.
#pragma once

#include <array>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "kv/index/index_format.h"

namespace remora::kv {

class Window {
 public:
  // Takes 256 bytes that are the reader's own; they are copied.
  explicit Window(ConstBytes bytes) {
    REMORA_CHECK(bytes.size() >= window_bytes, "a window has 256 bytes");
    std::memcpy(entries_.data(), bytes.data(), window_bytes);
  }

  struct Candidate {
    Place current;  // in the current data pool; offset 0: none, or not a possible place
    Place other;    // in the other data pool, the same
    bool doubtful;  // a word was not a possible one: ask the server
    std::size_t mark;

    // The place of that number, whatever the mark says.
    const Place& place(std::size_t which) const { return which == mark ? current : other; }
  };
  struct Candidates {
    std::array<Candidate, window_entries> list;
    std::size_t count = 0;
    const Candidate* begin() const { return list.data(); }
    const Candidate* end() const { return list.data() + count; }
  };

  // The entries with this tag: seldom more than one.
  Candidates find(Tag tag, std::uint64_t pool_bytes) const {
    Candidates found;
    for (const IndexEntry& entry : entries_) {
      if (entry.tag == tag && tag != 0) {
        found.list[found.count++] = candidate(entry, pool_bytes);
      }
    }
    return found;
  }

 private:
  static Candidate candidate(const IndexEntry& entry, std::uint64_t pool_bytes) {
    const std::size_t current = entry.mark & 1;
    Candidate found{decode(entry.place[current]), decode(entry.place[1 - current]), entry.mark > 1,
                    current};
    for (Place* place : {&found.current, &found.other}) {
      const bool none = *place == Place{};
      found.doubtful = found.doubtful || (!none && !lies_within(*place, pool_bytes));
      *place = none || lies_within(*place, pool_bytes) ? *place : Place{};
    }
    return found;
  }

  std::array<IndexEntry, window_entries> entries_;
};

}  // namespace remora::kv
