#include "cli/product/shell.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "cli/exit_status.h"
#include "cli/product/client_commands.h"
#include "cli/product/line_editor.h"
#include "cli/product/words.h"

namespace remora::cli {
namespace {

constexpr const char* shell_help =
    "  put KEY VALUE [persistent]   store it; with `persistent`, wait until a power cut cannot\n"
    "                               take it (set is the same)\n"
    "  get KEY                      show its value\n"
    "  del KEY ...                  remove it\n"
    "  scan [PREFIX [LIMIT]]        keys, in no order (keys is the same)\n"
    "  stat [NAME]                  what the store tells of itself (info is the same)\n"
    "  help, quit\n"
    "Words with blanks go in \"double\" (with \\n \\t \\xNN) or 'single' quotes.\n";

using Words = std::vector<std::string>;

class Shell {
 public:
  explicit Shell(const ConnectArguments& where) : where_(where) {}

  Status connect() {
    Expected<Store> store = open_store(where_);
    if (!store) {
      return to_status(store.error());
    }
    store_.emplace(std::move(store).value());
    return {};
  }

  // Whether there is more to come.
  bool run(const Words& words) {
    if (words.empty()) {
      return true;
    }
    std::string verb = words[0];
    std::ranges::transform(verb, verb.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    if (verb == "quit" || verb == "exit") {
      return false;
    }
    if (verb == "help" || verb == "?") {
      fmt::print("{}", shell_help);
      return true;
    }
    const Expected<bool> again = store_->reconnect();
    if (again && *again) {
      fmt::print("(connected again)\n");
    }
    const Status status = again ? obey(verb, words) : to_status(again.error());
    if (!status.ok()) {
      wrong(status);
    }
    return true;
  }

  // Of the worst of what failed.
  int exit_status() const { return exit_status_; }
  void wrong(const Status& status) {
    exit_status_ = std::max(exit_status_, exit_for(status.code()));
    fmt::print("(error) {}\n", status.message());
  }

 private:
  Status obey(const std::string& verb, const Words& words) {
    const std::size_t given = words.size() - 1;
    if ((verb == "put" || verb == "set") && (given == 2 || given == 3)) {
      return put(words);
    }
    if (verb == "get" && given == 1) {
      return get(words[1]);
    }
    if (verb == "del" && given >= 1) {
      return del(words);
    }
    if ((verb == "scan" || verb == "keys") && given <= 2) {
      return scan(words);
    }
    if ((verb == "stat" || verb == "info") && given <= 1) {
      return stat(given == 1 ? words[1] : "");
    }
    return Status(Code::invalid_argument, "no such command: type help");
  }

  Status put(const Words& words) {
    if (words.size() == 4 && words[3] != "persistent") {
      return Status(Code::invalid_argument, "put KEY VALUE [persistent]");
    }
    const Durability durability = words.size() == 4 ? Durability::persistent : Durability::standard;
    if (const Expected<void> put = put_value(*store_, words[1], words[2], durability); !put) {
      return to_status(put.error());
    }
    fmt::print("OK, {}\n", store_->acknowledged(durability));
    return {};
  }

  Status get(const std::string& key) {
    const Expected<std::string> value = get_value(*store_, key);
    if (value.is(ErrorCode::not_found)) {
      fmt::print("(nil)\n");
      return {};
    }
    if (!value) {
      return to_status(value.error());
    }
    fmt::print("{}\n", shown(*value));
    return {};
  }

  Status del(const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (const Expected<void> deleted = store_->del(words[i]); !deleted) {
        return to_status(deleted.error());
      }
    }
    fmt::print("OK\n");
    return {};
  }

  Status scan(const Words& words) {
    const std::string prefix = words.size() > 1 ? words[1] : "";
    std::uint64_t left = 0;
    if (words.size() > 2) {
      const std::string& text = words[2];
      const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), left);
      if (error != std::errc() || stopped != text.data() + text.size() || left == 0) {
        return Status(Code::invalid_argument, "scan [PREFIX [LIMIT]]");
      }
    }
    std::uint64_t count = 0;
    const Expected<void> scanned = store_->scan([&](std::string_view key) {
      if (key.starts_with(prefix)) {
        fmt::print("{}) {}\n", ++count, shown(key));
      }
      return left == 0 || count < left;
    });
    if (!scanned) {
      return to_status(scanned.error());
    }
    if (count == 0) {
      fmt::print("(no keys)\n");
    }
    return {};
  }

  Status stat(const std::string& name) {
    const Expected<Facts> facts = all_facts(*store_, name);
    if (!facts) {
      return to_status(facts.error());
    }
    for (const Fact& fact : *facts) {
      fmt::print("{:<24} {}\n", fact.name, fact.value);
    }
    return {};
  }

  const ConnectArguments where_;
  std::optional<Store> store_;
  int exit_status_ = exit_kept;
};

std::string history_of(const ShellArguments& arguments) {
  const char* const home = std::getenv("HOME");
  if (!arguments.history.empty() || home == nullptr || *home == '\0') {
    return arguments.history;
  }
  return std::string(home) + "/.remora_history";
}

}  // namespace

int shell_command(const ConnectArguments& where, const ShellArguments& arguments) {
  Shell shell(where);
  if (const Status status = shell.connect(); !status.ok()) {
    return fail(status);
  }
  LineEditor editor(history_of(arguments));
  if (editor.is_terminal()) {
    fmt::print("connected; help lists the commands, Ctrl-D ends\n");
  }
  while (const std::optional<std::string> line = editor.read("remora> ")) {
    const Result<Words> words = split_words(*line);
    if (!words.ok()) {
      shell.wrong(words.status());
    } else if (!shell.run(*words)) {
      break;
    }
    std::fflush(stdout);
  }
  // A person has seen what failed; a script asks the status.
  return editor.is_terminal() ? exit_kept : shell.exit_status();
}

}  // namespace remora::cli
