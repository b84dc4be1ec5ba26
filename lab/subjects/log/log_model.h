// What a log may hold after a power cut, and what it was found to hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "kv/log/log.h"
#include "lab/crash/subject.h"
#include "pmem/region.h"

namespace remora {

// A word of an object that changed in the course of time, and when each value became persistent.
template <typename T>
struct ChangingWord {
  struct Change {
    T value;
    std::optional<Ticket> ticket;  // none before the drain that covers it
  };
  std::vector<Change> changes;
};

// An object that was appended. Its number is its sequence number; no other object of any life has
// it, and all its bytes follow from it.
struct LoggedObject {
  std::uint64_t number = 0;
  kv::Kind kind = kv::Kind::value;
  Offset offset = 0;
  bool filled = false;             // the value was stored and flushed
  std::optional<Ticket> appended;  // covers header and key
  std::optional<Ticket> valued;    // covers the value
  ChangingWord<std::uint64_t> flags;
  ChangingWord<kv::Link> previous;
  ChangingWord<kv::Link> next;

  static LoggedObject fresh(std::uint64_t number, Random& random, kv::Link previous);
  std::string key() const;
  std::vector<std::byte> value() const;
  kv::NewObject as_new(const std::string& key, const std::vector<std::byte>& value) const;
};

// What must hold of one object after a cut.
struct ExpectedObject {
  std::uint64_t number = 0;
  kv::Kind kind = kv::Kind::value;
  bool must_be_there = false;
  bool must_be_whole = false;  // the value too
  std::vector<std::uint64_t> flags;
  std::vector<kv::Link> previous;
  std::vector<kv::Link> next;
};

// The objects of a data pool, which is there or not as a whole.
struct ExpectedPool {
  bool may_be_gone = false;
  std::vector<ExpectedObject> objects;
};

struct ExpectedLog {
  bool may_be_absent = false;  // the store's creation was not acknowledged
  std::vector<ExpectedPool> pools;
};

// An object that recovery found.
struct FoundObject {
  std::uint64_t number = 0;
  Offset offset = 0;
  kv::Kind kind = kv::Kind::value;
  std::string key;
  std::vector<std::byte> value;
  bool intact = false;
  std::uint64_t flags = 0;
  kv::Link previous;
  kv::Link next;

  static FoundObject of(const kv::Object& object);
  // As a life that begins with it knows it: all of it is persistent.
  LoggedObject as_logged() const;
};

// What of `found` contradicts what was expected, or nothing.
std::optional<Broken> contradiction(const ExpectedLog& expected,
                                    const std::vector<FoundObject>& found);

}  // namespace remora
