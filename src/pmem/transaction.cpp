#include "pmem/transaction.h"

#include <algorithm>
#include <string>

#include "pmem/allocator.h"
#include "pmem/size_classes.h"

namespace remora {
namespace {

constexpr std::size_t words_per_root = sizeof(pool_format::Root) / word_bytes;

}  // namespace

// Reserves room for `entries` in the record.
Status Transaction::charge(std::size_t entries) {
  if (entries_ + entries > pool_format::record_entries) {
    return Status(Code::no_space, "the transaction is too large for one log record; split it");
  }
  entries_ += entries;
  return Status();
}

Status Transaction::charge_structure(std::size_t entries) {
  REMORA_TRY(charge(entries + (total_charged_ ? 0 : 1)));
  total_charged_ = true;
  return Status();
}

Status Transaction::add_object(Object object) {
  if (object.content_bytes > largest_object_bytes) {
    return Status(Code::invalid_argument, "an object has at most " +
                                              std::to_string(largest_object_bytes) +
                                              " bytes; split the content");
  }
  if (published_count_ == published_.size()) {
    return Status(Code::no_space, "a transaction publishes at most 16 objects; split it");
  }
  REMORA_TRY(charge_structure(words_per_object + (object.sealed ? 1 : 0)));
  published_[published_count_++] = object;
  return Status();
}

Status Transaction::publish(Offset offset, std::uint64_t content_bytes) {
  return add_object({offset, content_bytes, false});
}

Status Transaction::publish_sealed(Offset offset, std::uint64_t content_bytes) {
  return add_object({offset, content_bytes, true});
}

Status Transaction::free(Offset offset) {
  if (freed_count_ == freed_.size()) {
    return Status(Code::no_space, "a transaction frees at most 16 objects; split it");
  }
  REMORA_TRY(charge_structure(words_per_object));
  freed_[freed_count_++] = offset;
  return Status();
}

Status Transaction::set(Offset word, std::uint64_t value) {
  if (word % word_bytes != 0) {
    return Status(Code::invalid_argument, "a word starts at a multiple of 8 bytes");
  }
  if (word_count_ == words_.size()) {
    return Status(Code::no_space, "a transaction sets at most 32 words; split it");
  }
  REMORA_TRY(charge(1));
  words_[word_count_++] = {word, value};
  return Status();
}

Status Transaction::set_root(std::string_view name, Offset offset) {
  if (name.empty() || name.size() > longest_root_name ||
      name.find('\0') != std::string_view::npos) {
    return Status(Code::invalid_argument,
                  "the name of a root has 1 to 48 bytes, and none of them is zero");
  }
  if (root_count_ == roots_.size()) {
    return Status(Code::no_space, "a transaction changes at most 4 roots; split it");
  }
  REMORA_TRY(charge_structure(words_per_root));
  RootChange& change = roots_[root_count_++];
  change.name.fill('\0');
  std::ranges::copy(name, change.name.begin());
  change.offset = offset;
  return Status();
}

}  // namespace remora
