#include "file/attributes.h"

#include <sys/stat.h>

#include "file/faults.h"

namespace remora::file {

namespace {

constexpr std::uint32_t permission_bits = 07777;

}  // namespace

Outcome<ExtendedAttributes> parse_attributes(ConstBytes content) {
  ExtendedAttributes attributes;
  while (!content.empty()) {
    format::AttributeHead head;
    if (content.size() < sizeof head) {
      return Errno{EIO};
    }
    std::memcpy(&head, content.data(), sizeof head);
    content = content.subspan(sizeof head);
    if (!within(head.name_bytes, head.value_bytes, content.size()) || head.name_bytes == 0) {
      return Errno{EIO};
    }
    attributes.emplace(as_text(content.first(head.name_bytes)),
                       as_text(content.subspan(head.name_bytes, head.value_bytes)));
    content = content.subspan(std::size_t{head.name_bytes} + head.value_bytes);
  }
  return attributes;
}

std::string serialize(const ExtendedAttributes& attributes) {
  std::string bytes;
  for (const auto& [name, value] : attributes) {
    const format::AttributeHead head{static_cast<std::uint32_t>(value.size()),
                                     static_cast<std::uint16_t>(name.size()), 0};
    bytes += as_text(object_bytes(head));
    bytes += name;
    bytes += value;
  }
  return bytes;
}

Outcome<Attributes> AttributesOf::get(Number number) {
  REMORA_FILE_TRY_OUTCOME(found, core_.get(number));
  const Live& live = **found;
  const format::Inode& inode = live.recorded;
  std::uint64_t fresh = 0;
  for (const auto& [block, run] : live.fresh) {
    fresh += run.blocks;
  }
  return Attributes{number,        inode.mode,    inode.links,          inode.uid,
                    inode.gid,     live.size,     inode.blocks + fresh, inode.device,
                    live.atime_ns, live.mtime_ns, live.ctime_ns,        inode.born_ns};
}

Errno AttributesOf::check_change(const Caller& caller, const Live& live,
                                 const AttributeChange& wanted) {
  const format::Inode& inode = live.recorded;
  const bool takes_owner = wanted.uid && *wanted.uid != inode.uid;
  const bool takes_group =
      wanted.gid && *wanted.gid != inode.gid && !(owns(caller, inode) && caller.is_in(*wanted.gid));
  const bool touches =
      wanted.mode || wanted.uid || wanted.gid || wanted.atime_ns || wanted.mtime_ns;
  if (!caller.is_root() && (takes_owner || takes_group || (touches && !owns(caller, inode)))) {
    return Errno{EPERM};
  }
  return Errno{};
}

Outcome<Receipt> AttributesOf::change(const Caller& caller, Number number,
                                      const AttributeChange& wanted) {
  REMORA_FILE_TRY(core_.writable());
  REMORA_FILE_TRY_OUTCOME(found, core_.get(number));
  Live& live = **found;
  REMORA_FILE_TRY(check_change(caller, live, wanted));
  if (wanted.size) {
    if (!live.is_file()) {
      return Errno{live.is_directory() ? EISDIR : EINVAL};
    }
    REMORA_FILE_TRY(contents_.truncate(caller, live, *wanted.size));
  }
  if (!wanted.mode && !wanted.uid && !wanted.gid && !wanted.atime_ns && !wanted.mtime_ns) {
    return Receipt{core_.newest()};
  }
  Change change = core_.change();
  format::Inode& inode = change.edit(live);
  if (wanted.mode) {
    std::uint32_t mode = *wanted.mode & permission_bits;
    if (!caller.is_root() && !caller.is_in(inode.gid)) {
      mode &= ~static_cast<std::uint32_t>(S_ISGID);
    }
    inode.mode = (inode.mode & S_IFMT) | mode;
  }
  if (wanted.uid || wanted.gid) {
    inode.uid = wanted.uid.value_or(inode.uid);
    inode.gid = wanted.gid.value_or(inode.gid);
    if (!live.is_directory() && (inode.mode & 0111) != 0) {
      inode.mode &= ~(S_ISUID | ((inode.mode & S_IXGRP) != 0 ? S_ISGID : 0u));
    }
  }
  inode.atime_ns = wanted.atime_ns.value_or(inode.atime_ns);
  inode.mtime_ns = wanted.mtime_ns.value_or(inode.mtime_ns);
  inode.ctime_ns = caller.now_ns;
  REMORA_FILE_TRY_OUTCOME(ticket, core_.commit(change));
  return Receipt{*ticket};
}

Outcome<ExtendedAttributes> AttributesOf::read(const Live& live) {
  if (live.recorded.attributes == 0) {
    return ExtendedAttributes();
  }
  REMORA_FILE_TRY_OUTCOME(
      node, core_.nodes.read(live.recorded.attributes, live.number, format::NodeKind::attributes));
  Outcome<ExtendedAttributes> attributes = parse_attributes(node->content());
  return attributes.ok() ? attributes
                         : core_.nodes.damaged("the attributes of inode " +
                                               std::to_string(live.number) + " are damaged");
}

// As Linux has it: user.* is for files and directories, by their rights; trusted.* is for root;
// the rest is read by all and set by the owner.
Errno AttributesOf::check_extended(const Caller& caller, const Live& live, std::string_view name,
                                   unsigned rights) {
  if (name.empty() || name.size() > format::longest_name) {
    return Errno{ERANGE};
  }
  if (name.starts_with("user.")) {
    if (!live.is_file() && !live.is_directory()) {
      return Errno{rights == may_write ? EPERM : ENODATA};
    }
    return Errno{may(caller, live.recorded, rights) ? 0 : EACCES};
  }
  if (name.starts_with("trusted.")) {
    return Errno{caller.is_root() ? 0 : rights == may_write ? EPERM : ENODATA};
  }
  if (!name.starts_with("security.") && !name.starts_with("system.")) {
    return Errno{EOPNOTSUPP};
  }
  return Errno{rights == may_write && !owns(caller, live.recorded) ? EPERM : 0};
}

Outcome<std::string> AttributesOf::extended(const Caller& caller, Number number,
                                            std::string_view name) {
  REMORA_FILE_TRY_OUTCOME(live, core_.get(number));
  REMORA_FILE_TRY(check_extended(caller, **live, name, may_read));
  REMORA_FILE_TRY_OUTCOME(attributes, read(**live));
  const auto there = attributes->find(name);
  return there == attributes->end() ? Outcome<std::string>(Errno{ENODATA})
                                    : Outcome<std::string>(there->second);
}

Outcome<std::vector<std::string>> AttributesOf::extended_names(Number number) {
  REMORA_FILE_TRY_OUTCOME(live, core_.get(number));
  REMORA_FILE_TRY_OUTCOME(attributes, read(**live));
  std::vector<std::string> names;
  for (const auto& [name, value] : *attributes) {
    names.push_back(name);
  }
  return names;
}

Outcome<Receipt> AttributesOf::set_extended(const Caller& caller, Number number,
                                            std::string_view name,
                                            std::optional<std::string_view> value,
                                            SetAttribute how) {
  REMORA_FILE_TRY(core_.writable());
  REMORA_FILE_TRY_OUTCOME(found, core_.get(number));
  Live& live = **found;
  REMORA_FILE_TRY(check_extended(caller, live, name, may_write));
  REMORA_FILE_TRY_OUTCOME(attributes, read(live));
  const bool there = attributes->contains(name);
  if (!there && (!value || how == SetAttribute::replace)) {
    return Errno{ENODATA};
  }
  if (there && value && how == SetAttribute::create) {
    return Errno{EEXIST};
  }
  if (value) {
    (*attributes)[std::string(name)] = *value;
  } else {
    attributes->erase(attributes->find(name));
  }
  std::size_t bytes = 0;
  for (const auto& [its_name, its_value] : *attributes) {
    bytes += sizeof(format::AttributeHead) + its_name.size() + its_value.size();
  }
  if (bytes > format::most_attribute_bytes) {
    return Errno{ENOSPC};
  }
  if (value) {
    REMORA_FILE_TRY(core_.creating());
    return write_extended(caller, live, *attributes);
  }
  return core_.deleting([&] { return write_extended(caller, live, *attributes); });
}

Outcome<Receipt> AttributesOf::write_extended(const Caller& caller, Live& live,
                                              const ExtendedAttributes& attributes) {
  Change change = core_.change();
  format::Inode& inode = change.edit(live);
  if (inode.attributes != 0) {
    Change early = core_.change();
    const bool in_two = core_.planted(faults::attributes_in_two);
    (in_two ? early : change).free_node(inode.attributes);
    if (in_two) {
      REMORA_FILE_TRY(core_.commit(early));
    }
  }
  const std::string bytes = serialize(attributes);
  inode.attributes =
      attributes.empty()
          ? 0
          : change.add_bytes(live.number, format::NodeKind::attributes, as_bytes(bytes));
  inode.ctime_ns = caller.now_ns;
  REMORA_FILE_TRY_OUTCOME(ticket, core_.commit(change));
  return Receipt{*ticket};
}

}  // namespace remora::file
