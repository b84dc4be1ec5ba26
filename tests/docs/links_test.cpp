// Every relative link of the documents leads to a file. REMORA_SOURCE_ROOT comes from the build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/docs/markdown.h"
#include "tests/support/files.h"

namespace remora::docs {
namespace {

namespace fs = std::filesystem;

// The documents at the root, and all below docs/.
std::vector<fs::path> documents() {
  const fs::path root = REMORA_SOURCE_ROOT;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    found.push_back(entry.path());
  }
  if (fs::exists(root / "docs")) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs")) {
      found.push_back(entry.path());
    }
  }
  std::erase_if(found, [](const fs::path& path) { return path.extension() != ".md"; });
  std::ranges::sort(found);
  return found;
}

TEST(Links, lead_to_files_that_exist) {
  std::size_t checked = 0;
  for (const fs::path& document : documents()) {
    for (const Link& link : links_of(read_text(document))) {
      const std::string file = file_of(link);
      if (file.empty()) {
        continue;
      }
      ++checked;
      if (!fs::exists(document.parent_path() / file)) {
        ADD_FAILURE_AT(document.c_str(), static_cast<int>(link.line))
            << "the link leads to " << file << ", which is not there: correct it";
      }
    }
  }
  EXPECT_GT(checked, 5u) << "hardly any link was found: is the root right?";
}

TEST(Links, the_documents_of_the_house_are_there) {
  const fs::path root = REMORA_SOURCE_ROOT;
  for (const char* name :
       {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"}) {
    EXPECT_TRUE(fs::exists(root / name)) << name;
  }
}

}  // namespace
}  // namespace remora::docs
