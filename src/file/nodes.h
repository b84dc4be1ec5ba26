// Nodes: reads the nodes of a volume. A node is checked in full when it is first read: bounds,
// order of keys, names, checksum, and that it is the owner's; afterwards its bytes are taken as
// they are, since nothing ever changes them.
//
// One owner thread. Views stay valid until the node is freed and its space is used again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "file/format.h"
#include "file/outcome.h"
#include "pmem/pool.h"

namespace remora::file {

struct Entry {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  std::uint32_t detail = 0;
  std::string_view name = {};
};

// The bytes of a node that was checked.
class NodeView {
 public:
  NodeView() = default;
  explicit NodeView(ConstBytes bytes) : bytes_(bytes) {}

  const format::NodeHead& head() const {
    return *reinterpret_cast<const format::NodeHead*>(bytes_.data());
  }
  unsigned height() const { return head().height; }
  ConstBytes content() const { return bytes_.subspan(sizeof(format::NodeHead)); }
  std::vector<Entry> entries() const;
  // The first entry with that key or a larger one; the last with that key or a smaller one.
  std::optional<Entry> first_from(std::uint64_t key) const;
  std::optional<Entry> last_upto(std::uint64_t key) const;

 private:
  bool has_names() const {
    return head().kind == format::NodeKind::directory && head().height == 0;
  }
  Entry at(std::size_t offset) const;
  // Of nodes whose entries have no names: the first entry with a larger key, by its index.
  std::size_t upper_bound(std::uint64_t key) const;

  ConstBytes bytes_;
};

// A tree: which, and whose.
struct TreeOf {
  Number owner = 0;
  format::NodeKind kind = format::NodeKind::extents;
  Offset root = 0;  // 0: it is empty
};

class Nodes {
 public:
  explicit Nodes(Pool& pool) : pool_(pool) {}

  Pool& pool() { return pool_; }
  // EIO when it is damaged; damage() then says what and where.
  Outcome<NodeView> read(Offset place, Number owner, format::NodeKind kind);
  Outcome<NodeView> read_child(const TreeOf& tree, const NodeView& parent, const Entry& entry);
  // It was freed, or never published.
  void forget(Offset place) { checked_.erase(place); }

  // Of a tree: as NodeView has them.
  Outcome<std::optional<Entry>> first_from(const TreeOf& tree, std::uint64_t key);
  Outcome<std::optional<Entry>> last_upto(const TreeOf& tree, std::uint64_t key);
  // Every node of a tree, from the top.
  Errno for_each_node(const TreeOf& tree,
                      const std::function<void(Offset place, const NodeView& node)>& visit);

  // The first damage that was found, or nothing.
  const std::string& damage() const { return damage_; }
  Errno damaged(std::string what);

 private:
  // What is wrong with it, or nothing.
  std::string fault_of(Offset place, Number owner, format::NodeKind kind) const;
  Outcome<std::optional<Entry>> first_below(const TreeOf& tree, const NodeView& node,
                                            std::uint64_t key);
  Errno visit_below(const TreeOf& tree, Offset place, const NodeView& node,
                    const std::function<void(Offset place, const NodeView& node)>& visit);

  Pool& pool_;
  std::unordered_set<Offset> checked_;
  std::string damage_;
};

}  // namespace remora::file
