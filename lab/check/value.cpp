#include "lab/check/value.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "base/random.h"

namespace remora {
namespace {

constexpr std::uint64_t key_mark = 0x5e7a;
constexpr std::uint64_t key_mark_mask = 0xffff;
constexpr std::size_t most_pieces_in_a_note = 6;

// The number that undoes a multiplication by an odd `factor`, by Newton's method.
constexpr std::uint64_t inverse_of(std::uint64_t factor) {
  std::uint64_t inverse = factor;
  for (int round = 0; round < 6; ++round) {
    inverse *= 2 - factor * inverse;
  }
  return inverse;
}

// Undoes mix.
constexpr std::uint64_t unmix(std::uint64_t value) {
  value = (value ^ (value >> 31) ^ (value >> 62)) * inverse_of(0x94d049bb133111eb);
  value = (value ^ (value >> 27) ^ (value >> 54)) * inverse_of(0xbf58476d1ce4e5b9);
  value = value ^ (value >> 30) ^ (value >> 60);
  return value - 0x9e3779b97f4a7c15;
}
static_assert(unmix(mix(42)) == 42 && unmix(mix(~std::uint64_t{0})) == ~std::uint64_t{0});

// What the id is mixed with in word `place`. The third word vouches for the size.
std::uint64_t mask_of(std::uint64_t hash, std::size_t place, std::size_t size_bytes) {
  return mix(hash + place) ^ (place == 2 ? mix(size_bytes) : 0);
}

std::uint64_t word_of(std::uint64_t hash, std::uint64_t id, std::size_t place,
                      std::size_t size_bytes) {
  return place == 1 ? hash : mix(id ^ mask_of(hash, place, size_bytes));
}

std::uint64_t id_in(std::uint64_t word, std::uint64_t hash, std::size_t place,
                    std::size_t size_bytes) {
  return unmix(word) ^ mask_of(hash, place, size_bytes);
}

// A run of words that come from one put.
struct Piece {
  std::size_t begin;
  std::size_t end;
  std::uint64_t id;
  bool zero;
};

std::vector<Piece> pieces_of(ConstBytes bytes, std::uint64_t hash) {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at + word_bytes <= bytes.size(); at += word_bytes) {
    const std::size_t place = at / word_bytes;
    const auto word = load<std::uint64_t>(bytes.data() + at);
    if (place == 1) {
      pieces.back().end += word_bytes;
      continue;
    }
    const bool zero = word == 0;
    const std::uint64_t id = zero ? 0 : id_in(word, hash, place, bytes.size());
    if (!pieces.empty() && pieces.back().id == id && pieces.back().zero == zero) {
      pieces.back().end = at + word_bytes;
    } else {
      pieces.push_back({at, at + word_bytes, id, zero});
    }
  }
  return pieces;
}

std::string describe_pieces(const std::vector<Piece>& pieces) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size() && i < most_pieces_in_a_note; ++i) {
    const Piece& piece = pieces[i];
    text += fmt::format("{}bytes {}..{} {}", i == 0 ? "" : ", ", piece.begin, piece.end,
                        piece.zero ? "are zero" : fmt::format("of value {}", piece.id));
  }
  if (pieces.size() > most_pieces_in_a_note) {
    text += fmt::format(", and {} more pieces", pieces.size() - most_pieces_in_a_note);
  }
  return text;
}

bool tail_belongs(ConstBytes bytes, std::uint64_t hash, std::uint64_t id) {
  const std::size_t tail = round_down(bytes.size(), word_bytes);
  const std::uint64_t word = word_of(hash, id, tail / word_bytes, bytes.size());
  return std::memcmp(bytes.data() + tail, &word, bytes.size() - tail) == 0;
}

}  // namespace

std::uint64_t key_hash(std::string_view key) {
  const std::uint64_t hash = hash64(as_bytes(key));
  return (hash & ~key_mark_mask) | key_mark;
}

std::vector<std::byte> value_for(std::string_view key, std::uint64_t id, std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  fill_value(key, id, bytes);
  return bytes;
}

void fill_value(std::string_view key, std::uint64_t id, Bytes into) {
  REMORA_CHECK(into.size() >= smallest_value_bytes, "too small to say who wrote it");
  const std::uint64_t hash = key_hash(key);
  const std::size_t tail = round_down(into.size(), word_bytes);
  for (std::size_t at = 0; at < tail; at += word_bytes) {
    store(into.data() + at, word_of(hash, id, at / word_bytes, into.size()));
  }
  const std::uint64_t word = word_of(hash, id, tail / word_bytes, into.size());
  std::memcpy(into.data() + tail, &word, into.size() - tail);
}

Value describe_value(std::string_view key, std::uint64_t id, std::size_t size_bytes) {
  return {id, size_bytes, crc32c(value_for(key, id, size_bytes))};
}

Identity identify(ConstBytes bytes) {
  Identity identity;
  identity.value = {0, bytes.size(), crc32c(bytes)};
  if (bytes.size() < 2 * word_bytes) {
    identity.note = fmt::format("{} bytes are too few to be a value", bytes.size());
    return identity;
  }
  const auto hash = load<std::uint64_t>(bytes.data() + word_bytes);
  if ((hash & key_mark_mask) != key_mark) {
    identity.note = fmt::format("{} bytes that are not a value: no key is named", bytes.size());
    return identity;
  }
  identity.hash_of_key = hash;
  const std::vector<Piece> pieces = pieces_of(bytes, hash);
  identity.value.id = pieces.front().id;
  if (bytes.size() < smallest_value_bytes) {
    identity.wholeness = Wholeness::torn;
    identity.note = fmt::format("only the first {} bytes of a value", bytes.size());
  } else if (pieces.size() > 1) {
    identity.wholeness = Wholeness::torn;
    identity.note = describe_pieces(pieces);
  } else if (!tail_belongs(bytes, hash, identity.value.id)) {
    identity.wholeness = Wholeness::torn;
    identity.note = fmt::format("{}, then a tail of something else", describe_pieces(pieces));
  } else {
    identity.wholeness = Wholeness::whole;
  }
  return identity;
}

}  // namespace remora
