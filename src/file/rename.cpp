// Rename: the old name, the new one, what it replaces, parents and links in one record.
#include <sys/stat.h>

#include "file/faults.h"
#include "file/names.h"

namespace remora::file {

namespace {

void change_directory_times(format::Inode& inode, std::uint64_t now_ns) {
  inode.mtime_ns = now_ns;
  inode.ctime_ns = now_ns;
}

}  // namespace

Outcome<bool> Names::is_within(Live& directory, const Live& ancestor) {
  const Number root = core_.superblock().root;
  for (Live* at = &directory;;) {
    if (at == &ancestor) {
      return true;
    }
    if (at->number == root || at->recorded.links == 0) {
      return false;
    }
    REMORA_FILE_TRY_OUTCOME(above, core_.get(at->recorded.parent));
    at = *above;
  }
}

// In the order in which Linux asks.
Errno Names::check_rename(const Caller& caller, const Move& move, Rename how) {
  if (how == Rename::no_replace && move.replaced != nullptr) {
    return Errno{EEXIST};
  }
  if (how == Rename::exchange && move.replaced == nullptr) {
    return Errno{ENOENT};
  }
  if (move.file->is_directory()) {
    REMORA_FILE_TRY_OUTCOME(inside, is_within(*move.to, *move.file));
    if (*inside) {
      return Errno{EINVAL};
    }
  }
  const bool replaces_directory = move.replaced != nullptr && move.replaced->is_directory();
  if (replaces_directory) {
    REMORA_FILE_TRY_OUTCOME(inside, is_within(*move.from, *move.replaced));
    if (*inside) {
      return Errno{how == Rename::exchange ? EINVAL : ENOTEMPTY};
    }
  }
  REMORA_FILE_TRY(check_rights(caller, move, how));
  if (how == Rename::exchange || move.replaced == nullptr) {
    return Errno{};
  }
  if (move.file->is_directory() != replaces_directory) {
    return Errno{replaces_directory ? EISDIR : ENOTDIR};
  }
  return Errno{replaces_directory && move.replaced->recorded.tree != 0 ? ENOTEMPTY : 0};
}

// A directory that gets another parent is itself changed.
Errno Names::check_rights(const Caller& caller, const Move& move, Rename how) {
  const unsigned rights = may_write | may_execute;
  if (!may(caller, move.from->recorded, rights) || !may(caller, move.to->recorded, rights)) {
    return Errno{EACCES};
  }
  const bool sticks =
      !may_remove(caller, move.from->recorded, move.file->recorded) ||
      (move.replaced != nullptr && !may_remove(caller, move.to->recorded, move.replaced->recorded));
  if (sticks) {
    return Errno{EPERM};
  }
  if (move.to->recorded.links == 0) {
    return Errno{ENOENT};
  }
  if (move.from == move.to) {
    return Errno{};
  }
  const auto may_move = [&caller](const Live* file) {
    return file == nullptr || !file->is_directory() || may(caller, file->recorded, may_write);
  };
  const bool moves = may_move(move.file) && (how != Rename::exchange || may_move(move.replaced));
  return Errno{moves ? 0 : EACCES};
}

Outcome<Receipt> Names::rename(const Caller& caller, Number from, std::string_view old_name,
                               Number to, std::string_view new_name, Rename how) {
  REMORA_FILE_TRY(core_.writable());
  for (const std::string_view name : {old_name, new_name}) {
    if (name == "." || name == "..") {
      return Errno{how == Rename::no_replace && name == new_name ? EEXIST : EBUSY};
    }
    if (const int fault = fault_of_name(name)) {
      return Errno{fault};
    }
  }
  REMORA_FILE_TRY_OUTCOME(from_live, directory(caller, from, may_execute));
  REMORA_FILE_TRY_OUTCOME(to_live, directory(caller, to, may_execute));
  REMORA_FILE_TRY_OUTCOME(old_found, found(**from_live, old_name));
  Move move{*from_live, old_found->entry, old_found->file, *to_live,
            new_name,   std::nullopt,     nullptr,         caller.now_ns};
  const Outcome<Found> new_found = found(**to_live, new_name);
  if (new_found.ok()) {
    move.replaced_entry = new_found->entry;
    move.replaced = new_found->file;
  } else if (new_found.error() != ENOENT) {
    return new_found.failure();
  }
  // Two names of one file: POSIX has nothing happen.
  const bool same = move.replaced == move.file;
  if (same && how != Rename::no_replace) {
    return Receipt{core_.newest()};
  }
  REMORA_FILE_TRY(check_rename(caller, move, how));
  if (how == Rename::exchange) {
    return core_.deleting([&] { return exchange(move); });
  }
  if (move.replaced == nullptr) {
    REMORA_FILE_TRY(core_.creating());
  }
  return core_.deleting([&] {
    const bool held = move.replaced != nullptr && move.replaced->opens != 0;
    Outcome<Receipt> outcome = replace(move, held);
    return outcome.error() == too_large && !held ? replace(move, true) : outcome;
  });
}

Errno Names::build_replace(Change& change, const Move& move, std::uint64_t key, bool listed) {
  const bool moves_directory = move.file->is_directory();
  const bool crosses = move.from != move.to;
  const bool counts = !core_.planted(faults::links_kept);
  format::Inode& above = change.edit(*move.from);
  format::Inode& below = change.edit(*move.to);
  format::Inode& inode = change.edit(*move.file);
  change_directory_times(above, move.now_ns);
  change_directory_times(below, move.now_ns);
  inode.ctime_ns = move.now_ns;
  const Entry entry{key, move.file->number, move.old_entry.detail, move.new_name};
  TreeEdit old_tree = core_.edit_tree(*move.from);
  TreeEdit new_tree = core_.edit_tree(*move.to);
  TreeEdit& tree = crosses ? new_tree : old_tree;
  REMORA_FILE_TRY(old_tree.remove(move.old_entry.key));
  REMORA_FILE_TRY(move.replaced_entry ? tree.replace(entry) : tree.insert(entry));
  above.tree = old_tree.write(change);
  if (crosses) {
    below.tree = new_tree.write(change);
  }
  if (moves_directory && crosses) {
    if (!core_.planted(faults::parent_kept)) {
      inode.parent = move.to->number;
    }
    above.links -= counts ? 1u : 0u;
    below.links += counts ? 1u : 0u;
  }
  if (move.replaced == nullptr) {
    return Errno{};
  }
  below.links -= moves_directory && counts ? 1u : 0u;
  return add_removal(change, *move.replaced, move.now_ns, listed);
}

// A planted bug: the new name in one record, the old one in the next.
Errno Names::rename_in_two(const Move& move, std::uint64_t key) {
  Change first = core_.change();
  TreeEdit tree = core_.edit_tree(*move.to);
  REMORA_FILE_TRY(tree.insert(Entry{key, move.file->number, move.old_entry.detail, move.new_name}));
  first.edit(*move.to).tree = tree.write(first);
  REMORA_FILE_TRY(core_.commit(first));
  Change second = core_.change();
  TreeEdit old_tree = core_.edit_tree(*move.from);
  REMORA_FILE_TRY(old_tree.remove(move.old_entry.key));
  second.edit(*move.from).tree = old_tree.write(second);
  REMORA_FILE_TRY(core_.commit(second));
  return Errno{};
}

Outcome<Receipt> Names::replace(const Move& move, bool listed) {
  std::uint64_t key = 0;
  if (move.replaced_entry) {
    key = move.replaced_entry->key;
  } else {
    REMORA_FILE_TRY_OUTCOME(free, free_key(*move.to, move.new_name));
    key = *free;
  }
  if (core_.planted(faults::rename_in_two) && move.replaced == nullptr &&
      !move.file->is_directory()) {
    REMORA_FILE_TRY(rename_in_two(move, key));
    return Receipt{move.from->record};
  }
  const auto build = [&](Change& change) { return build_replace(change, move, key, listed); };
  REMORA_FILE_TRY_OUTCOME(ticket, perform({{move.to, key}}, build));
  if (move.replaced != nullptr) {
    note_removal(*move.replaced, listed);
  }
  return Receipt{*ticket};
}

Outcome<Receipt> Names::exchange(const Move& move) {
  const bool crosses = move.from != move.to;
  const bool counts = !core_.planted(faults::links_kept);
  const auto build = [&](Change& change) {
    format::Inode& above = change.edit(*move.from);
    format::Inode& below = change.edit(*move.to);
    format::Inode& one = change.edit(*move.file);
    format::Inode& other = change.edit(*move.replaced);
    change_directory_times(above, move.now_ns);
    change_directory_times(below, move.now_ns);
    one.ctime_ns = other.ctime_ns = move.now_ns;
    TreeEdit old_tree = core_.edit_tree(*move.from);
    TreeEdit new_tree = core_.edit_tree(*move.to);
    const Entry& to_entry = *move.replaced_entry;
    REMORA_FILE_TRY(old_tree.replace(
        Entry{move.old_entry.key, move.replaced->number, to_entry.detail, move.old_entry.name}));
    REMORA_FILE_TRY(
        (crosses ? new_tree : old_tree)
            .replace(Entry{to_entry.key, move.file->number, move.old_entry.detail, to_entry.name}));
    above.tree = old_tree.write(change);
    if (!crosses) {
      return Errno{};
    }
    below.tree = new_tree.write(change);
    const auto cross = [&](const Live& file, format::Inode& inode, const Live& parent,
                           format::Inode& left, format::Inode& entered) {
      if (file.is_directory()) {
        inode.parent = core_.planted(faults::parent_kept) ? inode.parent : parent.number;
        left.links -= counts ? 1u : 0u;
        entered.links += counts ? 1u : 0u;
      }
    };
    cross(*move.file, one, *move.to, above, below);
    cross(*move.replaced, other, *move.from, below, above);
    return Errno{};
  };
  REMORA_FILE_TRY_OUTCOME(ticket, perform({}, build));
  return Receipt{*ticket};
}

}  // namespace remora::file
