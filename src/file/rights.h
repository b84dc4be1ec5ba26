// Rights: what a caller may do with a file, by its user and groups. Root may do anything, but for
// executing what nobody may execute.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "file/format.h"

namespace remora::file {

struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups = {};  // besides gid
  std::uint64_t now_ns = 0;                // the time of the call

  bool is_root() const { return uid == 0; }
  bool is_in(std::uint32_t group) const {
    return gid == group || std::ranges::find(groups, group) != groups.end();
  }
};

inline constexpr unsigned may_read = 4;
inline constexpr unsigned may_write = 2;
inline constexpr unsigned may_execute = 1;

inline bool may(const Caller& caller, const format::Inode& inode, unsigned wanted) {
  if (caller.is_root()) {
    const bool directory = (inode.mode & 0170000) == 0040000;
    return (wanted & may_execute) == 0 || directory || (inode.mode & 0111) != 0;
  }
  const unsigned shift = caller.uid == inode.uid ? 6 : caller.is_in(inode.gid) ? 3 : 0;
  return (inode.mode >> shift & wanted) == wanted;
}

inline bool owns(const Caller& caller, const format::Inode& inode) {
  return caller.is_root() || caller.uid == inode.uid;
}

// Whether the caller may remove or replace this entry of the directory, as far as the sticky bit
// says.
inline bool may_remove(const Caller& caller, const format::Inode& directory,
                       const format::Inode& file) {
  return (directory.mode & 01000) == 0 || caller.is_root() || caller.uid == file.uid ||
         caller.uid == directory.uid;
}

}  // namespace remora::file
