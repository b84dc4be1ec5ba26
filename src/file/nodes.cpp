#include "file/nodes.h"

#include <algorithm>

namespace remora::file {

using format::EntryHead;
using format::NodeHead;
using format::NodeKind;

namespace {

bool is_sound_name(std::string_view name) {
  return !name.empty() && name.size() <= format::longest_name && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

EntryHead entry_at(ConstBytes node, std::size_t offset) {
  EntryHead head;
  std::memcpy(&head, node.data() + offset, sizeof head);
  return head;
}

// The entries of a tree's node, which its head says it has: whether they are there, in order.
bool entries_are_sound(ConstBytes node, const NodeHead& head) {
  const bool names = head.kind == NodeKind::directory && head.height == 0;
  std::size_t at = sizeof head;
  std::uint64_t least = 0;
  for (std::size_t i = 0; i < head.count; ++i) {
    if (node.size() - at < sizeof(EntryHead)) {
      return false;
    }
    const EntryHead entry = entry_at(node, at);
    const std::size_t size = format::entry_bytes(entry.name_bytes);
    if (node.size() - at < size || entry.key < least || entry.value == 0 ||
        (names ? !is_sound_name(as_text(node.subspan(at + sizeof entry, entry.name_bytes)))
               : entry.name_bytes != 0)) {
      return false;
    }
    least = entry.key + 1;
    at += size;
  }
  return at == node.size() && head.count != 0;
}

}  // namespace

Entry NodeView::at(std::size_t offset) const {
  const EntryHead head = entry_at(bytes_, offset);
  return {head.key, head.value, head.detail,
          as_text(bytes_.subspan(offset + sizeof head, head.name_bytes))};
}

std::vector<Entry> NodeView::entries() const {
  std::vector<Entry> entries;
  entries.reserve(head().count + std::size_t{2});
  for (std::size_t at_byte = sizeof(NodeHead); at_byte < bytes_.size();) {
    entries.push_back(at(at_byte));
    at_byte += format::entry_bytes(entries.back().name.size());
  }
  return entries;
}

std::size_t NodeView::upper_bound(std::uint64_t key) const {
  std::size_t low = 0;
  std::size_t high = head().count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::size_t offset = sizeof(NodeHead) + middle * sizeof(EntryHead);
    (load<std::uint64_t>(bytes_.data() + offset) > key ? high : low) =
        load<std::uint64_t>(bytes_.data() + offset) > key ? middle : middle + 1;
  }
  return low;
}

std::optional<Entry> NodeView::first_from(std::uint64_t key) const {
  if (!has_names()) {
    const std::size_t index = key == 0 ? 0 : upper_bound(key - 1);
    return index == head().count ? std::nullopt
                                 : std::optional(at(sizeof(NodeHead) + index * sizeof(EntryHead)));
  }
  for (std::size_t offset = sizeof(NodeHead); offset < bytes_.size();) {
    const EntryHead entry = entry_at(bytes_, offset);
    if (entry.key >= key) {
      return at(offset);
    }
    offset += format::entry_bytes(entry.name_bytes);
  }
  return std::nullopt;
}

std::optional<Entry> NodeView::last_upto(std::uint64_t key) const {
  if (!has_names()) {
    const std::size_t index = upper_bound(key);
    return index == 0 ? std::nullopt
                      : std::optional(at(sizeof(NodeHead) + (index - 1) * sizeof(EntryHead)));
  }
  std::optional<Entry> last;
  for (std::size_t offset = sizeof(NodeHead); offset < bytes_.size();) {
    const Entry entry = at(offset);
    if (entry.key > key) {
      break;
    }
    last = entry;
    offset += format::entry_bytes(entry.name.size());
  }
  return last;
}

Errno Nodes::damaged(std::string what) {
  if (damage_.empty()) {
    damage_ = std::move(what);
  }
  return Errno{EIO};
}

std::string Nodes::fault_of(Offset place, Number owner, NodeKind kind) const {
  if (!pool_.is_live(place) || pool_.account_of(place) != Account::files) {
    return "there is no object of files";
  }
  const ConstBytes object = pool_.object(place);
  NodeHead head;
  std::memcpy(&head, object.data(), sizeof head);
  if (head.magic != format::node_magic || head.bytes < sizeof head || head.bytes > object.size()) {
    return "its head is damaged";
  }
  const ConstBytes bytes = object.first(head.bytes);
  if (format::checksum_of(bytes) != head.checksum) {
    return "its checksum is wrong";
  }
  if (head.kind != kind || head.owner != owner || head.place != place) {
    return "it belongs to another file";
  }
  const bool tree = kind == NodeKind::directory || kind == NodeKind::extents;
  if (tree ? !entries_are_sound(bytes, head) : head.count != 0 || head.height != 0) {
    return "its entries do not fit together";
  }
  return "";
}

Outcome<NodeView> Nodes::read(Offset place, Number owner, NodeKind kind) {
  if (!checked_.contains(place)) {
    const std::string fault = fault_of(place, owner, kind);
    if (!fault.empty()) {
      return damaged("the node at " + std::to_string(place) + " of inode " + std::to_string(owner) +
                     " is damaged: " + fault);
    }
    checked_.insert(place);
  }
  const Bytes object = pool_.region().bytes().subspan(place);
  return NodeView(object.first(reinterpret_cast<const NodeHead*>(object.data())->bytes));
}

Outcome<NodeView> Nodes::read_child(const TreeOf& tree, const NodeView& parent,
                                    const Entry& entry) {
  REMORA_FILE_TRY_OUTCOME(node, read(entry.value, tree.owner, tree.kind));
  if (node->height() + 1 != parent.height()) {
    return damaged("the node at " + std::to_string(entry.value) + " of inode " +
                   std::to_string(tree.owner) + " has another height than its parent says");
  }
  return node;
}

Outcome<std::optional<Entry>> Nodes::first_below(const TreeOf& tree, const NodeView& node,
                                                 std::uint64_t key) {
  if (node.height() == 0) {
    return node.first_from(key);
  }
  // The child that the key falls into may have smaller ones only; then it is the next one's first.
  std::optional<Entry> child = node.last_upto(key);
  if (child) {
    REMORA_FILE_TRY_OUTCOME(below, read_child(tree, node, *child));
    REMORA_FILE_TRY_OUTCOME(found, first_below(tree, *below, key));
    if (*found) {
      return found;
    }
  }
  child = node.first_from(child ? child->key + 1 : 0);
  if (!child) {
    return std::optional<Entry>();
  }
  REMORA_FILE_TRY_OUTCOME(below, read_child(tree, node, *child));
  return first_below(tree, *below, key);
}

Outcome<std::optional<Entry>> Nodes::first_from(const TreeOf& tree, std::uint64_t key) {
  if (tree.root == 0) {
    return std::optional<Entry>();
  }
  REMORA_FILE_TRY_OUTCOME(root, read(tree.root, tree.owner, tree.kind));
  return first_below(tree, *root, key);
}

Outcome<std::optional<Entry>> Nodes::last_upto(const TreeOf& tree, std::uint64_t key) {
  if (tree.root == 0) {
    return std::optional<Entry>();
  }
  REMORA_FILE_TRY_OUTCOME(node, read(tree.root, tree.owner, tree.kind));
  while (node->height() != 0) {
    const std::optional<Entry> child = node->last_upto(key);
    if (!child) {
      return child;
    }
    node = read_child(tree, *node, *child);
    REMORA_FILE_TRY(node);
  }
  return node->last_upto(key);
}

Errno Nodes::visit_below(const TreeOf& tree, Offset place, const NodeView& node,
                         const std::function<void(Offset place, const NodeView& node)>& visit) {
  visit(place, node);
  if (node.height() == 0) {
    return Errno{};
  }
  for (const Entry& entry : node.entries()) {
    REMORA_FILE_TRY_OUTCOME(child, read_child(tree, node, entry));
    const std::optional<Entry> first = child->first_from(0);
    if (!first || first->key != entry.key) {
      return damaged("the node at " + std::to_string(place) + " of inode " +
                     std::to_string(tree.owner) + " names another first key than its child has");
    }
    REMORA_FILE_TRY(visit_below(tree, entry.value, *child, visit));
  }
  return Errno{};
}

Errno Nodes::for_each_node(const TreeOf& tree,
                           const std::function<void(Offset place, const NodeView& node)>& visit) {
  if (tree.root == 0) {
    return Errno{};
  }
  REMORA_FILE_TRY_OUTCOME(root, read(tree.root, tree.owner, tree.kind));
  return visit_below(tree, tree.root, *root, visit);
}

}  // namespace remora::file
