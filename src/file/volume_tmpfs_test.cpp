// The same random calls on files of a volume and on a folder of the system in memory: every errno,
// and everything that stat, readlink, readdir and read tell, is the same.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>

#include "base/folder_testing.h"
#include "file/file_testing.h"

namespace remora::file {
namespace {

class VolumeTmpfs : public VolumeTest {
 protected:
  VolumeTmpfs() : VolumeTest(16 << 20) {}

  struct Parent {
    int error = 0;
    Number directory = 0;
    std::string name;
  };

  // What the last name of the path is in; as the system follows links on the way there.
  Parent parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == path.npos ? "" : path.substr(0, slash);
    const Outcome<Number> directory = volume_->walk(root(), above);
    const bool other = directory.ok() && !S_ISDIR(attributes(*directory).mode);
    return {other ? ENOTDIR : directory.error(), *directory,
            path.substr(slash == path.npos ? 0 : slash + 1)};
  }
  int in_parent(const std::string& path, const std::function<int(const Parent& parent)>& op) {
    const Parent parent = parent_of(path);
    return parent.error != 0 ? parent.error : op(parent);
  }
  int at_path(const std::string& path, bool follow, const std::function<int(Number file)>& op) {
    const Outcome<Number> file = volume_->walk(root(), path, follow);
    return file.ok() ? op(*file) : file.error();
  }
  static int error_of(int result) { return result < 0 ? errno : 0; }

  std::string any_path() {
    std::string path(1, static_cast<char>('a' + random_.below(4)));
    while (random_.chance(1, 2) && path.size() < 6) {
      path += std::string("/") + static_cast<char>('a' + random_.below(4));
    }
    return path;
  }
  std::string real(const std::string& path) const { return folder_.path() / path; }

  // One call on both, by chance: what each gave.
  std::pair<int, int> call(std::string& what);
  std::pair<int, int> call_names(std::string& what);
  std::pair<int, int> call_bytes(std::string& what);
  void compare(const std::string& path, Number directory);

  Random random_{23};
  TestFolder folder_{memory_place()};
};
INSTANTIATE_TEST_SUITE_P(media, VolumeTmpfs, testing::Values(Granularity::cache_line), medium_name);

std::pair<int, int> VolumeTmpfs::call_names(std::string& what) {
  const std::string path = any_path();
  const std::string other = any_path();
  what = path + " " + other;
  switch (random_.below(8)) {
    case 0:
      what = "create " + what;
      return {in_parent(path,
                        [&](const Parent& in) {
                          return volume_->create(root(), in.directory, in.name, 0640).error();
                        }),
              error_of(::mknod(real(path).c_str(), S_IFREG | 0640, 0))};
    case 1:
      what = "mkdir " + what;
      return {
          in_parent(path,
                    [&](const Parent& in) {
                      return volume_->make_directory(root(), in.directory, in.name, 0750).error();
                    }),
          error_of(::mkdir(real(path).c_str(), 0750))};
    case 2:
      what = "symlink " + what;
      return {in_parent(path,
                        [&](const Parent& in) {
                          return volume_->symlink(root(), in.directory, in.name, other).error();
                        }),
              error_of(::symlink(other.c_str(), real(path).c_str()))};
    case 3:
      what = "link " + what;
      return {at_path(path, false,
                      [&](Number file) {
                        return in_parent(other, [&](const Parent& in) {
                          return volume_->link(root(), file, in.directory, in.name).error();
                        });
                      }),
              error_of(::link(real(path).c_str(), real(other).c_str()))};
    case 4:
      what = "unlink " + what;
      return {in_parent(path,
                        [&](const Parent& in) {
                          return volume_->unlink(root(), in.directory, in.name).error();
                        }),
              error_of(::unlink(real(path).c_str()))};
    case 5:
      what = "rmdir " + what;
      return {in_parent(path,
                        [&](const Parent& in) {
                          return volume_->remove_directory(root(), in.directory, in.name).error();
                        }),
              error_of(::rmdir(real(path).c_str()))};
    default: {
      const std::uint64_t die = random_.below(4);
      const Rename how = die == 0   ? Rename::no_replace
                         : die == 1 ? Rename::exchange
                                    : Rename::replace;
      const unsigned flags = die == 0 ? RENAME_NOREPLACE : die == 1 ? RENAME_EXCHANGE : 0;
      what = "rename " + std::to_string(flags) + " " + what;
      return {in_parent(path,
                        [&](const Parent& from) {
                          return in_parent(other, [&](const Parent& to) {
                            return volume_
                                ->rename(root(), from.directory, from.name, to.directory, to.name,
                                         how)
                                .error();
                          });
                        }),
              error_of(
                  ::renameat2(AT_FDCWD, real(path).c_str(), AT_FDCWD, real(other).c_str(), flags))};
    }
  }
}

std::pair<int, int> VolumeTmpfs::call_bytes(std::string& what) {
  const std::string path = any_path();
  const std::uint64_t offset = random_.below(30'000);
  const std::uint64_t size = random_.between(1, 9'000);
  what = path + " " + std::to_string(offset) + " " + std::to_string(size);
  const auto with_file = [&](const std::function<int(int descriptor)>& op) {
    const int descriptor = ::open(real(path).c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
      return errno;
    }
    const int error = error_of(op(descriptor));
    ::close(descriptor);
    return error;
  };
  const std::string text(size, static_cast<char>('a' + random_.below(26)));
  switch (random_.below(5)) {
    case 0:
      what = "chmod " + what;
      return {at_path(path, true,
                      [&](Number file) {
                        return volume_
                            ->change_attributes(
                                root(), file, {.mode = static_cast<std::uint32_t>(offset % 01000)})
                            .error();
                      }),
              error_of(::chmod(real(path).c_str(), offset % 01000))};
    case 1:
      what = "truncate " + what;
      return {at_path(path, true,
                      [&](Number file) { return volume_->truncate(root(), file, offset).error(); }),
              error_of(::truncate(real(path).c_str(), static_cast<off_t>(offset)))};
    case 2: {
      const bool punch = random_.chance(1, 2);
      what = (punch ? "punch " : "allocate ") + what;
      return {at_path(path, true,
                      [&](Number file) {
                        return punch ? volume_->punch(root(), file, offset, size).error()
                                     : volume_->allocate(root(), file, offset, size, false).error();
                      }),
              with_file([&](int descriptor) {
                return ::fallocate(descriptor,
                                   punch ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0,
                                   static_cast<off_t>(offset), static_cast<off_t>(size));
              })};
    }
    default:
      what = "write " + what;
      return {at_path(path, true,
                      [&](Number file) {
                        return volume_->write(root(), file, offset, as_bytes(text)).error();
                      }),
              with_file([&](int descriptor) {
                return ::pwrite(descriptor, text.data(), size, static_cast<off_t>(offset)) ==
                               static_cast<ssize_t>(size)
                           ? 0
                           : -1;
              })};
  }
}

std::pair<int, int> VolumeTmpfs::call(std::string& what) {
  return random_.chance(2, 3) ? call_names(what) : call_bytes(what);
}

// The volume's directory and the real one, and all below.
void VolumeTmpfs::compare(const std::string& path, Number directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(real(path))) {
    names.insert(entry.path().filename());
  }
  std::map<std::string, Number> found = entries(directory);
  found.erase(".");
  found.erase("..");
  ASSERT_EQ(found.size(), names.size()) << path;
  for (const auto& [name, number] : found) {
    const std::string below = path.empty() ? name : path + "/" + name;
    struct stat facts {};
    ASSERT_EQ(::lstat(real(below).c_str(), &facts), 0) << below;
    const Attributes have = attributes(number);
    EXPECT_EQ(have.mode, facts.st_mode) << below;
    EXPECT_EQ(have.links, facts.st_nlink) << below;
    if (S_ISDIR(have.mode)) {
      compare(below, number);
      continue;
    }
    ASSERT_EQ(have.size, static_cast<std::uint64_t>(facts.st_size)) << below;
    if (S_ISLNK(have.mode)) {
      EXPECT_EQ(*volume_->read_link(number), std::filesystem::read_symlink(real(below)));
    } else {
      ASSERT_EQ(read(number), content_of(real(below))) << below;
    }
  }
}

TEST_P(VolumeTmpfs, answers_as_the_system_does) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "the calls are root's";
  }
  const mode_t mask = ::umask(0);
  std::map<int, std::size_t> seen;
  for (int step = 0; step < 6'000 && !HasFailure(); ++step) {
    std::string what;
    const auto [ours, theirs] = call(what);
    ASSERT_EQ(ours, theirs) << "step " << step << ": " << what;
    ++seen[ours];
    if (step % 500 == 0) {
      compare("", top());
      volume_->tend();
    }
  }
  ::umask(mask);
  compare("", top());
  checked();
  for (const int error : {0, ENOENT, EEXIST, ENOTDIR, EISDIR, ENOTEMPTY, EINVAL, ELOOP, EPERM}) {
    EXPECT_GT(seen[error], 0u) << error;
  }
}

}  // namespace
}  // namespace remora::file
