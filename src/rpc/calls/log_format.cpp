#include "rpc/calls/log_format.h"

#include "base/crc32c.h"
#include "base/random.h"

namespace remora::rpc::calls::log_format {

namespace {

// Place and head, without the reserved word: what every commit word covers.
struct Covered {
  std::uint64_t session;
  std::uint64_t epoch;
  std::uint64_t position;
  EntryHead head;
};
static_assert(std::has_unique_object_representations_v<Covered>);

Covered covered(const Place& place, const EntryHead& head) {
  return {place.session, place.epoch, place.position, head};
}

}  // namespace

std::uint64_t ordered_word(const Place& place, const EntryHead& head) {
  // Two checksums of the same bytes with different beginnings are no more than one; so words are
  // mixed in one after the other.
  std::uint64_t word = 0;
  const Covered all = covered(place, head);
  const ConstBytes bytes = object_bytes(all);
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes) {
    word = mix(word ^ load<std::uint64_t>(&bytes[at]));
  }
  return word == 0 ? 1 : word;
}

std::uint32_t tag_of(const Place& place, const EntryHead& head) {
  return static_cast<std::uint32_t>(ordered_word(place, head) >> 32) | 1u;
}

std::uint64_t checksum_word(const Place& place, const EntryHead& head, ConstBytes data) {
  const std::uint32_t crc = crc32c(data, crc32c(object_bytes(covered(place, head))));
  return std::uint64_t{tag_of(place, head)} << 32 | crc;
}

std::uint32_t checksum_of(const Identity& identity) {
  return crc32c(object_bytes(identity).first(offsetof(Identity, checksum)));
}

std::uint32_t checksum_of(const Mark& mark, std::uint64_t session) {
  return crc32c(object_bytes(mark).first(offsetof(Mark, checksum)), crc32c(object_bytes(session)));
}

}  // namespace remora::rpc::calls::log_format
