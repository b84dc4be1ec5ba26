// The redo log of one session, as it lies in the pool. docs/formats/calls.md is its document; this
// header and that text say the same. Little-endian; positions count from the begin of an epoch.
//
//   identity | mark | mark | ring
//
// Of these the server stores the first three, and the session's holder, through its queue pair, the
// ring: no cache line is stored by both. The ring holds the calls of an epoch, one entry behind the
// other; one that does not fit before the end of the ring lies at its begin.
//
// An entry counts when its commit word is the one that follows from all that it stands for:
//   checksum   the word is the last of the entry, and has a CRC-32C over place, head and data; so
//   one
//              WRITE carries it all, in whatever order its words reach the medium
//   ordered    the word is the first of the entry, and is stored when the rest is persistent
// The place is session, epoch and position, so that no older bytes of the ring count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/bytes.h"

namespace remora::rpc::calls {

using Sequence = std::uint64_t;  // of a session's calls: 1, 2, ...

// How an entry becomes one that counts.
enum class Form : std::uint32_t { checksum = 1, ordered = 2 };

namespace log_format {

inline constexpr std::array<char, 8> magic = {'R', 'E', 'M', 'O', 'R', 'A', 'C', 'L'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t longest_name = 32;

// Written before the log is there; never changes.
struct Identity {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t window;   // so many results may wait for the caller, and so many calls be under way
  std::uint64_t session;  // a random number that no other log has
  std::uint64_t ring_bytes;
  std::uint64_t secret;                   // a hash of it
  std::array<char, longest_name> name;    // padded with zeros
  std::array<std::uint64_t, 6> reserved;  // zero
  std::uint32_t reserved_tail;            // zero
  std::uint32_t checksum;                 // crc32c of the bytes before it
};
static_assert(sizeof(Identity) == 128 && std::has_unique_object_representations_v<Identity>);
static_assert(offsetof(Identity, checksum) == 124);

// Where the log begins. The two are written in turn; the one with the higher number counts.
struct Mark {
  std::uint64_t number;
  std::uint64_t epoch;
  std::uint64_t head;           // the position of the oldest entry that is not freed
  Sequence sequence;            // which that has, or will have
  Sequence acknowledged;        // the caller has all results up to this one
  std::uint64_t holder;         // which life of the caller has the session
  Form form;                    // of the entries of this epoch
  std::uint32_t reserved;       // zero
  std::uint32_t reserved_tail;  // zero
  std::uint32_t checksum;       // crc32c of session and the bytes before it
};
static_assert(sizeof(Mark) == cache_line_bytes && std::has_unique_object_representations_v<Mark>);

// How an entry begins; in the ordered form, behind the line of its commit word.
struct EntryHead {
  Sequence sequence;
  Sequence acknowledged;  // the caller has all results up to this one
  std::uint32_t method;
  std::uint32_t data_bytes;
  std::uint64_t reserved;  // zero
};
static_assert(sizeof(EntryHead) == 32 && std::has_unique_object_representations_v<EntryHead>);

inline constexpr std::uint64_t marks_offset = sizeof(Identity);
inline constexpr std::uint64_t ring_offset = marks_offset + 2 * sizeof(Mark);
inline constexpr std::uint64_t smallest_ring_bytes = 4096;
inline constexpr std::uint64_t largest_ring_bytes = std::uint64_t{32} << 20;
inline constexpr std::uint32_t largest_window = 4096;

constexpr std::uint64_t log_bytes(std::uint64_t ring_bytes) {
  return ring_offset + ring_bytes;
}
// Whether a ring can have this size.
constexpr bool is_ring_size(std::uint64_t bytes) {
  return bytes >= smallest_ring_bytes && bytes <= largest_ring_bytes &&
         bytes % (4 * cache_line_bytes) == 0;
}

// What an entry is, beyond what its head says.
struct Place {
  std::uint64_t session = 0;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
};

// Where the parts of an entry lie, from its begin.
constexpr std::uint64_t head_at(Form form) {
  return form == Form::ordered ? cache_line_bytes : 0;
}
constexpr std::uint64_t data_at(Form form) {
  return head_at(form) + sizeof(EntryHead);
}
constexpr std::uint64_t word_at(Form form, std::uint64_t data_bytes) {
  return form == Form::ordered ? 0
                               : round_up<std::uint64_t>(data_at(form) + data_bytes, word_bytes);
}
// The bytes that mean something, and the whole lines that the entry takes.
constexpr std::uint64_t end_of(Form form, std::uint64_t data_bytes) {
  return form == Form::ordered ? data_at(form) + data_bytes
                               : word_at(form, data_bytes) + word_bytes;
}
constexpr std::uint64_t footprint(Form form, std::uint64_t data_bytes) {
  return round_up<std::uint64_t>(end_of(form, data_bytes), cache_line_bytes);
}
// An entry takes at most a quarter of the ring, so that one always fits when those before are
// freed, wherever they end.
constexpr std::uint64_t largest_data(Form form, std::uint64_t ring_bytes) {
  return ring_bytes / 4 - data_at(form) - word_bytes - word_bytes;
}
// Where an entry of that size lies which follows one that ends at `position`.
constexpr std::uint64_t place_after(std::uint64_t position, std::uint64_t size_bytes,
                                    std::uint64_t ring_bytes) {
  return position % ring_bytes + size_bytes <= ring_bytes ? position
                                                          : round_up(position, ring_bytes);
}

// The commit words. `data` is not a part of the word of the ordered form.
std::uint64_t ordered_word(const Place& place, const EntryHead& head);
std::uint64_t checksum_word(const Place& place, const EntryHead& head, ConstBytes data);
// The half of a checksum word that is known without the data.
std::uint32_t tag_of(const Place& place, const EntryHead& head);

std::uint32_t checksum_of(const Identity& identity);
std::uint32_t checksum_of(const Mark& mark, std::uint64_t session);

}  // namespace log_format

}  // namespace remora::rpc::calls
