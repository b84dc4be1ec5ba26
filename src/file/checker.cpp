#include "file/checker.h"

#include <sys/stat.h>

#include <vector>

namespace remora::file {

using format::block_bytes;

namespace {

constexpr std::size_t most_problems = 100;

}  // namespace

void Checker::problem(std::string text) {
  if (report_.problems.size() < most_problems) {
    report_.problems.push_back(std::move(text));
  }
}

bool Checker::reach(Offset place, const std::string& what) {
  Pool& pool = core_.pool();
  if (!pool.is_live(place) || pool.account_of(place) != Account::files) {
    problem(what + " at " + std::to_string(place) + " is no object of files");
    return false;
  }
  if (!reached_.insert(place).second) {
    problem(what + " at " + std::to_string(place) + " is reached twice");
    return false;
  }
  return true;
}

CheckReport Checker::check() {
  reach(core_.superblock_place(), "the superblock");
  const Number root = core_.superblock().root;
  // Directories are visited from a list: a chain of them may be long.
  visit_orphans();
  visit(root, root, "/");
  core_.pool().for_each_object([this](Offset place, std::uint64_t size_bytes) {
    if (core_.pool().account_of(place) == Account::files && !reached_.contains(place)) {
      problem("the object of " + std::to_string(size_bytes) + " bytes at " + std::to_string(place) +
              " is lost: nothing leads to it");
    }
  });
  for (const auto& [number, names] : names_) {
    const Outcome<Live*> live = core_.get(number);
    if (live.ok() && !(*live)->is_directory() && (*live)->recorded.links != names) {
      problem("inode " + std::to_string(number) + " has " + std::to_string(names) +
              " names and says " + std::to_string((*live)->recorded.links));
    }
  }
  return report_;
}

void Checker::visit_orphans() {
  for (Number number = core_.superblock().orphans; number != 0;) {
    const Outcome<Live*> live = core_.get(number);
    if (!live.ok() || !orphans_.insert(number).second) {
      problem("the list of orphans is damaged at inode " + std::to_string(number));
      return;
    }
    ++report_.orphans;
    if ((*live)->recorded.links == 0 && reach(number, "the orphan")) {
      visit_inode(**live);
    }
    number = (*live)->recorded.next_orphan;
  }
}

void Checker::visit_inode(Live& live) {
  const format::Inode& inode = live.recorded;
  const std::string whose = " of inode " + std::to_string(live.number);
  if (inode.attributes != 0) {
    reach(inode.attributes, "the attributes" + whose);
    if (!core_.nodes.read(inode.attributes, live.number, format::NodeKind::attributes).ok()) {
      problem(core_.nodes.damage());
    }
  }
  if (live.is_link()) {
    reach(inode.tree, "the target" + whose);
    const auto target = core_.nodes.read(inode.tree, live.number, format::NodeKind::target);
    if (!target.ok() || target->content().size() != inode.size) {
      problem("the target" + whose + " is damaged");
    }
  } else if (live.is_file()) {
    visit_extents(live);
  }
}

bool Checker::reach_tree(Live& live) {
  bool whole = true;
  const Errno visited =
      core_.nodes.for_each_node(Core::tree_of(live), [&](Offset place, const NodeView& /*node*/) {
        whole = reach(place, "a node of inode " + std::to_string(live.number)) && whole;
      });
  if (!visited.ok()) {
    problem(core_.nodes.damage());
  }
  return visited.ok() && whole;
}

void Checker::visit_extents(Live& live) {
  if (!reach_tree(live)) {
    return;
  }
  Pool& pool = core_.pool();
  const std::string whose = " of inode " + std::to_string(live.number);
  std::uint64_t next = 0;
  std::uint64_t blocks = 0;
  std::optional<Entry> before;
  for (;;) {
    const auto found = core_.nodes.first_from(Core::tree_of(live), before ? before->key + 1 : 0);
    if (!found.ok() || !*found) {
      break;
    }
    const Entry extent = **found;
    ++report_.extents;
    if (extent.key < next || extent.detail == 0) {
      problem("extents" + whose + " overlap at block " + std::to_string(extent.key));
    }
    next = extent.key + extent.detail;
    blocks += extent.detail;
    const Offset end = extent.value + extent.detail * block_bytes;
    for (Offset run = extent.value; run < end;) {
      if (!reach(run, "a run" + whose)) {
        break;
      }
      run += pool.object(run).size();
      if (run > end) {
        problem("a run" + whose + " is longer than its extent at block " +
                std::to_string(extent.key));
      }
    }
    before = extent;
  }
  report_.data_blocks += blocks;
  if (blocks != live.recorded.blocks) {
    problem("inode " + std::to_string(live.number) + " has " + std::to_string(blocks) +
            " blocks and says " + std::to_string(live.recorded.blocks));
  }
}

void Checker::visit_directory(Live& live, const std::string& path) {
  if (!reach_tree(live)) {
    return;
  }
  std::uint32_t directories = 0;
  std::vector<std::pair<Number, std::string>> entries;
  std::uint64_t key = 0;
  for (;;) {
    const auto found = core_.nodes.first_from(Core::tree_of(live), key);
    if (!found.ok() || !*found) {
      break;
    }
    const Entry& entry = **found;
    const std::uint64_t hash = format::key_of(entry.name, core_.superblock().hash_seed);
    if (round_down(entry.key, format::names_of_a_hash) != hash) {
      problem("the name " + path + std::string(entry.name) + " is in a wrong place");
    }
    const Outcome<Live*> file = core_.get(entry.value);
    if (!file.ok()) {
      problem("the name " + path + std::string(entry.name) + " leads to no inode");
    } else {
      if (((*file)->recorded.mode & S_IFMT) != entry.detail) {
        problem("the name " + path + std::string(entry.name) + " has another type than its inode");
      }
      directories += (*file)->is_directory() ? 1u : 0u;
      entries.emplace_back(entry.value, path + std::string(entry.name));
    }
    key = entry.key + 1;
  }
  if (live.recorded.links != directories + 2) {
    problem("the directory " + path + " has " + std::to_string(directories) +
            " directories in it and " + std::to_string(live.recorded.links) + " links");
  }
  for (const auto& [number, name] : entries) {
    visit(number, live.number, name);
  }
}

void Checker::visit(Number number, Number parent, const std::string& path) {
  const Outcome<Live*> found = core_.get(number);
  if (!found.ok()) {
    problem(path + ": " + core_.nodes.damage());
    return;
  }
  Live& live = **found;
  if (live.is_directory()) {
    if (!reach(number, path)) {
      return;
    }
    ++report_.directories;
    if (live.recorded.parent != parent) {
      problem("the directory " + path + " says that its parent is inode " +
              std::to_string(live.recorded.parent));
    }
    if (live.recorded.attributes != 0) {
      visit_inode(live);
    }
    visit_directory(live, path == "/" ? path : path + "/");
    return;
  }
  if (++names_[number] == 1) {
    ++report_.files;
    if (reach(number, path)) {
      visit_inode(live);
    }
  }
}

}  // namespace remora::file
