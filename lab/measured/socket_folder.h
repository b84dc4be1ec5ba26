// A folder for the socket of processes that measure something together.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace remora::lab {

// A new one among the temporary files ($TMPDIR), which only this user enters; whoever asked for it
// removes it.
inline Result<std::string> make_socket_folder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return os_failure("there is no folder for temporary files; set TMPDIR to one", error.value());
  }
  std::string folder = (parent / "remora-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return os_failure("cannot make a folder for the socket in " + parent.string(), errno);
  }
  return folder;
}

}  // namespace remora::lab
