#include "file/tree_edit.h"

#include <algorithm>

namespace remora::file {
namespace {

std::size_t bytes_of(const std::vector<Entry>& entries) {
  std::size_t bytes = sizeof(format::NodeHead);
  for (const Entry& entry : entries) {
    bytes += format::entry_bytes(entry.name.size());
  }
  return bytes;
}

// The child that the key falls into.
std::size_t index_of_child(const std::vector<Entry>& entries, std::uint64_t key) {
  const auto after = std::ranges::upper_bound(entries, key, {}, &Entry::key);
  return after == entries.begin() ? 0 : static_cast<std::size_t>(after - entries.begin()) - 1;
}

// Where to cut entries in two so that the larger part is as small as it can be.
std::size_t middle_of(const std::vector<Entry>& entries) {
  const std::size_t half = (bytes_of(entries) - sizeof(format::NodeHead)) / 2;
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
    const std::size_t more = format::entry_bytes(entries[i].name.size());
    if (before + more > half) {
      const bool left = i == 0 || before + more - half < half - before;
      return left ? i + 1 : i;
    }
    before += more;
  }
  return entries.size() - 1;
}

}  // namespace

std::unique_ptr<TreeEdit::Node> TreeEdit::make(const NodeView& view, Offset place) {
  auto node = std::make_unique<Node>();
  node->old = place;
  node->height = view.height();
  node->entries = view.entries();
  if (node->height != 0) {
    node->children.resize(node->entries.size());
  }
  return node;
}

Errno TreeEdit::load_root() {
  if (!loaded_ && tree_.root != 0) {
    REMORA_FILE_TRY_OUTCOME(view, nodes_.read(tree_.root, tree_.owner, tree_.kind));
    root_ = make(*view, tree_.root);
  }
  loaded_ = true;
  return Errno{};
}

Outcome<TreeEdit::Node*> TreeEdit::child(Node& node, std::size_t index) {
  std::unique_ptr<Node>& below = node.children[index];
  if (!below) {
    const Offset place = node.entries[index].value;
    REMORA_FILE_TRY_OUTCOME(view, nodes_.read(place, tree_.owner, tree_.kind));
    if (view->height() + 1 != node.height) {
      return nodes_.damaged("the node at " + std::to_string(place) + " has a wrong height");
    }
    below = make(*view, place);
  }
  return below.get();
}

Errno TreeEdit::insert(const Entry& entry) {
  return change_at(What::insert, entry);
}

Errno TreeEdit::replace(const Entry& entry) {
  return change_at(What::replace, entry);
}

Errno TreeEdit::remove(std::uint64_t key) {
  return change_at(What::remove, Entry{key});
}

Errno TreeEdit::change_at(What what, const Entry& entry) {
  REMORA_FILE_TRY(load_root());
  if (!root_) {
    REMORA_CHECK(what == What::insert, "an empty tree has no such key");
    root_ = std::make_unique<Node>();
  }
  REMORA_FILE_TRY(apply(*root_, what, entry));
  return settle_root();
}

Errno TreeEdit::apply(Node& node, What what, const Entry& entry) {
  node.changed = true;
  if (node.height != 0) {
    const std::size_t index = index_of_child(node.entries, entry.key);
    REMORA_FILE_TRY_OUTCOME(below, child(node, index));
    REMORA_FILE_TRY(apply(**below, what, entry));
    return settle(node, index);
  }
  const auto at = std::ranges::lower_bound(node.entries, entry.key, {}, &Entry::key);
  const bool there = at != node.entries.end() && at->key == entry.key;
  if (there != (what != What::insert)) {
    return nodes_.damaged("a tree of inode " + std::to_string(tree_.owner) +
                          " does not have the keys that it must");
  }
  if (what == What::insert) {
    node.entries.insert(at, entry);
  } else if (what == What::replace) {
    *at = entry;
  } else {
    node.entries.erase(at);
  }
  return Errno{};
}

std::unique_ptr<TreeEdit::Node> TreeEdit::split(Node& node) {
  auto right = std::make_unique<Node>();
  right->height = node.height;
  right->changed = true;
  node.changed = true;
  const auto middle = static_cast<std::ptrdiff_t>(middle_of(node.entries));
  right->entries.assign(node.entries.begin() + middle, node.entries.end());
  node.entries.erase(node.entries.begin() + middle, node.entries.end());
  if (node.height != 0) {
    right->children.assign(std::make_move_iterator(node.children.begin() + middle),
                           std::make_move_iterator(node.children.end()));
    node.children.resize(node.entries.size());
  }
  return right;
}

void TreeEdit::split_child(Node& node, std::size_t index) {
  std::unique_ptr<Node> right = split(*node.children[index]);
  const auto at = static_cast<std::ptrdiff_t>(index) + 1;
  node.entries.insert(node.entries.begin() + at, Entry{right->entries.front().key});
  node.children.insert(node.children.begin() + at, std::move(right));
  node.changed = true;
}

// After a change in that child.
Errno TreeEdit::settle(Node& node, std::size_t index) {
  Node& below = *node.children[index];
  const auto at = static_cast<std::ptrdiff_t>(index);
  if (below.entries.empty()) {
    if (below.old != 0) {
      gone_.push_back(below.old);
    }
    node.entries.erase(node.entries.begin() + at);
    node.children.erase(node.children.begin() + at);
    return Errno{};
  }
  node.entries[index].key = below.entries.front().key;
  const std::size_t bytes = bytes_of(below.entries);
  if (bytes > limit(below)) {
    split_child(node, index);
  } else if (bytes < limit(below) / 4 && node.entries.size() > 1) {
    return merge(node, index == 0 ? 0 : index - 1);
  }
  return Errno{};
}

// That child and the next, where they fit into one with room to spare.
Errno TreeEdit::merge(Node& node, std::size_t index) {
  REMORA_FILE_TRY_OUTCOME(left, child(node, index));
  REMORA_FILE_TRY_OUTCOME(right, child(node, index + 1));
  const std::size_t both =
      bytes_of((*left)->entries) + bytes_of((*right)->entries) - sizeof(format::NodeHead);
  if (both > limit(**left) * 3 / 4) {
    return Errno{};
  }
  (*left)->changed = true;
  (*left)->entries.insert((*left)->entries.end(), (*right)->entries.begin(),
                          (*right)->entries.end());
  std::ranges::move((*right)->children, std::back_inserter((*left)->children));
  if ((*right)->old != 0) {
    gone_.push_back((*right)->old);
  }
  const auto at = static_cast<std::ptrdiff_t>(index) + 1;
  node.entries.erase(node.entries.begin() + at);
  node.children.erase(node.children.begin() + at);
  return Errno{};
}

void TreeEdit::raise_root() {
  auto above = std::make_unique<Node>();
  above->height = root_->height + 1;
  above->changed = true;
  above->entries.push_back(Entry{root_->entries.front().key, root_->old});
  above->children.push_back(std::move(root_));
  root_ = std::move(above);
}

Errno TreeEdit::settle_root() {
  if (!root_->entries.empty() && bytes_of(root_->entries) > limit(*root_)) {
    raise_root();
    split_child(*root_, 0);
  }
  while (root_->height != 0 && root_->entries.size() == 1) {
    REMORA_FILE_TRY_OUTCOME(only, child(*root_, 0));
    if (root_->old != 0) {
      gone_.push_back(root_->old);
    }
    root_ = std::move(root_->children[0]);
  }
  if (root_->entries.empty()) {
    if (root_->old != 0) {
      gone_.push_back(root_->old);
    }
    root_.reset();
  }
  return Errno{};
}

Outcome<bool> TreeEdit::make_room(std::uint64_t key) {
  REMORA_FILE_TRY(load_root());
  const auto is_full = [this](const Node& node) {
    const std::size_t name =
        node.height == 0 && tree_.kind == format::NodeKind::directory ? format::longest_name : 0;
    return node.entries.size() > 1 &&
           bytes_of(node.entries) + format::entry_bytes(name) > limit(node);
  };
  if (!root_) {
    return false;
  }
  if (is_full(*root_)) {
    raise_root();
    split_child(*root_, 0);
    return true;
  }
  std::vector<Node*> path = {root_.get()};
  while (path.back()->height != 0) {
    const std::size_t index = index_of_child(path.back()->entries, key);
    REMORA_FILE_TRY_OUTCOME(below, child(*path.back(), index));
    if (is_full(**below)) {
      split_child(*path.back(), index);
      for (Node* node : path) {
        node->changed = true;
      }
      return true;
    }
    path.push_back(*below);
  }
  return false;
}

Offset TreeEdit::write(Node& node, Change& change) {
  if (!node.changed) {
    return node.old;
  }
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (node.children[i]) {
      node.entries[i].value = write(*node.children[i], change);
    }
  }
  const Offset place = change.add_node(tree_.owner, tree_.kind, node.height, node.entries);
  if (node.old != 0) {
    change.free_node(node.old);
  }
  return place;
}

Offset TreeEdit::write(Change& change) {
  for (const Offset place : gone_) {
    change.free_node(place);
  }
  gone_.clear();
  if (!loaded_) {
    return tree_.root;
  }
  return root_ ? write(*root_, change) : 0;
}

}  // namespace remora::file
