#include "file/tree_edit.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "file/faults.h"
#include "file/file_testing.h"

namespace remora::file {
namespace {

class TreeEditTest : public testing::Test {
 protected:
  TreeEditTest() : pool_(std::move(Pool::create(region_, no_uuid)).value()), nodes_(*pool_) {}

  TreeOf tree() const { return {owner, format::NodeKind::extents, root_}; }
  // Performs the edit in a record of its own.
  void commit(TreeEdit& edit) {
    Change change(nodes_, super_, faults_);
    const Offset root = edit.write(change);
    const Outcome<Ticket> ticket = change.commit();
    ASSERT_TRUE(ticket.ok()) << ticket.error();
    root_ = root;
  }
  std::map<std::uint64_t, std::uint64_t> entries() {
    std::map<std::uint64_t, std::uint64_t> found;
    for (std::uint64_t key = 0;;) {
      const auto entry = nodes_.first_from(tree(), key);
      EXPECT_TRUE(entry.ok()) << nodes_.damage();
      if (!entry.ok() || !*entry) {
        return found;
      }
      found[(*entry)->key] = (*entry)->value;
      key = (*entry)->key + 1;
    }
  }

  static constexpr Number owner = 4096;
  FakeRegion region_{4 << 20, Granularity::cache_line};
  std::unique_ptr<Pool> pool_;
  Nodes nodes_;
  LiveSuperblock super_;
  const Faults faults_;
  Offset root_ = 0;
};

TEST_F(TreeEditTest, agrees_with_a_map_and_keeps_no_node_that_is_not_in_it) {
  std::map<std::uint64_t, std::uint64_t> model;
  Random random(9);
  unsigned highest = 0;
  for (int step = 0; step < 4'000; ++step) {
    const bool shrinks = step % 1'500 > 1'000;
    TreeEdit edit(nodes_, small_nodes, tree());
    for (std::uint64_t change = random.between(1, 2); change != 0; --change) {
      const std::uint64_t key = random.below(2'000);
      if (!model.contains(key) && !shrinks) {
        model[key] = random.between(1, 1'000'000);
        ASSERT_TRUE(edit.insert(Entry{key, model[key], 1}).ok());
      } else if (model.contains(key) && random.chance(1, 4)) {
        model[key] = random.between(1, 1'000'000);
        ASSERT_TRUE(edit.replace(Entry{key, model[key], 1}).ok());
      } else if (model.contains(key)) {
        model.erase(key);
        ASSERT_TRUE(edit.remove(key).ok());
      }
    }
    commit(edit);
    highest =
        root_ == 0 ? highest : std::max(highest, nodes_.read(root_, owner, tree().kind)->height());
    if (step % 100 == 0) {
      ASSERT_EQ(entries(), model) << step;
    }
  }
  EXPECT_EQ(entries(), model);
  EXPECT_GE(highest, 2u);
  std::uint64_t nodes = 0;
  ASSERT_TRUE(nodes_.for_each_node(tree(), [&nodes](Offset, const NodeView&) { ++nodes; }).ok())
      << nodes_.damage();
  EXPECT_EQ(nodes, pool_->usage().object_count);
}

TEST_F(TreeEditTest, finds_the_neighbours_of_any_key) {
  TreeEdit edit(nodes_, smallest_nodes, tree());
  for (std::uint64_t key = 10; key < 500; key += 10) {
    ASSERT_TRUE(edit.insert(Entry{key, key, 1}).ok());
  }
  commit(edit);
  for (std::uint64_t key = 0; key < 510; ++key) {
    const auto next = nodes_.first_from(tree(), key);
    const auto before = nodes_.last_upto(tree(), key);
    ASSERT_TRUE(next.ok() && before.ok());
    EXPECT_EQ(*next ? (*next)->key : 0,
              key > 490 ? 0 : std::max<std::uint64_t>(10, (key + 9) / 10 * 10));
    EXPECT_EQ(*before ? (*before)->key : 0,
              key < 10 ? 0 : std::min<std::uint64_t>(490, key / 10 * 10));
  }
}

TEST_F(TreeEditTest, makes_room_one_node_at_a_time_and_changes_no_entry) {
  TreeEdit fill(nodes_, smallest_nodes, tree());
  for (std::uint64_t key = 0; key < 25; ++key) {
    ASSERT_TRUE(fill.insert(Entry{key * 10, key + 1, 1}).ok());
  }
  commit(fill);
  const auto before = entries();
  TreeEdit room(nodes_, smallest_nodes, tree());
  const Outcome<bool> split = room.make_room(77);
  ASSERT_TRUE(split.ok() && *split);
  commit(room);
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(nodes_.read(root_, owner, tree().kind)->height(), 1u);
  TreeEdit again(nodes_, smallest_nodes, tree());
  EXPECT_FALSE(*again.make_room(77));
}

TEST_F(TreeEditTest, gives_back_what_a_change_reserved_that_is_not_committed) {
  const std::uint64_t free = pool_->usage().free_bytes;
  {
    TreeEdit edit(nodes_, smallest_nodes, tree());
    ASSERT_TRUE(edit.insert(Entry{1, 1, 1}).ok());
    Change change(nodes_, super_, faults_);
    EXPECT_NE(edit.write(change), 0u);
    EXPECT_LT(pool_->usage().free_bytes, free);
  }
  EXPECT_EQ(pool_->usage().free_bytes, free);
}

}  // namespace
}  // namespace remora::file
