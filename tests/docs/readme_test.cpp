// Does what README.md says: every command of its ```sh blocks, once, in order, from the root of the
// tree. REMORA_SOURCE_ROOT comes from the build.
//
// Only `./test` is left out: it is what runs this test.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/docs/markdown.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace remora::docs {
namespace {

namespace fs = std::filesystem;

const fs::path root = REMORA_SOURCE_ROOT;
constexpr const char* shell = "/bin/bash";

// The pool that the README makes and removes again.
const fs::path session_pool = root / "data/first.pool";

bool runs_this_test(const Command& command) {
  return command.text == "./test";
}

// Every path of the tree that git would see: without what is built and stored.
std::set<std::string> tree() {
  std::set<std::string> paths;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::end(it); ++it) {
    const std::string path = it->path().lexically_relative(root).generic_string();
    if (path == ".git" || path == ".cache" || path == "data" || path == "build" ||
        path.starts_with("build-")) {
      it.disable_recursion_pending();
    } else {
      paths.insert(path);
    }
  }
  return paths;
}

void expect_to_work(const Command& command) {
  const Outcome outcome = run_process({shell, "-e", "-c", command.text}, {root.string(), false});
  if (outcome.exit_status != command.exit_status) {
    ADD_FAILURE_AT((root / "README.md").c_str(), static_cast<int>(command.line))
        << command.text << "\nexits with " << outcome.exit_status << ", and README.md says "
        << command.exit_status << "\n"
        << outcome.out << outcome.err;
  }
}

TEST(Readme, does_what_it_says) {
  const std::vector<Command> commands = commands_of(read_text(root / "README.md"));
  ASSERT_GT(commands.size(), 5u);
  fs::remove(session_pool);  // left by a session that was interrupted
  const std::set<std::string> before = tree();
  std::size_t skipped = 0;
  for (const Command& command : commands) {
    if (runs_this_test(command)) {
      ++skipped;
    } else {
      expect_to_work(command);
    }
  }
  EXPECT_EQ(skipped, 1u) << "README.md shows `./test` once, and that alone is not executed";
  EXPECT_EQ(tree(), before) << "a command leaves files in the tree that git would see";
  EXPECT_FALSE(fs::exists(session_pool)) << "README.md removes the pool that it makes";
}

TEST(Readme, shows_both_commands) {
  std::set<std::string> shown;
  for (const Command& command : commands_of(read_text(root / "README.md"))) {
    shown.insert(command.text);
  }
  EXPECT_TRUE(shown.contains("./run"));
  EXPECT_TRUE(shown.contains("./test"));
}

}  // namespace
}  // namespace remora::docs
