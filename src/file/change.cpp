#include "file/change.h"

#include <algorithm>
#include <bit>

#include "file/faults.h"

namespace remora::file {

using format::Inode;
using format::NodeHead;
using format::Words;

int errno_of(const Status& status) {
  switch (status.code()) {
    case Code::ok:
      return 0;
    case Code::no_space:
      return ENOSPC;
    case Code::invalid_argument:
      return EINVAL;
    default:
      return EIO;
  }
}

Change::~Change() {
  for (const Offset place : reserved_) {
    nodes_.forget(place);
    (void)nodes_.pool().cancel(place);
  }
}

void Change::check(const Status& status) {
  if (!status.ok()) {
    // A transaction refuses in two cases: it is full, or the caller has a bug.
    fail(status.code() == Code::no_space ? too_large : EIO);
  }
}

Inode& Change::edit(Live& live) {
  for (Edit& edit : std::span(edits_).first(edit_count_)) {
    if (edit.live == &live) {
      return edit.after;
    }
  }
  REMORA_CHECK(edit_count_ < edits_.size(), "a change names more inodes than it can");
  Edit& edit = edits_[edit_count_++] = {&live, live.recorded, false};
  edit.after.atime_ns = live.atime_ns;
  edit.after.mtime_ns = live.mtime_ns;
  edit.after.ctime_ns = live.ctime_ns;
  return edit.after;
}

Inode& Change::make(Live& live) {
  live.number = reserve(sizeof(Inode));
  REMORA_CHECK(edit_count_ < edits_.size(), "a change names more inodes than it can");
  Edit& edit = edits_[edit_count_++] = {&live, Inode{}, true};
  return edit.after;
}

format::Superblock& Change::edit_superblock() {
  if (!super_edited_) {
    super_after_ = super_.recorded;
    super_edited_ = true;
  }
  return super_after_;
}

Offset Change::reserve(std::size_t size_bytes) {
  if (error_ != 0) {
    return 0;
  }
  // Powers of two fill single blocks: so a block that is free is enough for any of them.
  const std::size_t whole =
      size_bytes <= format::block_bytes ? std::bit_ceil(size_bytes) : size_bytes;
  const Result<Offset> place = nodes_.pool().reserve(whole, Account::files);
  if (!place.ok()) {
    fail(errno_of(place.status()));
    return 0;
  }
  reserved_.push_back(*place);
  return *place;
}

Offset Change::add_node(Number owner, format::NodeKind kind, unsigned height,
                        std::span<const Entry> entries) {
  std::size_t size = sizeof(NodeHead);
  for (const Entry& entry : entries) {
    size += format::entry_bytes(entry.name.size());
  }
  const Offset place = reserve(size);
  if (place == 0) {
    return 0;
  }
  std::byte* to = nodes_.pool().object(place).data() + sizeof(NodeHead);
  for (const Entry& entry : entries) {
    const format::EntryHead head{entry.key, entry.value, entry.detail,
                                 static_cast<std::uint16_t>(entry.name.size()), 0};
    const std::size_t whole = format::entry_bytes(entry.name.size());
    std::memset(to + whole - word_bytes, 0, word_bytes);
    std::memcpy(to, &head, sizeof head);
    copy_bytes(to + sizeof head, as_bytes(entry.name));
    to += whole;
  }
  seal(place, {format::node_magic, kind, static_cast<std::uint8_t>(height),
               static_cast<std::uint16_t>(entries.size()), owner, place,
               static_cast<std::uint32_t>(size), 0});
  return place;
}

Offset Change::add_bytes(Number owner, format::NodeKind kind, ConstBytes content) {
  const std::size_t size = sizeof(NodeHead) + content.size();
  const Offset place = reserve(size);
  if (place == 0) {
    return 0;
  }
  copy_bytes(nodes_.pool().object(place).data() + sizeof(NodeHead), content);
  seal(place, {format::node_magic, kind, 0, 0, owner, place, static_cast<std::uint32_t>(size), 0});
  return place;
}

void Change::seal(Offset place, NodeHead head) {
  const Bytes node = nodes_.pool().object(place).first(head.bytes);
  std::memcpy(node.data(), &head, sizeof head);
  head.checksum = format::checksum_of(node);
  std::memcpy(node.data(), &head, sizeof head);
  check(transaction_.publish_sealed(place, head.bytes));
  nodes_.forget(place);
}

void Change::free_node(Offset place) {
  if (!faults_.planted(faults::node_kept)) {
    free(place);
  }
  freed_nodes_.push_back(place);
}

void Change::publish_run(Offset run) {
  const bool seal = faults_.planted(faults::data_sealed);
  check(seal ? transaction_.publish_sealed(run, nodes_.pool().object(run).size())
             : transaction_.publish(run, 0));
}

void Change::free(Offset place) {
  check(transaction_.free(place));
}

void Change::set_words(Offset place, const Words* before, Words after) {
  const bool changed = before == nullptr || *before != after;
  if (!changed) {
    return;
  }
  if (before == nullptr || !faults_.planted(faults::check_kept)) {
    after.back() = format::check_of(after, place);
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (before == nullptr || (*before)[i] != after[i]) {
      check(transaction_.set(place + i * word_bytes, after[i]));
    }
  }
}

Outcome<Ticket> Change::commit() {
  for (Edit& edit : std::span(edits_).first(edit_count_)) {
    if (error_ != 0) {
      return Errno{error_};
    }
    const auto before = std::bit_cast<Words>(edit.live->recorded);
    if (edit.made) {
      check(transaction_.publish(edit.live->number, 0));
    }
    const bool dies =
        std::ranges::find(transaction_.freed(), edit.live->number) != transaction_.freed().end();
    if (!dies) {
      set_words(edit.live->number, edit.made ? nullptr : &before, std::bit_cast<Words>(edit.after));
      edit.after.check = format::check_of(std::bit_cast<Words>(edit.after), edit.live->number);
    }
  }
  if (super_edited_) {
    const auto before = std::bit_cast<Words>(super_.recorded);
    set_words(super_.place, &before, std::bit_cast<Words>(super_after_));
    super_after_.check = format::check_of(std::bit_cast<Words>(super_after_), super_.place);
  }
  if (error_ != 0) {
    return Errno{error_};
  }
  const Result<Ticket> ticket = nodes_.pool().commit(transaction_);
  if (!ticket.ok()) {
    fail(EIO);
    return Errno{EIO};
  }
  reserved_.clear();
  for (const Offset place : freed_nodes_) {
    nodes_.forget(place);
  }
  for (Edit& edit : std::span(edits_).first(edit_count_)) {
    Live& live = *edit.live;
    live.recorded = edit.after;
    live.record = *ticket;
    live.atime_ns = edit.after.atime_ns;
    live.mtime_ns = edit.after.mtime_ns;
    live.ctime_ns = edit.after.ctime_ns;
  }
  if (super_edited_) {
    super_.recorded = super_after_;
  }
  return faults_.planted(faults::ticket_early) ? Ticket{} : *ticket;
}

}  // namespace remora::file
