// Files and folders for tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace remora {

// A folder of its own below `parent`, readable by every user, gone with the object.
class TempFolder {
 public:
  explicit TempFolder(const std::filesystem::path& parent);
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  // The path of a file in it, whether or not there is one.
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

// The whole content; empty when there is no such file.
std::string read_text(const std::filesystem::path& path);

// Replaces the content, or makes the file.
void write_text(const std::filesystem::path& path, std::string_view text);

// Changes the bytes at `offset` of a file that has at least as many.
void overwrite(const std::filesystem::path& path, std::uint64_t offset, std::string_view bytes);

}  // namespace remora
