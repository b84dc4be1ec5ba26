#include "file/file_testing.h"

namespace remora::file {
namespace {

class VolumeNames : public VolumeTest {};
REMORA_FILE_ON_MEDIA(VolumeNames);

TEST_P(VolumeNames, are_there_after_a_cut_once_persistent) {
  const Number folder = make_directory("folder");
  const Outcome<Made> made = volume_->create(root(), folder, "file", 0640);
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(volume_->wait(made->receipt).ok());
  cut();
  EXPECT_EQ(*volume_->walk(root(), "/folder/file"), made->number);
  EXPECT_EQ(attributes(made->number).mode, S_IFREG | 0640u);
  EXPECT_EQ(attributes(folder).links, 2u);
  EXPECT_EQ(attributes(top()).links, 3u);
  const CheckReport report = checked();
  EXPECT_EQ(report.directories, 2u);
  EXPECT_EQ(report.files, 1u);
}

TEST_P(VolumeNames, answer_with_posix_errnos) {
  const Number file = make("file");
  const Number folder = make_directory("folder");
  make("inside", folder);
  const auto error = [](const auto& outcome) { return outcome.error(); };
  EXPECT_EQ(error(volume_->create(root(), top(), "file", 0644)), EEXIST);
  EXPECT_EQ(error(volume_->create(root(), top(), "", 0644)), ENOENT);
  EXPECT_EQ(error(volume_->create(root(), top(), "a/b", 0644)), EINVAL);
  EXPECT_EQ(error(volume_->create(root(), top(), std::string(256, 'x'), 0644)), ENAMETOOLONG);
  EXPECT_EQ(error(volume_->create(root(), file, "x", 0644)), ENOTDIR);
  EXPECT_EQ(error(volume_->lookup(root(), top(), "none")), ENOENT);
  EXPECT_EQ(error(volume_->unlink(root(), top(), "none")), ENOENT);
  EXPECT_EQ(error(volume_->unlink(root(), top(), "folder")), EISDIR);
  EXPECT_EQ(error(volume_->remove_directory(root(), top(), "file")), ENOTDIR);
  EXPECT_EQ(error(volume_->remove_directory(root(), top(), "folder")), ENOTEMPTY);
  EXPECT_EQ(error(volume_->link(root(), folder, top(), "other")), EPERM);
  EXPECT_EQ(error(volume_->link(root(), file, top(), "folder")), EEXIST);
  EXPECT_EQ(error(volume_->symlink(root(), top(), "link", "")), ENOENT);
  EXPECT_EQ(error(volume_->symlink(root(), top(), "link", std::string(4096, 'x'))), ENAMETOOLONG);
  EXPECT_EQ(error(volume_->read_link(file)), EINVAL);
  EXPECT_EQ(error(volume_->rename(root(), top(), "folder", folder, "x")), EINVAL);
  EXPECT_EQ(error(volume_->rename(root(), top(), "file", top(), "folder")), EISDIR);
  EXPECT_EQ(error(volume_->rename(root(), top(), "folder", top(), "file")), ENOTDIR);
  EXPECT_EQ(error(volume_->rename(root(), top(), "none", top(), "x")), ENOENT);
  EXPECT_EQ(error(volume_->rename(root(), top(), "file", top(), "folder", Rename::no_replace)),
            EEXIST);
  EXPECT_EQ(error(volume_->rename(root(), top(), "file", top(), "x", Rename::exchange)), ENOENT);
  EXPECT_EQ(error(volume_->attributes(12345)), ESTALE);
  EXPECT_EQ(error(volume_->attributes(0)), ESTALE);
  checked();
}

TEST_P(VolumeNames, judge_rights_by_user_and_group) {
  const auto error = [](const auto& outcome) { return outcome.error(); };
  ASSERT_TRUE(volume_->create(user(7), top(), "seven", 0640).ok());
  const Number seven = *volume_->walk(root(), "/seven");
  EXPECT_EQ(error(volume_->access(user(7), seven, may_read | may_write)), 0);
  EXPECT_EQ(error(volume_->access(user(8), seven, may_read)), EACCES);
  EXPECT_EQ(error(volume_->access(Caller{8, 8, {7}, 1}, seven, may_read)), 0);
  EXPECT_EQ(error(volume_->access(Caller{8, 8, {7}, 1}, seven, may_write)), EACCES);
  EXPECT_EQ(error(volume_->change_attributes(user(8), seven, {.mode = 0777})), EPERM);
  EXPECT_EQ(error(volume_->change_attributes(user(7), seven, {.uid = 8})), EPERM);
  EXPECT_EQ(error(volume_->change_attributes(user(7), seven, {.mode = 0600})), 0);
  ASSERT_TRUE(volume_->make_directory(user(7), top(), "own", 0700).ok());
  const Number own = *volume_->walk(root(), "/own");
  EXPECT_EQ(error(volume_->create(user(8), own, "x", 0644)), EACCES);
  EXPECT_EQ(error(volume_->lookup(user(8), own, "x")), EACCES);
  ASSERT_TRUE(volume_->change_attributes(root(), top(), {.mode = 01777}).ok());
  EXPECT_EQ(error(volume_->unlink(user(8), top(), "seven")), EPERM);
  EXPECT_EQ(error(volume_->rename(user(8), top(), "seven", top(), "eight")), EPERM);
  EXPECT_EQ(error(volume_->unlink(user(7), top(), "seven")), 0);
}

TEST_P(VolumeNames, count_links_and_free_with_the_last) {
  const Number file = make("a");
  write(file, 0, "text");
  fsync(file);
  ASSERT_TRUE(volume_->link(root(), file, top(), "b").ok());
  EXPECT_EQ(attributes(file).links, 2u);
  ASSERT_TRUE(volume_->unlink(root(), top(), "a").ok());
  EXPECT_EQ(read(file), "text");
  ASSERT_TRUE(volume_->unlink(root(), top(), "b").ok());
  EXPECT_EQ(volume_->attributes(file).error(), ESTALE);
  EXPECT_EQ(checked().files, 0u);
}

TEST_P(VolumeNames, of_open_files_may_go_and_a_cut_frees_those) {
  const Number file = make("a");
  write(file, 0, std::string(50000, 'x'));
  fsync(file);
  ASSERT_TRUE(volume_->hold(file).ok());
  const Outcome<Receipt> gone = volume_->unlink(root(), top(), "a");
  ASSERT_TRUE(gone.ok());
  EXPECT_EQ(read(file).size(), 50000u);
  EXPECT_EQ(checked().orphans, 1u);
  cut();
  EXPECT_EQ(volume_->recovered(), 1u);
  EXPECT_EQ(checked().orphans, 0u);
  EXPECT_EQ(volume_->attributes(file).error(), ESTALE);
}

TEST_P(VolumeNames, leave_the_list_of_orphans_in_any_order) {
  std::vector<Number> files;
  for (int i = 0; i < 9; ++i) {
    files.push_back(make("f" + std::to_string(i)));
    ASSERT_TRUE(volume_->hold(files.back()).ok());
    ASSERT_TRUE(volume_->unlink(root(), top(), "f" + std::to_string(i)).ok());
  }
  for (const std::size_t i : {4u, 7u, 0u, 3u, 2u, 3u, 0u, 1u, 0u}) {
    EXPECT_EQ(checked().orphans, files.size());
    ASSERT_TRUE(volume_->release(files[i]).ok());
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
  }
  EXPECT_EQ(checked().orphans, 0u);
}

TEST_P(VolumeNames, move_with_parents_and_links) {
  const Number a = make_directory("a");
  const Number b = make_directory("b");
  const Number inner = make_directory("inner", a);
  ASSERT_TRUE(volume_->rename(root(), a, "inner", b, "moved").ok());
  EXPECT_EQ(*volume_->parent(inner), b);
  EXPECT_EQ(attributes(a).links, 2u);
  EXPECT_EQ(attributes(b).links, 3u);
  const Number file = make("file", a);
  ASSERT_TRUE(volume_->rename(root(), a, "file", b, "moved", Rename::exchange).ok());
  EXPECT_EQ(*volume_->walk(root(), "/a/file"), inner);
  EXPECT_EQ(*volume_->walk(root(), "/b/moved"), file);
  EXPECT_EQ(*volume_->parent(inner), a);
  make_directory("empty");
  ASSERT_TRUE(volume_->rename(root(), a, "file", top(), "empty").ok());
  EXPECT_EQ(*volume_->walk(root(), "/empty"), inner);
  ASSERT_TRUE(volume_->rename(root(), top(), "empty", top(), "x").ok());
  EXPECT_EQ(entries(top()).size(), 5u);
  reopen();
  EXPECT_EQ(*volume_->walk(root(), "/x"), inner);
  checked();
}

TEST_P(VolumeNames, follow_links_and_notice_loops) {
  const Number folder = make_directory("folder");
  const Number file = make("file", folder);
  ASSERT_TRUE(volume_->symlink(root(), top(), "there", "folder").ok());
  ASSERT_TRUE(volume_->symlink(root(), folder, "up", "../there/file").ok());
  ASSERT_TRUE(volume_->symlink(root(), top(), "loop", "/loop").ok());
  EXPECT_EQ(*volume_->walk(root(), "/there/up"), file);
  EXPECT_EQ(*volume_->walk(root(), "there//./up"), file);
  EXPECT_EQ(volume_->walk(root(), "/loop").error(), ELOOP);
  EXPECT_EQ(volume_->walk(root(), "/there/up/").error(), ENOTDIR);
  EXPECT_EQ(volume_->walk(root(), "/folder/file/x").error(), ENOTDIR);
  EXPECT_NE(*volume_->walk(root(), "/there", false), folder);
  EXPECT_EQ(*volume_->walk(root(), "/there", true), folder);
}

// Many names of all lengths come and go in one directory, as in a map.
TEST_P(VolumeNames, of_a_large_directory_agree_with_a_map) {
  std::map<std::string, Number> model;
  Random random(5);
  for (int step = 0; step < 3000; ++step) {
    std::string name = "n" + std::to_string(random.below(600));
    name.resize(std::max<std::size_t>(name.size(), random.chance(1, 10) ? 255 : 6), 'x');
    if (model.contains(name)) {
      ASSERT_TRUE(volume_->unlink(root(), top(), name).ok());
      model.erase(name);
    } else {
      model[name] = make(name);
    }
  }
  const std::map<std::string, Number> expected = model;
  reopen();
  std::map<std::string, Number> found = entries(top());
  found.erase(".");
  found.erase("..");
  EXPECT_EQ(found, expected);
  checked();
  for (const auto& [name, number] : expected) {
    ASSERT_TRUE(volume_->unlink(root(), top(), name).ok()) << name;
  }
  EXPECT_EQ(checked().files, 0u);
}

TEST_P(VolumeNames, have_attributes_of_their_own) {
  const Number file = make("file");
  ASSERT_TRUE(volume_->set_attribute(root(), file, "user.color", "red").ok());
  ASSERT_TRUE(volume_->set_attribute(root(), file, "user.size", std::string(9000, 'l')).ok());
  EXPECT_EQ(volume_->set_attribute(root(), file, "user.color", "x", SetAttribute::create).error(),
            EEXIST);
  EXPECT_EQ(volume_->set_attribute(root(), file, "user.none", "x", SetAttribute::replace).error(),
            ENODATA);
  EXPECT_EQ(volume_->set_attribute(root(), file, "odd", "x").error(), EOPNOTSUPP);
  reopen();
  EXPECT_EQ(*volume_->attribute(root(), file, "user.color"), "red");
  EXPECT_EQ(volume_->attribute_names(file)->size(), 2u);
  EXPECT_EQ(volume_->attribute(root(), file, "user.none").error(), ENODATA);
  EXPECT_EQ(volume_->attribute(user(9), file, "trusted.x").error(), ENODATA);
  ASSERT_TRUE(volume_->remove_attribute(root(), file, "user.size").ok());
  EXPECT_EQ(volume_->set_attribute(root(), file, "user.big", std::string(70000, 'x')).error(),
            ENOSPC);
  checked();
}

}  // namespace
}  // namespace remora::file
