// PartFile: the file that a copy is written to, under a name that says that it is not whole. It
// goes with the object unless it was kept.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "base/result.h"

namespace remora::cli {

class PartFile {
 public:
  explicit PartFile(const std::string& to) : to_(to), path_(to + ".part") {}
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() { remove(); }

  const std::string& path() const { return path_; }
  void made() { exists_ = true; }
  void remove() {
    if (std::exchange(exists_, false)) {
      (void)::unlink(path_.c_str());
    }
  }
  // Gives it its name, which survives a power cut from then on. It takes nobody else's.
  Status keep() {
    if (::link(path_.c_str(), to_.c_str()) != 0) {
      return os_failure("cannot name " + path_ + " " + to_, errno);
    }
    remove();
    const std::filesystem::path parent = std::filesystem::path(to_).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_kept = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) {
      (void)::close(descriptor);
    }
    return is_kept ? Status() : os_failure("cannot make the name " + to_ + " persistent", error);
  }

 private:
  const std::string to_;
  const std::string path_;
  bool exists_ = false;
};

}  // namespace remora::cli
