#include "file/names.h"

#include <sys/stat.h>

#include "file/faults.h"

namespace remora::file {

namespace {

constexpr unsigned most_links_followed = 40;

void change_times(format::Inode& inode, std::uint64_t now_ns) {
  inode.mtime_ns = now_ns;
  inode.ctime_ns = now_ns;
}

}  // namespace

int fault_of_name(std::string_view name) {
  if (name.empty()) {
    return ENOENT;
  }
  if (name.size() > format::longest_name) {
    return ENAMETOOLONG;
  }
  return name.find('/') == name.npos && name.find('\0') == name.npos ? 0 : EINVAL;
}

Outcome<Live*> Names::directory(const Caller& caller, Number number, unsigned rights) {
  REMORA_FILE_TRY_OUTCOME(live, core_.get(number));
  if (!(*live)->is_directory()) {
    return Errno{ENOTDIR};
  }
  if (!may(caller, (*live)->recorded, rights)) {
    return Errno{EACCES};
  }
  return live;
}

Outcome<std::optional<Entry>> Names::find(Live& directory, std::string_view name) {
  const std::uint64_t first = format::key_of(name, core_.superblock().hash_seed);
  const TreeOf tree = Core::tree_of(directory);
  for (std::uint64_t key = first; key < first + format::names_of_a_hash;) {
    REMORA_FILE_TRY_OUTCOME(entry, core_.nodes.first_from(tree, key));
    if (!*entry || (*entry)->key >= first + format::names_of_a_hash || (*entry)->name == name) {
      const bool there = *entry && (*entry)->key < first + format::names_of_a_hash;
      return there ? entry : Outcome<std::optional<Entry>>(std::optional<Entry>());
    }
    key = (*entry)->key + 1;
  }
  return std::optional<Entry>();
}

Outcome<std::uint64_t> Names::free_key(Live& directory, std::string_view name) {
  const std::uint64_t first = format::key_of(name, core_.superblock().hash_seed);
  for (std::uint64_t key = first; key < first + format::names_of_a_hash; ++key) {
    REMORA_FILE_TRY_OUTCOME(entry, core_.nodes.first_from(Core::tree_of(directory), key));
    if (!*entry || (*entry)->key != key) {
      return key;
    }
  }
  return Errno{ENOSPC};
}

Outcome<Names::Found> Names::found(Live& directory, std::string_view name) {
  REMORA_FILE_TRY_OUTCOME(entry, find(directory, name));
  if (!*entry) {
    return Errno{ENOENT};
  }
  const Outcome<Live*> file = core_.get((*entry)->value);
  if (!file.ok()) {
    return file.error() == ESTALE
               ? core_.nodes.damaged("inode " + std::to_string(directory.number) +
                                     " has a name that leads to no inode")
               : file.failure();
  }
  return Found{**entry, *file};
}

Outcome<Number> Names::lookup(const Caller& caller, Number number, std::string_view name) {
  REMORA_FILE_TRY_OUTCOME(live, directory(caller, number, may_execute));
  if (name == ".") {
    return number;
  }
  if (name == "..") {
    return (*live)->recorded.parent;
  }
  if (name.size() > format::longest_name) {
    return Errno{ENAMETOOLONG};
  }
  REMORA_FILE_TRY_OUTCOME(there, found(**live, name));
  return there->file->number;
}

Outcome<Ticket> Names::perform(std::initializer_list<std::pair<Live*, std::uint64_t>> trees,
                               const std::function<Errno(Change& change)>& build) {
  for (;;) {
    Outcome<Ticket> ticket = Errno{too_large};
    {
      Change change = core_.change();
      REMORA_FILE_TRY(build(change));
      ticket = core_.commit(change);
    }
    if (ticket.ok() || ticket.error() != too_large) {
      return ticket;
    }
    bool split = false;
    for (const auto& [live, key] : trees) {
      REMORA_FILE_TRY_OUTCOME(one, core_.make_room(*live, key));
      split = split || *one;
    }
    if (!split) {
      return ticket;
    }
  }
}

Outcome<Made> Names::make(const Caller& caller, Number number, std::string_view name,
                          std::uint32_t mode, std::uint64_t device, std::string_view target) {
  if (const int fault = name == "." || name == ".." ? EEXIST : fault_of_name(name)) {
    return Errno{fault};
  }
  REMORA_FILE_TRY_OUTCOME(live, directory(caller, number, may_execute));
  REMORA_FILE_TRY_OUTCOME(there, find(**live, name));
  if (*there) {
    return Errno{EEXIST};
  }
  Live& parent = **live;
  if (!may(caller, parent.recorded, may_write | may_execute)) {
    return Errno{EACCES};
  }
  if (parent.recorded.links == 0) {
    return Errno{ENOENT};
  }
  REMORA_FILE_TRY(core_.creating());
  REMORA_FILE_TRY_OUTCOME(key, free_key(parent, name));
  const bool lends_group = (parent.recorded.mode & S_ISGID) != 0;
  const bool is_directory = S_ISDIR(mode);
  auto made = std::make_unique<Live>();
  const auto build = [&](Change& change) {
    format::Inode& above = change.edit(parent);
    format::Inode& inode = change.make(*made);
    inode.mode = mode | (is_directory && lends_group ? S_ISGID : 0u);
    inode.links = is_directory ? 2 : 1;
    inode.uid = caller.uid;
    inode.gid = lends_group ? parent.recorded.gid : caller.gid;
    inode.parent = is_directory ? number : 0;
    inode.device = device;
    inode.atime_ns = inode.born_ns = caller.now_ns;
    change_times(inode, caller.now_ns);
    if (S_ISLNK(mode)) {
      inode.size = target.size();
      inode.tree = change.add_bytes(made->number, format::NodeKind::target, as_bytes(target));
    }
    TreeEdit tree = core_.edit_tree(parent);
    REMORA_FILE_TRY(tree.insert(Entry{*key, made->number, mode & S_IFMT, name}));
    above.tree = tree.write(change);
    above.links += is_directory && !core_.planted(faults::links_kept) ? 1u : 0u;
    change_times(above, caller.now_ns);
    return Errno{change.error() == too_large ? 0 : change.error()};
  };
  REMORA_FILE_TRY_OUTCOME(ticket, perform({{&parent, *key}}, build));
  const Live& file = core_.add(std::move(made));
  return Made{file.number, Receipt{*ticket}};
}

Outcome<Receipt> Names::link(const Caller& caller, Number number, Number into,
                             std::string_view name) {
  if (const int fault = name == "." || name == ".." ? EEXIST : fault_of_name(name)) {
    return Errno{fault};
  }
  REMORA_FILE_TRY_OUTCOME(file, core_.get(number));
  REMORA_FILE_TRY_OUTCOME(live, directory(caller, into, may_execute));
  Live& parent = **live;
  REMORA_FILE_TRY_OUTCOME(there, find(parent, name));
  if (*there) {
    return Errno{EEXIST};
  }
  if (!may(caller, parent.recorded, may_write | may_execute)) {
    return Errno{EACCES};
  }
  if ((*file)->is_directory()) {
    return Errno{EPERM};
  }
  if (parent.recorded.links == 0 || (*file)->recorded.links == 0) {
    return Errno{ENOENT};
  }
  REMORA_FILE_TRY(core_.creating());
  REMORA_FILE_TRY_OUTCOME(key, free_key(parent, name));
  const auto build = [&](Change& change) {
    format::Inode& above = change.edit(parent);
    format::Inode& inode = change.edit(**file);
    ++inode.links;
    inode.ctime_ns = caller.now_ns;
    TreeEdit tree = core_.edit_tree(parent);
    REMORA_FILE_TRY(tree.insert(Entry{*key, number, inode.mode & S_IFMT, name}));
    above.tree = tree.write(change);
    change_times(above, caller.now_ns);
    return Errno{};
  };
  REMORA_FILE_TRY_OUTCOME(ticket, perform({{&parent, *key}}, build));
  return Receipt{*ticket};
}

// The file loses a name. With the last one it is freed in the same record, or, where somebody has
// it open or one record does not hold it, put on the list.
Errno Names::add_removal(Change& change, Live& file, std::uint64_t now_ns, bool listed) {
  format::Inode& inode = change.edit(file);
  inode.links = file.is_directory() ? 0 : inode.links - 1;
  inode.ctime_ns = now_ns;
  if (inode.links != 0) {
    return Errno{};
  }
  if (!listed) {
    return contents_.add_free(change, file);
  }
  return core_.planted(faults::orphan_forgotten) ? Errno{} : core_.list(change, file);
}

// After the commit.
void Names::note_removal(Live& file, bool listed) {
  const bool dead = file.is_directory() || file.recorded.links == 0;
  if (!dead) {
    return;
  }
  if (!listed) {
    contents_.drop_fresh(file, 0);
    core_.remove(file);
    return;
  }
  if (!core_.planted(faults::orphan_forgotten)) {
    core_.note_listed(file, true);
    if (file.opens == 0) {
      (void)contents_.reap(file);
    }
  }
}

Outcome<Receipt> Names::remove_found(Live& parent, const Found& there, std::uint64_t now_ns) {
  Live& file = *there.file;
  const std::uint64_t key = there.entry.key;
  bool listed = file.opens != 0;
  const auto build = [&](Change& change) {
    format::Inode& above = change.edit(parent);
    TreeEdit tree = core_.edit_tree(parent);
    REMORA_FILE_TRY(tree.remove(key));
    above.tree = tree.write(change);
    above.links -= file.is_directory() && !core_.planted(faults::links_kept) ? 1u : 0u;
    change_times(above, now_ns);
    return add_removal(change, file, now_ns, listed);
  };
  Outcome<Ticket> ticket = perform({}, build);
  if (ticket.error() == too_large && !listed) {
    listed = true;
    ticket = perform({}, build);
  }
  REMORA_FILE_TRY(ticket);
  note_removal(file, listed);
  return Receipt{*ticket};
}

Outcome<Receipt> Names::remove(const Caller& caller, Number number, std::string_view name,
                               bool is_directory) {
  REMORA_FILE_TRY(core_.writable());
  if (name == "." || name == "..") {
    return Errno{!is_directory ? EISDIR : name == "." ? EINVAL : ENOTEMPTY};
  }
  if (const int fault = fault_of_name(name)) {
    return Errno{fault};
  }
  REMORA_FILE_TRY_OUTCOME(live, directory(caller, number, may_execute));
  Live& parent = **live;
  REMORA_FILE_TRY_OUTCOME(there, found(parent, name));
  const Live& file = *there->file;
  if (!may(caller, parent.recorded, may_write | may_execute)) {
    return Errno{EACCES};
  }
  if (!may_remove(caller, parent.recorded, file.recorded)) {
    return Errno{EPERM};
  }
  if (file.is_directory() != is_directory) {
    return Errno{is_directory ? ENOTDIR : EISDIR};
  }
  if (is_directory && file.recorded.tree != 0) {
    return Errno{ENOTEMPTY};
  }
  return core_.deleting([&] { return remove_found(parent, *there, caller.now_ns); });
}

Errno Names::read_directory(const Caller& caller, Number number, std::uint64_t position,
                            const std::function<bool(const DirectoryEntry& entry)>& visit) {
  REMORA_FILE_TRY_OUTCOME(live, directory(caller, number, may_read));
  const Live& parent = **live;
  if (position < 1 && !visit({".", number, S_IFDIR, 1})) {
    return Errno{};
  }
  if (position < 2 && !visit({"..", parent.recorded.parent, S_IFDIR, 2})) {
    return Errno{};
  }
  for (std::uint64_t key = position + 1;;) {
    REMORA_FILE_TRY_OUTCOME(entry, core_.nodes.first_from(Core::tree_of(parent), key));
    if (!*entry ||
        !visit({std::string((*entry)->name), (*entry)->value, (*entry)->detail, (*entry)->key})) {
      return Errno{};
    }
    key = (*entry)->key + 1;
  }
}

Outcome<std::string> Names::read_link(Number number) {
  REMORA_FILE_TRY_OUTCOME(live, core_.get(number));
  if (!(*live)->is_link()) {
    return Errno{EINVAL};
  }
  REMORA_FILE_TRY_OUTCOME(
      node, core_.nodes.read((*live)->recorded.tree, number, format::NodeKind::target));
  return std::string(as_text(node->content()));
}

Outcome<Number> Names::walk(const Caller& caller, std::string_view path, bool follow) {
  Number at = core_.superblock().root;
  std::string left(path);
  for (unsigned followed = 0; !left.empty();) {
    const std::size_t begin = left.find_first_not_of('/');
    if (begin == left.npos) {
      break;
    }
    const std::size_t end = std::min(left.find('/', begin), left.size());
    const std::string name = left.substr(begin, end - begin);
    const bool last = left.find_first_not_of('/', end) == left.npos;
    left.erase(0, end);
    REMORA_FILE_TRY_OUTCOME(next, lookup(caller, at, name));
    REMORA_FILE_TRY_OUTCOME(live, core_.get(*next));
    if ((*live)->is_link() && (follow || !last || !left.empty())) {
      if (++followed > most_links_followed) {
        return Errno{ELOOP};
      }
      REMORA_FILE_TRY_OUTCOME(target, read_link(*next));
      at = target->starts_with('/') ? core_.superblock().root : at;
      left = *target + left;
      continue;
    }
    if (!left.empty() && !(*live)->is_directory()) {
      return Errno{ENOTDIR};
    }
    at = *next;
  }
  return at;
}

}  // namespace remora::file
