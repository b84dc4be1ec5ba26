// A folder for a test.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/check.h"

namespace remora {

// A folder of its own below `parent`, readable by every user, gone with the object.
class TestFolder {
 public:
  explicit TestFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "remora-test-XXXXXX").string();
    REMORA_CHECK(mkdtemp(name.data()) != nullptr && ::chmod(name.c_str(), 0755) == 0,
                 "cannot make a folder for the test");
    path_ = name;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  // The path of a file in it, whether or not there is one.
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

// Whether nothing says that a file of that size is too large for the disk below `path`. Some file
// systems have no size at all.
inline bool may_have_room(const std::filesystem::path& path, std::uint64_t size_bytes) {
  struct statfs facts {};
  return ::statfs(path.c_str(), &facts) != 0 || facts.f_blocks == 0 ||
         facts.f_blocks >= size_bytes / static_cast<std::uint64_t>(facts.f_bsize);
}

}  // namespace remora
