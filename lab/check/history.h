// History: what clients asked of a store and what they were told, and when the power was cut.
//
// The order in which events are recorded is the order in which they happened; it decides which
// operation came before which, even between events of the same nanosecond. Times are for people,
// and may not run backwards. Whoever records from several threads merges the events by time first.
//
// The state that recovery left is recorded as gets, by some observing client, after the cut.
//
// Owner: the test. One thread at a time. Nothing blocks; a call that breaks the contract aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/check/value.h"

namespace remora {

// A place in the order of events.
using Position = std::uint64_t;
inline constexpr Position never = std::numeric_limits<Position>::max();

// Index into History::operations().
using OperationIndex = std::size_t;

using ClientId = std::uint32_t;

enum class OperationKind : std::uint8_t { put, del, get };

enum class Outcome : std::uint8_t {
  pending,     // no response was seen
  refused,     // told that it did not happen, and it never will
  unknown,     // given up: it happened before the response, or never
  visible,     // a put or del, acknowledged: later gets see it, a cut may lose it
  persistent,  // a put or del, acknowledged: it survives every cut
  value,       // a get that returned bytes
  not_found,   // a get that returned that there is no such key
};

struct Operation {
  ClientId client = 0;
  OperationKind kind = OperationKind::get;
  Outcome outcome = Outcome::pending;
  std::string key;
  Value written;            // by a put
  Identity read;            // by a get whose outcome is value
  std::uint32_t epoch = 0;  // how many cuts came before it was invoked
  Position invoked = 0;
  Position responded = never;
  Position persisted = never;  // when its persistence was acknowledged
  Position closed = never;     // it takes no effect after this: response, or whole-world cut
  std::uint64_t invoke_ns = 0;
  std::uint64_t response_ns = 0;  // means nothing before a response

  bool is_write() const { return kind != OperationKind::get; }
  // A write that must have taken effect.
  bool acknowledged() const {
    return outcome == Outcome::visible || outcome == Outcome::persistent;
  }
  // Whether it may have taken effect at all.
  bool may_have_happened() const { return outcome != Outcome::refused; }
};

// All keys, as one client listed them.
struct Scan {
  ClientId client = 0;
  std::vector<std::string> keys;
  Position invoked = 0;
  Position responded = never;  // none, and its keys say nothing
  std::uint64_t invoke_ns = 0;
  std::uint64_t response_ns = 0;
};

// Several keys that one client wrote at once.
struct Together {
  // What a condition said of a key, and what held if the write was acknowledged.
  struct Condition {
    std::string key;
    std::uint64_t id = 0;  // of the value; 0: that there is no such key
  };
  std::vector<OperationIndex> writes;  // at least one; of different keys
  std::vector<Condition> conditions;
};

enum class CutScope : std::uint8_t {
  server_only,  // clients live on: what they have pending may still take effect, or be repeated
  whole_world,  // clients die too: what they have pending took effect before the cut, or never
};

struct Cut {
  CutScope scope = CutScope::whole_world;
  Position at = 0;
  std::uint64_t time_ns = 0;
};

class History {
 public:
  // A client asks. The id of a put's value must not be 0, nor that of another put of the key.
  OperationIndex invoke_put(ClientId client, std::string_view key, const Value& value,
                            std::uint64_t time_ns);
  OperationIndex invoke_del(ClientId client, std::string_view key, std::uint64_t time_ns);
  OperationIndex invoke_get(ClientId client, std::string_view key, std::uint64_t time_ns);

  // A client is told. Each operation has one response at most, and none after a whole-world cut.
  // Give up (unknown) only when nothing of the operation is under way any more; until then leave it
  // pending. `outcome` is visible or persistent here, and refused or unknown in respond_failed.
  void respond_write(OperationIndex operation, Outcome outcome, std::uint64_t time_ns);
  void respond_value(OperationIndex operation, const Identity& read, std::uint64_t time_ns);
  void respond_not_found(OperationIndex operation, std::uint64_t time_ns);
  void respond_failed(OperationIndex operation, Outcome outcome, std::uint64_t time_ns);

  // A write that was acknowledged as visible is now acknowledged as persistent too.
  void persisted(OperationIndex operation, std::uint64_t time_ns);

  // A scan from the first key to the last, and what it listed.
  std::size_t invoke_scan(ClientId client, std::uint64_t time_ns);
  void respond_scan(std::size_t scan, std::vector<std::string> keys, std::uint64_t time_ns);

  // These writes, whose operations were invoked just now, are one. They are answered alike.
  void join(std::vector<OperationIndex> writes, std::vector<Together::Condition> conditions);

  void cut(CutScope scope, std::uint64_t time_ns);

  const std::vector<Operation>& operations() const { return operations_; }
  const Operation& operator[](OperationIndex index) const { return operations_[index]; }
  const std::vector<Cut>& cuts() const { return cuts_; }
  const std::vector<Scan>& scans() const { return scans_; }
  const std::vector<Together>& together() const { return together_; }

  // How many cuts came before this place.
  std::uint32_t epoch_at(Position position) const;

  // The operations of each key, in the order of their invocation.
  std::map<std::string, std::vector<OperationIndex>> by_key() const;

  // The same history as an observer sees it for whom every acknowledgement means persistent.
  History with_every_acknowledgement_persistent() const;

 private:
  Position next(std::uint64_t time_ns);
  OperationIndex invoke(ClientId client, OperationKind kind, std::string_view key,
                        const Value& value, std::uint64_t time_ns);
  Operation& respond(OperationIndex operation, Outcome outcome, std::uint64_t time_ns);

  std::vector<Operation> operations_;
  std::vector<Cut> cuts_;
  std::vector<Scan> scans_;
  std::vector<Together> together_;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> ids_;  // sorted, for each key
  Position position_ = 0;
  std::uint64_t time_ns_ = 0;
};

// For people: "put #3 by client 1 of value 7 (64 bytes), 120..180 ns, acknowledged as persistent".
std::string describe(const History& history, OperationIndex index);

}  // namespace remora
