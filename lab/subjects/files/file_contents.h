// FileContents: the bytes that a file may have. What was synced is a version that every cut leaves;
// since then each write, truncate and so on has made another. After a cut the size is that of one
// of them, or, where one grew, a whole number of blocks on the way; and every aligned word below it
// is that of one which has it: words that were not synced are old or new, and no byte is one that
// the file never had there.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace remora::lab {

using FileVersion = std::shared_ptr<const std::string>;

class FileContents {
 public:
  FileContents() : FileContents(std::string()) {}
  explicit FileContents(std::string bytes)
      : versions_{std::make_shared<const std::string>(std::move(bytes))} {}

  const std::string& now() const { return *versions_.back(); }
  FileVersion version() const { return versions_.back(); }
  // What a change under way will make of it.
  void add(std::string bytes) {
    versions_.push_back(std::make_shared<const std::string>(std::move(bytes)));
  }
  // The change did not happen.
  void take_back() { versions_.pop_back(); }
  // That version is persistent: those before it are gone.
  void synced(const FileVersion& version);

  // Why a cut may not leave these bytes, or nothing.
  std::optional<std::string> fault_of(const std::string& found) const;

 private:
  std::deque<FileVersion> versions_;
};

}  // namespace remora::lab
