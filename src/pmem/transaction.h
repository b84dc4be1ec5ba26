// Transaction: what is to change together. A plain value with no allocation; Pool::commit performs
// it. Bounded by what one log record holds: adding more fails with no_space and changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"
#include "pmem/pool_format.h"

namespace remora {

class Transaction {
 public:
  inline static constexpr std::size_t most_objects = 16;
  inline static constexpr std::size_t most_words = 32;
  inline static constexpr std::size_t most_roots = 4;
  inline static constexpr std::size_t longest_root_name = 48;

  // Makes a reserved object live. Its first `content_bytes` are made persistent before, or with,
  // the change; 0 when they are persistent already. They may change later.
  Status publish(Offset offset, std::uint64_t content_bytes);

  // The same for content that never changes while the object lives: a record whose seal does not
  // hold does not count, nor do those after it. Costs a checksum and saves the wait between object
  // and record.
  Status publish_sealed(Offset offset, std::uint64_t content_bytes);

  // Frees a live object. Nothing may lead to it any more once the transaction is performed.
  Status free(Offset offset);

  // Sets an aligned word of a live object, or of one that this transaction publishes; not of one
  // that it frees, and not in sealed content, which never changes.
  Status set(Offset word, std::uint64_t value);

  // Leads a root to an object that is live or published here; 0 removes the root. Names have 1 to
  // 48 bytes, none of them zero. A root of a service (owner_of_root) leads to objects of it alone.
  Status set_root(std::string_view name, Offset offset);

  struct Object {
    Offset offset;
    std::uint64_t content_bytes;
    bool sealed;
  };
  struct RootChange {
    std::array<char, longest_root_name> name;
    Offset offset;

    std::string_view text() const { return {name.data(), strnlen(name.data(), name.size())}; }
  };

  std::span<const Object> published() const { return {published_.data(), published_count_}; }
  std::span<const Offset> freed() const { return {freed_.data(), freed_count_}; }
  std::span<const pool_format::Write> words() const { return {words_.data(), word_count_}; }
  std::span<const RootChange> roots() const { return {roots_.data(), root_count_}; }

 private:
  Status add_object(Object object);
  Status charge(std::size_t entries);
  // The same for what changes entries of the block table, or roots: the pool's total changes with
  // the first of them.
  Status charge_structure(std::size_t entries);

  std::array<Object, most_objects> published_;
  std::array<Offset, most_objects> freed_;
  std::array<pool_format::Write, most_words> words_;
  std::array<RootChange, most_roots> roots_;
  std::size_t published_count_ = 0;
  std::size_t freed_count_ = 0;
  std::size_t word_count_ = 0;
  std::size_t root_count_ = 0;
  std::size_t entries_ = 0;  // of the log record, at worst
  bool total_charged_ = false;
};

}  // namespace remora
