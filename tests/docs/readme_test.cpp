// Does what the documents say: every command of their ```sh blocks, once, in order, from the root
// of the tree; README.md first. REMORA_SOURCE_ROOT comes from the build.
//
// `./run` serves until it is told to end: it is started, and goes on in the background while the
// rest is done, as it would in another terminal. Only `./test` is left out: it is what runs this
// test.
#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/docs/markdown.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace remora::docs {
namespace {

namespace fs = std::filesystem;

const fs::path root = REMORA_SOURCE_ROOT;
constexpr const char* shell = "/bin/bash";

// Documents whose commands are executed, in this order.
constexpr const char* documents[] = {"README.md", "docs/operating.md", "docs/laboratory.md"};

// The pool that the laboratory makes and removes again, and the one that ./run serves.
const fs::path session_pool = root / "data/first.pool";
const fs::path served_socket = root / "data/remora.sock";

bool runs_this_test(const Command& command) {
  return command.text == "./test";
}

// Complains at the command's line.
void fail(const std::string& document, const Command& command, const std::string& why) {
  ADD_FAILURE_AT((root / document).c_str(), static_cast<int>(command.line)) << command.text << "\n"
                                                                            << why;
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

// What `./run` started.
class Served {
 public:
  // Starts it, and returns when it lets clients in.
  void start(const std::string& document, const Command& command) {
    if (server_ && !server_->ended()) {
      fail(document, command, "starts the server again while it runs");
    }
    server_.reset();
    server_.emplace(std::vector<std::string>{shell, "-e", "-c", "exec " + command.text},
                    ProcessOptions{root.string(), false});
    const std::vector<std::string> ask = {(root / "build/remora").string(), "stat", "pid"};
    for (int i = 0; i < 36'000 && !server_->ended(); ++i) {
      if (fs::exists(served_socket) &&
          run_process(ask, {root.string(), false}).out == std::to_string(server_->pid()) + "\n") {
        return;
      }
      (void)poll(nullptr, 0, 100);
    }
    fail(document, command, "does not serve\n" + server_->out() + server_->err());
  }
  void stop() {
    if (server_ && !server_->ended()) {
      server_->signal(SIGTERM);
      EXPECT_EQ(server_->wait(), 0) << server_->err();
    }
  }

 private:
  std::optional<RunningProcess> server_;
};

bool serves(const Command& command) {
  return command.text == "./run" || command.text.starts_with("./run ");
}

void expect_to_work(const std::string& document, const Command& command) {
  const Outcome outcome = run_process({shell, "-e", "-c", command.text}, {root.string(), false});
  if (outcome.exit_status != command.exit_status) {
    fail(document, command,
         "exits with " + std::to_string(outcome.exit_status) + ", and " + document + " says " +
             std::to_string(command.exit_status) + "\n" + outcome.out + outcome.err);
  }
}

std::vector<Command> commands_in(const std::string& document) {
  return commands_of(read_text(root / document));
}

// Returns how many commands were left out.
std::size_t execute(const std::string& document) {
  std::size_t skipped = 0;
  Served served;
  for (const Command& command : commands_in(document)) {
    if (runs_this_test(command)) {
      ++skipped;
    } else if (serves(command)) {
      served.start(document, command);
    } else {
      expect_to_work(document, command);
    }
  }
  served.stop();
  return skipped;
}

TEST(Readme, does_what_it_says) {
  fs::remove(session_pool);  // left by a session that was interrupted
  const std::set<std::string> before = tree();
  std::size_t skipped = 0;
  for (const char* document : documents) {
    EXPECT_GT(commands_in(document).size(), 5u) << document;
    skipped += execute(document);
  }
  EXPECT_EQ(skipped, 1u) << "README.md shows `./test` once, and that alone is not executed";
  EXPECT_EQ(tree(), before) << "a command leaves files in the tree that git would see";
  EXPECT_FALSE(fs::exists(session_pool)) << "the laboratory removes the pool that it makes";
}

TEST(Readme, no_document_with_commands_is_forgotten) {
  std::set<std::string> known(std::begin(documents), std::end(documents));
  known.insert("docs/mutants.md");  // a campaign of hours
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs")) {
    const std::string path = entry.path().lexically_relative(root).generic_string();
    if (path.ends_with(".md") && !known.contains(path)) {
      EXPECT_TRUE(commands_in(path).empty()) << path << ": list it among the documents above";
    }
  }
}

TEST(Readme, is_short) {
  const std::string text = read_text(root / "README.md");
  EXPECT_LE(std::ranges::count(text, '\n'), 170) << "move what is special to a page in docs/";
}

TEST(Readme, shows_both_commands) {
  std::set<std::string> shown;
  for (const Command& command : commands_in("README.md")) {
    shown.insert(command.text);
  }
  EXPECT_TRUE(shown.contains("./run"));
  EXPECT_TRUE(shown.contains("./test"));
}

}  // namespace
}  // namespace remora::docs
