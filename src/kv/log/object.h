// Object: a view of one object in the log, in place. It owns nothing, and is good for as long as
// its segment is. Words that may change are loaded atomically; all else never changes.
//
// ReadObject: the same of bytes that were READ from a peer, which prove nothing: everything is
// checked against the number of bytes that came.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/racy_copy.h"
#include "kv/log/object_format.h"

namespace remora::kv {

class Object {
 public:
  Object(std::byte* at, Offset offset) : at_(at), offset_(offset) {}

  Offset offset() const { return offset_; }
  Kind kind() const { return object_format::kind_of(header()); }
  // Whether the version with the next sequence number belongs to the same write.
  bool more() const { return object_format::more_of(header()); }
  std::uint64_t sequence() const { return header().sequence; }
  SegmentNumber segment() const { return header().segment; }
  std::uint32_t checksum() const { return header().checksum; }
  // Milliseconds since 1970; 0: never.
  std::uint64_t expires() const { return header().expires; }
  std::uint64_t size_bytes() const {
    return object_format::size_bytes(header().key_bytes, header().value_bytes);
  }
  // Header, key, value and what follows up to the next object.
  ConstBytes bytes() const { return {at_, size_bytes()}; }
  ConstBytes header_bytes() const { return {at_, sizeof(object_format::Header)}; }
  ConstBytes key() const { return {at_ + sizeof(object_format::Header), header().key_bytes}; }
  Bytes value() const {
    return {at_ + object_format::value_begin(header().key_bytes), header().value_bytes};
  }

  bool durable() const { return (flags() & object_format::durable_flag) != 0; }
  bool invalid() const { return (flags() & object_format::invalid_flag) != 0; }
  Link previous() const {
    return object_format::link_of(word(offsetof(object_format::Header, previous)), segment());
  }
  Link next() const {
    return object_format::link_of(word(offsetof(object_format::Header, next)), segment());
  }

  // Whether lengths, key, value, sequence and expiry are what the checksum says. Costs a pass over
  // the value; callers charge for it.
  bool intact() const {
    return checksum() == object_format::object_checksum(
                             sequence(), object_format::client_checksum(key(), value()), expires());
  }
  // The same on another thread than the one that the value is written by.
  bool intact_beside_writer() const {
#if defined(__SANITIZE_THREAD__)
    std::vector<std::byte> copy(value().size());
    racy_copy(copy, value());
    const ConstBytes bytes = copy;
#else
    const ConstBytes bytes = value();
#endif
    return checksum() == object_format::object_checksum(
                             sequence(), object_format::client_checksum(key(), bytes), expires());
  }

 private:
  friend class Log;

  const object_format::Header& header() const {
    return *reinterpret_cast<const object_format::Header*>(at_);
  }
  std::uint64_t& word_at(std::size_t place) const {
    return *reinterpret_cast<std::uint64_t*>(at_ + place);
  }
  std::uint64_t word(std::size_t place) const {
    return std::atomic_ref(word_at(place)).load(std::memory_order_acquire);
  }
  std::uint64_t flags() const {
    return object_format::flags_of(word(offsetof(object_format::Header, state)), segment());
  }

  std::byte* at_;
  Offset offset_;
};

struct ReadObject {
  Kind kind = Kind::value;
  std::uint64_t sequence = 0;
  std::uint32_t checksum = 0;
  bool durable = false;
  bool invalid = false;
  std::uint64_t expires = 0;
  ConstBytes key;
  ConstBytes value;

  // The object at the start of `bytes`, which are the caller's own copy; nothing when they cannot
  // be one.
  static std::optional<ReadObject> parse(ConstBytes bytes) {
    object_format::Header header;
    if (bytes.size() < sizeof header) {
      return std::nullopt;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (!object_format::plausible(header, bytes.size())) {
      return std::nullopt;
    }
    const std::uint64_t flags = object_format::flags_of(header.state, header.segment);
    return ReadObject{
        object_format::kind_of(header),
        header.sequence,
        header.checksum,
        (flags & object_format::durable_flag) != 0,
        (flags & object_format::invalid_flag) != 0,
        header.expires,
        bytes.subspan(sizeof header, header.key_bytes),
        bytes.subspan(object_format::value_begin(header.key_bytes), header.value_bytes)};
  }

  bool intact() const {
    return checksum == object_format::object_checksum(
                           sequence, object_format::client_checksum(key, value), expires);
  }
};

}  // namespace remora::kv
