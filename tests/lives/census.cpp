#include "tests/lives/census.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace remora::fabric::lives {
namespace {

namespace fs = std::filesystem;

template <typename Counts>
std::size_t count_entries(const char* folder, Counts counts) {
  std::error_code missing;
  const fs::directory_iterator all(folder, missing);
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), counts));
}

std::size_t count_shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t rights = line.find(' ') + 1;  // "rw-s"
    count += line.size() > rights + 3 && line[rights + 3] == 's' ? 1U : 0U;
  }
  return count;
}

}  // namespace

Census Census::take(const std::string& folder) {
  std::error_code gone;  // meanwhile, by another process
  return {.descriptors = count_entries("/proc/self/fd", [](const auto&) { return true; }),
          .shared_mappings = count_shared_mappings(),
          .shared_objects =
              count_entries("/dev/shm",
                            [&](const fs::directory_entry& entry) {
                              return entry.is_regular_file(gone) &&
                                     entry.path().filename().string().starts_with("remora");
                            }),
          .socket_files = count_entries(folder.c_str(), [&](const fs::directory_entry& entry) {
            return entry.is_socket(gone);
          })};
}

void PrintTo(const Census& census, std::ostream* out) {
  *out << census.descriptors << " descriptors, " << census.shared_mappings << " shared mappings, "
       << census.shared_objects << " named shared objects, " << census.socket_files
       << " socket files";
}

}  // namespace remora::fabric::lives
