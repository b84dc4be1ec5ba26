// Account: what a store may hold after a power cut, from what its clients were told before it.
//
// Every key belongs to one flow, which works on it alone, one step after the other. So after a cut
// a key has what one of its steps left: the last one that was settled, or one after it. A step is
// settled when it was acknowledged as persistent, or when a get has returned what it left. Before
// the cut the same is asked of what was acknowledged as visible.
//
// An account is the sum of its events, one line of text each, so that it outlives whoever keeps it:
// the journal is written outside of the machine whose power is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remora::vm {

struct Event {
  enum class Kind : char {
    life = 'l',        // a life's load begins; the version is its number
    put = 'p',         // begun: it may or may not happen
    del = 'd',         // begun
    visible = 'v',     // the key's last step was acknowledged
    persistent = 'a',  // the same, as persistent
    returned = 'g',    // by a get; version 0: there is none
    found = 'f',       // after a cut; version 0: there is none
  };
  Kind kind = Kind::life;
  std::uint32_t key = 0;
  std::uint64_t version = 0;

  bool operator==(const Event&) const = default;
};

std::string line_of(const Event& event);
// Fails with `damaged` for what is no line of a journal.
Result<Event> event_in(std::string_view line);

class Account {
 public:
  explicit Account(std::uint32_t keys) : keys_(keys) {}

  // Every line of a journal. A last one with no end was never written in full, and does not count.
  Status read(std::istream& journal);
  // Fails with `damaged`, and what was lost, where `returned` or `found` break what is asked.
  Status add(const Event& event);

  std::uint32_t keys() const { return static_cast<std::uint32_t>(keys_.size()); }
  // The version for the key's next put.
  std::uint64_t next_version(std::uint32_t key) const { return keys_[key].versions + 1; }
  std::uint64_t lives() const { return lives_; }
  // Steps that were acknowledged as persistent, so far.
  std::uint64_t persistent() const { return persistent_; }

 private:
  struct Key {
    std::vector<std::uint64_t> steps = {0};  // the version that each left; 0: none
    std::size_t settled = 0;                 // the last step that every later cut must keep
    std::size_t visible = 0;                 // the last one that every get must see until a cut
    std::uint64_t versions = 0;              // given out so far
  };

  std::vector<Key> keys_;
  std::uint64_t lives_ = 0;
  std::uint64_t persistent_ = 0;
};

}  // namespace remora::vm
