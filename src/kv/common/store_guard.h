// StoreGuard: what one client of a store may do by itself to the pool that the store lies in.
//
//   READ          the segments of the log, and what the engine adds (a table of its own)
//   WRITE, words  the values that this client was granted, from the reply that names the place
//   FLUSH         the same, and those that it was granted a moment ago: it changes nothing
//
// All else in the pool (header, roots, redo log, block table, the superblock, headers and keys of
// objects, values of others) is out of reach.
//
// CLOSED GRANTS. A value that was found whole stands still: readers trust it. Yet the space may
// have held the very bytes before, so that the value is whole before its client has written it; and
// that client is no intruder. So a WRITE to a closed grant is allowed if it changes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/guard.h"
#include "kv/common/grants.h"
#include "kv/log/log.h"

namespace remora::kv {

// Where segments of a log lie, live ones and dead ones: looked up often, and changed seldom.
class ReadableSpace {
 public:
  explicit ReadableSpace(const Log& log) : log_(log) {}

  // More bytes that may be READ, for good.
  void add(Offset begin, std::uint64_t size_bytes);
  bool holds(Offset begin, std::uint64_t size_bytes) {
    if (changes_ != log_.extent_changes()) [[unlikely]] {
      look_again();
    }
    const Extent* first = extents_.data();
    std::size_t count = extents_.size();
    while (count > 1) {  // the last extent that begins there or before; no branch to mispredict
      const std::size_t half = count / 2;
      first = first[half].begin <= begin ? first + half : first;
      count -= half;
    }
    return count != 0 && within(begin - first->begin, size_bytes, first->size_bytes);
  }

 private:
  struct Extent {
    Offset begin = 0;
    std::uint64_t size_bytes = 0;

    bool operator==(const Extent&) const = default;
  };
  void look_again();
  void join_overlapping();

  const Log& log_;
  std::uint64_t changes_ = ~std::uint64_t{0};
  std::vector<Extent> others_;
  std::vector<Extent> extents_;  // ascending
};

class StoreGuard final : public fabric::Guard {
 public:
  // When a grant closes.
  enum class Closing : std::uint8_t {
    when_durable,  // the object's flag says so
    when_told,     // by close()
  };

  // The guarded region begins `begin` bytes into the pool.
  StoreGuard(const Log& log, ReadableSpace& readable, Offset begin, Closing closing)
      : log_(log), readable_(readable), begin_(begin), closing_(closing) {}

  bool allows(const fabric::RemoteAccess& access) override;

  // The reply that follows names the value of this object.
  void open(const Object& object);
  // The same of an object that was appended a moment ago: its header is not read, since a load of
  // lines that were just flushed waits until they have reached the medium.
  void open(const Placed& placed, std::size_t key_bytes) {
    open(placed.segment, placed.offset, key_bytes, placed.value.size());
  }
  // The value of this object stands still from here on.
  void close(Offset object) {
    if (Grant* grant = grants_.find_object(object)) {
      grant->closed = true;
    }
  }
  // Whether the object was granted to this client, and is remembered.
  bool has(Offset object) { return grants_.find_object(object) != nullptr; }

  Grants& grants() { return grants_; }

 private:
  void open(SegmentNumber segment, Offset object, std::size_t key_bytes, std::size_t value_bytes);
  bool is_closed(const Grant& grant) const;
  bool may_store(const fabric::RemoteAccess& access, Offset offset);

  const Log& log_;
  ReadableSpace& readable_;
  const Offset begin_;
  const Closing closing_;
  Grants grants_;
};

}  // namespace remora::kv
