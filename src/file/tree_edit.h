// TreeEdit: changes to one tree that become part of one record. Nodes are read when they are
// needed, changed in DRAM, and written again: a node on the medium never changes. Any number of
// entries may change before write().
//
// A node that outgrows its limit is split; one that shrinks below a quarter joins its neighbour
// where both fit; a branch with one child gives way to it.
#pragma once

#include <memory>
#include <vector>

#include "file/change.h"
#include "file/nodes.h"

namespace remora::file {

struct NodeLimits {
  std::size_t leaf_bytes = 2048;
  std::size_t branch_bytes = 4096;
};

// The smallest that work: a leaf takes two of the longest names and a half, a branch four children.
inline constexpr NodeLimits smallest_nodes{640, 128};

class TreeEdit {
 public:
  TreeEdit(Nodes& nodes, const NodeLimits& limits, const TreeOf& tree)
      : nodes_(nodes), limits_(limits), tree_(tree) {}

  // Names are views that must stay valid until write().
  Errno insert(const Entry& entry);   // the tree has no such key
  Errno replace(const Entry& entry);  // the tree has that key
  Errno remove(std::uint64_t key);    // the tree has that key

  // Splits the topmost node on the way to that key that has no room for another entry: a change
  // that means nothing by itself. False when none is full.
  Outcome<bool> make_room(std::uint64_t key);

  // Adds to the change what is new and what is to be freed. The new root; failures are the
  // change's.
  Offset write(Change& change);

 private:
  struct Node {
    Offset old = 0;  // 0: it is new
    unsigned height = 0;
    bool changed = false;
    std::vector<Entry> entries;
    std::vector<std::unique_ptr<Node>> children;  // of a branch; empty where not read
  };
  enum class What { insert, replace, remove };

  Errno load_root();
  Outcome<Node*> child(Node& node, std::size_t index);
  Errno apply(Node& node, What what, const Entry& entry);
  Errno settle(Node& node, std::size_t index);
  Errno merge(Node& node, std::size_t index);
  Errno settle_root();
  Errno change_at(What what, const Entry& entry);
  std::unique_ptr<Node> split(Node& node);
  void split_child(Node& node, std::size_t index);
  void raise_root();
  std::unique_ptr<Node> make(const NodeView& view, Offset place);
  std::size_t limit(const Node& node) const {
    return node.height == 0 ? limits_.leaf_bytes : limits_.branch_bytes;
  }
  Offset write(Node& node, Change& change);

  Nodes& nodes_;
  const NodeLimits limits_;
  const TreeOf tree_;
  bool loaded_ = false;
  std::unique_ptr<Node> root_;
  std::vector<Offset> gone_;  // nodes that are to be freed and have no successor
};

}  // namespace remora::file
