#include "lab/subjects/files/posix_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace remora::lab {

PosixTree::PosixTree(std::uint32_t mode, std::uint64_t born) {
  files_[0].born = born;
  files_[0].kind = PosixKind::directory;
  files_[0].mode = mode;
}

int PosixTree::fault_of(const std::string& name) {
  return name.size() > 255 ? ENAMETOOLONG : 0;
}

int PosixTree::make(int directory, const std::string& name, PosixKind kind, std::uint32_t mode,
                    const std::string& target, std::uint64_t born) {
  if (const int fault = fault_of(name)) {
    return fault;
  }
  PosixFile& above = files_.at(directory);
  if (above.kind != PosixKind::directory) {
    return ENOTDIR;
  }
  if (above.entries.contains(name)) {
    return EEXIST;
  }
  const int id = next_id_++;
  above.entries[name] = id;
  PosixFile& file = files_[id];
  file.kind = kind;
  file.mode = mode;
  file.target = target;
  file.born = born;
  file.parent = directory;
  file.names = 1;
  return 0;
}

int PosixTree::link(int file, int directory, const std::string& name) {
  if (files_.at(directory).kind != PosixKind::directory) {
    return ENOTDIR;
  }
  if (files_.at(directory).entries.contains(name)) {
    return EEXIST;
  }
  if (files_.at(file).kind == PosixKind::directory) {
    return EPERM;
  }
  files_.at(directory).entries[name] = file;
  ++files_.at(file).names;
  return 0;
}

void PosixTree::drop(int id) {
  PosixFile& file = files_.at(id);
  if (file.kind == PosixKind::directory || --file.names == 0) {
    files_.erase(id);
  }
}

int PosixTree::unlink(int directory, const std::string& name) {
  auto& entries = files_.at(directory).entries;
  const auto entry = entries.find(name);
  if (entry == entries.end()) {
    return ENOENT;
  }
  if (files_.at(entry->second).kind == PosixKind::directory) {
    return EISDIR;
  }
  const int id = entry->second;
  entries.erase(entry);
  drop(id);
  return 0;
}

int PosixTree::remove_directory(int directory, const std::string& name) {
  auto& entries = files_.at(directory).entries;
  const auto entry = entries.find(name);
  if (entry == entries.end()) {
    return ENOENT;
  }
  const PosixFile& file = files_.at(entry->second);
  if (file.kind != PosixKind::directory) {
    return ENOTDIR;
  }
  if (!file.entries.empty()) {
    return ENOTEMPTY;
  }
  const int id = entry->second;
  entries.erase(entry);
  drop(id);
  return 0;
}

bool PosixTree::is_within(int directory, int ancestor) const {
  for (int at = directory;; at = files_.at(at).parent) {
    if (at == ancestor) {
      return true;
    }
    if (at == 0) {
      return false;
    }
  }
}

int PosixTree::rename(int from, const std::string& old_name, int to, const std::string& new_name,
                      PosixRename how) {
  auto& old_entries = files_.at(from).entries;
  auto& new_entries = files_.at(to).entries;
  if (!old_entries.contains(old_name)) {
    return ENOENT;
  }
  const int file = old_entries.at(old_name);
  const bool moves_directory = files_.at(file).kind == PosixKind::directory;
  const auto there = new_entries.find(new_name);
  const int other = there == new_entries.end() ? -1 : there->second;
  if (how == PosixRename::no_replace && other >= 0) {
    return EEXIST;
  }
  if (how == PosixRename::exchange && other < 0) {
    return ENOENT;
  }
  if (other == file) {
    return 0;
  }
  if (moves_directory && is_within(to, file)) {
    return EINVAL;
  }
  if (other >= 0) {
    const PosixFile& target = files_.at(other);
    const bool is_directory = target.kind == PosixKind::directory;
    if (is_directory && is_within(from, other)) {
      return how == PosixRename::exchange ? EINVAL : ENOTEMPTY;
    }
    if (how == PosixRename::exchange) {
      old_entries[old_name] = other;
      new_entries[new_name] = file;
      files_.at(file).parent = to;
      files_.at(other).parent = from;
      return 0;
    }
    if (is_directory != moves_directory) {
      return is_directory ? EISDIR : ENOTDIR;
    }
    if (is_directory && !target.entries.empty()) {
      return ENOTEMPTY;
    }
    drop(other);
  }
  old_entries.erase(old_name);
  new_entries[new_name] = file;
  files_.at(file).parent = to;
  return 0;
}

int PosixTree::change_mode(int file, std::uint32_t mode) {
  files_.at(file).mode = mode;
  return 0;
}

int PosixTree::change_owner(int file, std::uint32_t uid, std::uint32_t gid) {
  files_.at(file).uid = uid;
  files_.at(file).gid = gid;
  return 0;
}

int PosixTree::set_attribute(int file, const std::string& name, const std::string& value) {
  files_.at(file).attributes[name] = value;
  return 0;
}

int PosixTree::remove_attribute(int file, const std::string& name) {
  return files_.at(file).attributes.erase(name) == 0 ? ENODATA : 0;
}

std::vector<int> PosixTree::of_kind(PosixKind kind) const {
  std::vector<int> ids;
  for (const auto& [id, file] : files_) {
    if (file.kind == kind) {
      ids.push_back(id);
    }
  }
  return ids;
}

std::uint32_t PosixTree::links_of(int id) const {
  const PosixFile& file = files_.at(id);
  if (file.kind != PosixKind::directory) {
    return file.names;
  }
  std::uint32_t links = 2;
  for (const auto& [name, entry] : file.entries) {
    links += files_.at(entry).kind == PosixKind::directory ? 1u : 0u;
  }
  return links;
}

std::string describe_line(const std::string& path, char kind, std::uint32_t mode, std::uint32_t uid,
                          std::uint32_t gid, std::uint32_t links, std::uint64_t born,
                          const std::string& same, const std::string& target,
                          const std::map<std::string, std::string>& attributes) {
  std::string line =
      fmt::format("{} {} {:o} {}:{} x{} @{}", path, kind, mode, uid, gid, links, born);
  line += same == path ? "" : " = " + same;
  line += target.empty() ? "" : " -> " + target;
  for (const auto& [name, value] : attributes) {
    line += fmt::format(" {}={}", name, value);
  }
  return line + "\n";
}

void PosixTree::describe(int id, const std::string& path, std::map<int, std::string>& first,
                         std::string& text) const {
  const PosixFile& file = files_.at(id);
  const std::string same = first.emplace(id, path).first->second;
  text += describe_line(path, static_cast<char>(file.kind), file.mode, file.uid, file.gid,
                        links_of(id), file.born, same, file.target, file.attributes);
  for (const auto& [name, entry] : file.entries) {
    describe(entry, path + "/" + name, first, text);
  }
}

std::string PosixTree::describe() const {
  std::map<int, std::string> first;
  std::string text;
  describe(0, "", first, text);
  return text;
}

std::map<int, std::string> PosixTree::paths() const {
  std::map<int, std::string> first;
  std::string text;
  describe(0, "", first, text);
  return first;
}

}  // namespace remora::lab
