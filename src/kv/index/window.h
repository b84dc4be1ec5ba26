// Window: a reader's copy of one window of the index, and the entries in it that may be a key's.
// The bytes come from a peer and prove nothing; places are checked against the pool's size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "kv/index/index_format.h"

namespace remora::kv {

class Window {
 public:
  // Of nothing that could be asked for yet: copy() comes first.
  Window() {}  // NOLINT(modernize-use-equals-default): a default one would be cleared in flows
  explicit Window(ConstBytes bytes) { copy(bytes); }
  // Takes 256 bytes that are the reader's own.
  void copy(ConstBytes bytes) {
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
  // The entries with a tag, each decoded when it is come to. Good while the window is.
  class Candidates {
   public:
    class Iterator {
     public:
      Iterator(const Candidates& all, unsigned left) : all_(all), left_(left) {}
      Candidate operator*() const {
        const auto number = static_cast<std::size_t>(std::countr_zero(left_));
        return candidate(all_.window_.entries_[number], all_.pool_bytes_);
      }
      Iterator& operator++() {
        left_ &= left_ - 1;
        return *this;
      }
      bool operator!=(const Iterator& other) const { return left_ != other.left_; }

     private:
      const Candidates& all_;
      unsigned left_;
    };

    Iterator begin() const { return {*this, entries_}; }
    Iterator end() const { return {*this, 0}; }
    bool empty() const { return entries_ == 0; }
    std::size_t count() const { return static_cast<std::size_t>(std::popcount(entries_)); }

   private:
    friend class Window;
    Candidates(const Window& window, unsigned entries, std::uint64_t pool_bytes)
        : window_(window), entries_(entries), pool_bytes_(pool_bytes) {}

    const Window& window_;
    unsigned entries_;  // a bit for each entry
    std::uint64_t pool_bytes_;
  };

  // Whether keys of this window may be in its spill window.
  bool full() const {
    return std::ranges::all_of(entries_, [](const IndexEntry& entry) { return entry.tag != 0; });
  }
  // The entries with this tag, seldom more than one: a bit for each.
  unsigned entries_with(Tag tag) const {
    unsigned found = 0;
    for (std::size_t i = 0; i < window_entries; ++i) {
      found |= (entries_[i].tag == tag ? 1u : 0u) << i;
    }
    return tag != 0 ? found : 0;
  }
  Candidates candidates(unsigned entries, std::uint64_t pool_bytes) const& {
    return {*this, entries, pool_bytes};
  }
  Candidates candidates(unsigned, std::uint64_t) const&& = delete;
  Candidates find(Tag tag, std::uint64_t pool_bytes) const& {
    return candidates(entries_with(tag), pool_bytes);
  }
  Candidates find(Tag, std::uint64_t) const&& = delete;

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
