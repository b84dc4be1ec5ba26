// Checker: reads all that a volume has, from the root and from the list of orphans, and compares it
// with itself and with the pool: every inode and node is whole and reached once, links are as many
// as names, extents do not overlap and are runs of the pool, and the pool has no other object of
// files.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "file/core.h"
#include "file/volume.h"

namespace remora::file {

class Checker {
 public:
  explicit Checker(Core& core) : core_(core) {}

  CheckReport check();

 private:
  void problem(std::string text);
  // An object that something leads to. False when something else did before.
  bool reach(Offset place, const std::string& what);
  bool reach_tree(Live& live);
  void visit(Number number, Number parent, const std::string& path);
  void visit_directory(Live& live, const std::string& path);
  void visit_extents(Live& live);
  void visit_inode(Live& live);
  void visit_orphans();

  Core& core_;
  CheckReport report_;
  std::unordered_set<Offset> reached_;
  std::unordered_map<Number, std::uint32_t> names_;
  std::unordered_set<Number> orphans_;
  unsigned depth_ = 0;
};

}  // namespace remora::file
