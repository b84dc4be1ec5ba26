// How a transaction becomes one log record.
#include <algorithm>
#include <cstring>
#include <span>

#include "base/crc32c.h"
#include "pmem/pool.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_faults.h"

namespace remora {

using pool_format::Root;
using pool_format::Seal;

namespace {

Status refuse(const char* why) {
  return Status(Code::invalid_argument, why);
}

bool publishes(const Transaction& transaction, Offset offset) {
  return std::ranges::any_of(transaction.published(), [offset](const Transaction::Object& object) {
    return object.offset == offset;
  });
}

bool frees(const Transaction& transaction, Offset offset) {
  return std::ranges::find(transaction.freed(), offset) != transaction.freed().end();
}

bool covers(Offset offset, std::uint64_t content_bytes, Offset word) {
  return word >= offset && word - offset < content_bytes;
}

bool seals(const Transaction& transaction, Offset word) {
  return std::ranges::any_of(transaction.published(), [word](const Transaction::Object& object) {
    return object.sealed && covers(object.offset, object.content_bytes, word);
  });
}

bool has_repeats(std::span<const Offset> offsets) {
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (std::ranges::find(offsets.first(i), offsets[i]) != offsets.first(i).end()) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<Ticket> Pool::commit(const Transaction& transaction) {
  REMORA_TRY(usable());
  REMORA_TRY(check(transaction));
  if (Status status = persist_objects(transaction); !status.ok()) {
    return failure_ = status;
  }
  std::array<Seal, Transaction::most_objects> seals;
  std::size_t seal_count = 0;
  for (const Transaction::Object& object : transaction.published()) {
    if (object.sealed) {
      const ConstBytes content(region_.data() + object.offset, object.content_bytes);
      seals[seal_count++] = {object.offset, static_cast<std::uint32_t>(object.content_bytes),
                             crc32c(content)};
    }
  }
  WordSet words;
  collect_allocations(transaction, words);
  collect_roots(transaction, words);
  put_total(words);
  for (const pool_format::Write& write : transaction.words()) {
    words.put(write.place, write.value);
  }
  Result<Ticket> ticket = log_.append(words.writes(), std::span(seals).first(seal_count));
  if (!ticket.ok()) {
    failure_ = ticket.status();
    return ticket;
  }
  if (faults_.planted(pool_faults::object_after_record)) {
    persist_late(transaction);
  }
  for (const Transaction::Object& object : transaction.published()) {
    if (object.sealed) {
      sealed_.push_back({object.offset, object.content_bytes, log_.newest()});
    }
  }
  for (Offset offset : transaction.freed()) {
    freed_.push_back({offset, log_.newest()});
  }
  release_retired();
  return ticket;
}

Status Pool::check(const Transaction& transaction) const {
  std::array<Offset, Transaction::most_objects> offsets;
  std::size_t count = 0;
  for (const Transaction::Object& object : transaction.published()) {
    if (!allocator_.is_reserved(object.offset)) {
      return refuse("only reserved space can be published");
    }
    if (object.content_bytes > allocator_.capacity_bytes(object.offset)) {
      return refuse("the content is larger than the object");
    }
    offsets[count++] = object.offset;
  }
  if (has_repeats(std::span(offsets).first(count)) || has_repeats(transaction.freed())) {
    return refuse("an object is named twice");
  }
  for (Offset offset : transaction.freed()) {
    if (!allocator_.is_live(offset)) {
      return refuse("only live objects can be freed");
    }
  }
  for (const pool_format::Write& write : transaction.words()) {
    const Offset owner = allocator_.object_at(write.place);
    if (owner == 0 || frees(transaction, owner) ||
        !(allocator_.is_live(owner) || publishes(transaction, owner))) {
      return refuse("a word can be set only inside a live object");
    }
    if (seals(transaction, write.place) || is_sealed(write.place)) {
      return refuse("a word in sealed content never changes");
    }
  }
  return check_roots(transaction);
}

bool Pool::is_sealed(Offset word) const {
  return std::ranges::any_of(sealed_, [word](const Sealed& sealed) {
    return covers(sealed.offset, sealed.content_bytes, word);
  });
}

Status Pool::check_roots(const Transaction& transaction) const {
  std::size_t fresh = 0;
  const auto changes = transaction.roots();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Offset offset = changes[i].offset;
    const bool leads = (allocator_.is_live(offset) && !frees(transaction, offset)) ||
                       publishes(transaction, offset);
    if (offset != 0 && !leads) {
      return refuse("a root must lead to a live object");
    }
    const Account owner = owner_of_root(changes[i].text());
    if (offset != 0 && owner != Account::none && allocator_.account_of(offset) != owner) {
      return refuse("a root of a service leads to an object of that service");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (changes[j].name == changes[i].name) {
        return refuse("a root is named twice");
      }
    }
    const bool known = slot_of_root(changes[i].name) < roots_.size();
    if (offset == 0 && !known) {
      return Status(Code::not_found, "there is no such root to remove");
    }
    fresh += known ? 0 : 1;
  }
  const auto unused = static_cast<std::size_t>(
      std::ranges::count_if(roots_, [](const Root& root) { return root.in_use == 0; }));
  if (fresh > unused) {
    return Status(Code::no_space,
                  "the pool has no room for another root; remove one in an earlier "
                  "transaction");
  }
  for (const Root& root : roots_) {
    const bool changed = std::ranges::any_of(
        changes, [&root](const auto& change) { return change.name == root.name; });
    if (root.in_use != 0 && !changed && frees(transaction, root.value)) {
      return refuse("a root still leads to an object that is to be freed");
    }
  }
  return Status();
}

// Sealed content only sets out for the medium: the record vouches for it. Other content must have
// arrived before a record that publishes it can.
Status Pool::persist_objects(const Transaction& transaction) {
  bool ordered = false;
  if (faults_.planted(pool_faults::object_not_flushed) ||
      faults_.planted(pool_faults::object_after_record)) {
    return Status();
  }
  for (const Transaction::Object& object : transaction.published()) {
    region_.flush(ConstBytes(region_.data() + object.offset, object.content_bytes));
    ordered = ordered || (!object.sealed && object.content_bytes != 0);
  }
  return ordered ? region_.wait(region_.drain()) : Status();
}

void Pool::collect_allocations(const Transaction& transaction, WordSet& words) {
  WordSet changes;
  for (const Transaction::Object& object : transaction.published()) {
    allocator_.publish(object.offset, changes);
  }
  WordSet forgotten;
  WordSet& frees = faults_.planted(pool_faults::free_forgotten) ? forgotten : changes;
  for (Offset offset : transaction.freed()) {
    allocator_.retract(offset, frees);
  }
  WordSet unlogged;
  for (const pool_format::Write& write : changes.writes()) {
    const Fault& mistake = layout_.is_summary(write.place) ? pool_faults::summary_not_logged
                                                           : pool_faults::allocation_not_logged;
    (faults_.planted(mistake) ? unlogged : words).put(write.place, write.value);
  }
  write_past_log(unlogged);
}

std::size_t Pool::slot_of_root(const std::array<char, Transaction::longest_root_name>& name) const {
  const auto found = std::ranges::find_if(
      roots_, [&name](const Root& root) { return root.in_use != 0 && root.name == name; });
  return static_cast<std::size_t>(found - roots_.begin());
}

void Pool::collect_roots(const Transaction& transaction, WordSet& words) {
  for (const Transaction::RootChange& change : transaction.roots()) {
    std::size_t index = slot_of_root(change.name);
    if (index == roots_.size()) {
      const auto unused = std::ranges::find(roots_, 0u, &Root::in_use);
      index = static_cast<std::size_t>(unused - roots_.begin());
      roots_[index].name = change.name;
      WordSet unlogged;
      put_name(index, faults_.planted(pool_faults::root_name_torn) ? unlogged : words);
      write_past_log(unlogged);
    }
    Root& root = roots_[index];
    roots_total_ -= share_of(root_place(index), root);
    root.value = change.offset;
    root.in_use = root.value == 0 ? 0 : pool_format::in_use_word(index, root.value, root.name);
    roots_total_ += share_of(root_place(index), root);
    words.put(root_place(index) + offsetof(Root, in_use), root.in_use);
    words.put(root_place(index) + offsetof(Root, value), root.value);
  }
}

// With whatever changes entries or roots.
void Pool::put_total(WordSet& words) {
  if (words.size() == 0 || faults_.planted(pool_faults::total_not_logged)) {
    return;
  }
  WordSet unlogged;
  (faults_.planted(pool_faults::total_past_log) ? unlogged : words)
      .put(pool_format::total_place(header_), total());
  write_past_log(unlogged);
}

void Pool::put_name(std::size_t index, WordSet& words) const {
  for (std::size_t at = 0; at < Transaction::longest_root_name; at += word_bytes) {
    std::uint64_t word;
    std::memcpy(&word, roots_[index].name.data() + at, sizeof word);
    words.put(root_place(index) + offsetof(Root, name) + at, word);
  }
}

// Space comes back only when no replay can reach the record that freed it, nor, therefore, the one
// that published it and may have sealed its bytes.
void Pool::release_retired() {
  while (!sealed_.empty() && sealed_.front().sequence <= log_.retired()) {
    sealed_.pop_front();
  }
  while (!freed_.empty() && (freed_.front().sequence <= log_.retired() ||
                             faults_.planted(pool_faults::free_too_early))) {
    allocator_.release(freed_.front().offset);
    freed_.pop_front();
  }
}

}  // namespace remora
