#include "cli/product/shell.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "cli/exit_status.h"
#include "cli/product/line_editor.h"
#include "cli/product/scrub.h"
#include "cli/product/store_options.h"
#include "cli/product/words.h"
#include "cli/validators.h"

namespace remora::cli {
namespace {

// What a line says. One for each line, so that nothing stays of the one before.
struct Said {
  ConnectArguments where;
  PutArguments put;
  GetArguments get;
  DelArguments del;
  ScanArguments scan;
  StatArguments stat;
  TopArguments top;
  ExplainArguments explain;
  BackupArguments backup;
  bool scrub_json = false;
};

// A line as its parser takes it: options as on the command line, but what cannot be one, such as -5
// or a word in quotes, is a word.
std::vector<std::string> arguments_of(const std::vector<Word>& line, const CLI::App& app) {
  std::vector<std::string> options;
  std::vector<std::string> words;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const std::string& text = line[i].text;
    if (!line[i].is_quoted && text == "--") {
      for (++i; i < line.size(); ++i) {
        words.push_back(line[i].text);
      }
      break;
    }
    const std::string name = text.substr(0, text.find('='));
    const CLI::Option* const option = line[i].is_quoted || name.size() < 2 || name[0] != '-'
                                          ? nullptr
                                          : app.get_option_no_throw(name);
    const bool looks_like_one = !line[i].is_quoted && text.size() > 2 && text.starts_with("--");
    if (option == nullptr && !looks_like_one) {
      words.push_back(text);
      continue;
    }
    options.push_back(text);
    const bool takes_a_word =
        option != nullptr && option->get_items_expected_max() > 0 && name == text;
    if (takes_a_word && i + 1 < line.size()) {
      options.push_back(line[++i].text);
    }
  }
  options.emplace_back("--");
  options.insert(options.end(), words.begin(), words.end());
  std::ranges::reverse(options);  // as CLI11 takes them
  return options;
}

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
  bool run(const std::vector<Word>& line) {
    if (line.empty()) {
      return true;
    }
    const std::string name = lower(line[0].text);
    if (name == "quit" || name == "exit") {
      return false;
    }
    if (name == "help" || name == "?") {
      help(line.size() > 1 ? lower(line[1].text) : "");
      return true;
    }
    const Verb* const verb = find(name);
    if (verb == nullptr) {
      wrong(Status(Code::invalid_argument,
                   fmt::format("no such command: '{}'; `help` lists what there is", name)));
      return true;
    }
    Said said;
    said.where = where_;
    CLI::App app(verb->what, verb->name);
    (this->*verb->describe)(app, said);
    try {
      app.parse(arguments_of(line, app));
    } catch (const CLI::CallForHelp&) {
      fmt::print("{}", app.help());
      return true;
    } catch (const CLI::ParseError& error) {
      wrong(Status(Code::invalid_argument, error.what()));
      fmt::print("{}", app.help());
      return true;
    }
    const Expected<bool> again = store_->reconnect();
    if (again && *again) {
      fmt::print("(connected again)\n");
    }
    const Status status = again ? (this->*verb->run)(said) : to_status(again.error());
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
  struct Verb {
    const char* name;
    const char* other;  // name
    const char* usage;
    const char* what;
    void (Shell::*describe)(CLI::App& app, Said& said);
    Status (Shell::*run)(Said& said);
  };
  static std::span<const Verb> verbs();

  static std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    return text;
  }
  static const Verb* find(std::string_view name) {
    for (const Verb& verb : verbs()) {
      if (name == verb.name || (name == verb.other && !name.empty())) {
        return &verb;
      }
    }
    return nullptr;
  }

  void help(const std::string& name) {
    if (const Verb* const verb = find(name)) {
      Said said;
      said.where = where_;
      CLI::App app(verb->what, verb->name);
      (this->*verb->describe)(app, said);
      fmt::print("{}", app.help());
      return;
    }
    for (const Verb& verb : verbs()) {
      fmt::print("  {:<36} {}\n", verb.usage,
                 *verb.other == '\0' ? verb.what : fmt::format("{} ({})", verb.what, verb.other));
    }
    fmt::print("  {:<36} {}\n  {:<36} {}\n", "help [COMMAND]",
               "This list, or all options of a command", "quit", "Leave the shell (exit)");
    fmt::print(
        "Options are those of the command line: put --persistent KEY VALUE, scan --count.\n"
        "Words with blanks go in \"double\" (with \\n \\t \\xNN) or 'single' quotes.\n");
  }

  // --- What each takes ---
  void describe_put_line(CLI::App& app, Said& said) {
    describe_put(app, said.put);
    app.add_option_function<std::string>(
        "durability",
        [&said](const std::string& word) {
          if (word != "persistent") {
            throw CLI::ValidationError("behind the value comes nothing, or persistent");
          }
          said.put.persistent = true;
        },
        "persistent: as --persistent");
  }
  void describe_get_line(CLI::App& app, Said& said) {
    describe_get(app, said.get, said.where.verify_reads);
  }
  void describe_del_line(CLI::App& app, Said& said) { describe_del(app, said.del); }
  void describe_scan_line(CLI::App& app, Said& said) {
    describe_scan(app, said.scan);
    app.add_option("PREFIX", said.scan.prefix, "As --prefix");
    app.add_option("LIMIT", said.scan.limit, "As --limit")->check(whole_number(1));
  }
  void describe_stat_line(CLI::App& app, Said& said) { describe_stat(app, said.stat); }
  void describe_top_line(CLI::App& app, Said& said) {
    said.top.times = 1;  // a shell has no Ctrl-C to spare
    describe_top(app, said.top);
  }
  void describe_explain_line(CLI::App& app, Said& said) { describe_explain(app, said.explain); }
  void describe_backup_line(CLI::App& app, Said& said) { describe_backup(app, said.backup); }
  void describe_scrub_line(CLI::App& app, Said& said) {
    app.add_flag("--json", said.scrub_json, "Print JSON");
  }
  void describe_nothing(CLI::App&, Said&) {}

  // --- What each does ---
  Status put(Said& said) {
    if (!said.put.value && said.put.file.empty()) {
      return Status(Code::invalid_argument,
                    "value is required: put KEY VALUE, or put KEY --file FILE");
    }
    const Result<std::string> value =
        said.put.file.empty() ? Result<std::string>(*said.put.value) : value_of(said.put);
    if (!value.ok()) {
      return value.status();
    }
    const Durability durability =
        said.put.persistent ? Durability::persistent : Durability::standard;
    if (const Expected<void> put = put_value(*store_, said.put.key, *value, durability); !put) {
      return to_status(put.error());
    }
    fmt::print("OK, {}\n", store_->acknowledged(durability));
    return {};
  }

  Status get(Said& said) {
    if (said.where.verify_reads != where_.verify_reads) {
      where_.verify_reads = said.where.verify_reads;
      if (const Status status = connect(); !status.ok()) {
        return status;
      }
    }
    const Expected<std::string> value = get_value(*store_, said.get.key);
    if (value.is(ErrorCode::not_found)) {
      fmt::print("(nil)\n");
      return {};
    }
    if (!value) {
      return to_status(value.error());
    }
    if (said.get.raw) {
      std::fwrite(value->data(), 1, value->size(), stdout);
    } else {
      fmt::print("{}\n", shown(*value));
    }
    return {};
  }

  Status del(Said& said) {
    for (const std::string& key : said.del.keys) {
      if (const Expected<void> deleted = store_->del(key); !deleted) {
        return to_status(deleted.error());
      }
    }
    fmt::print("OK\n");
    return {};
  }

  Status scan(Said& said) {
    std::set<std::string> seen;  // a key may come twice while the index grows
    const Expected<void> scanned = store_->scan([&](std::string_view key) {
      if (key.starts_with(said.scan.prefix) && seen.emplace(key).second && !said.scan.count) {
        fmt::print("{}) {}\n", seen.size(), shown(key));
      }
      return said.scan.limit == 0 || seen.size() < said.scan.limit;
    });
    if (!scanned) {
      return to_status(scanned.error());
    }
    if (said.scan.count) {
      fmt::print("{}\n", seen.size());
    } else if (seen.empty()) {
      fmt::print("(no keys)\n");
    }
    return {};
  }

  Status stat(Said& said) {
    const Expected<Facts> facts = all_facts(*store_, said.stat.name);
    return facts ? status_of(show_stat(*store_, said.stat)) : to_status(facts.error());
  }

  // These have a connection of their own, and tell by themselves what is wrong.
  Status top(Said& said) { return status_of(top_command(where_, said.top)); }
  Status explain(Said& said) { return status_of(explain_command(where_, said.explain)); }
  Status backup(Said& said) { return status_of(backup_command(where_, said.backup)); }
  Status scrub(Said& said) { return status_of(scrub_command(where_, said.scrub_json)); }
  Status stop(Said&) { return status_of(stop_command(where_)); }

  Status status_of(int exit_status) {
    exit_status_ = std::max(exit_status_, exit_status);
    return {};
  }

  ConnectArguments where_;
  std::optional<Store> store_;
  int exit_status_ = exit_kept;
};

std::span<const Shell::Verb> Shell::verbs() {
  static constexpr Verb all[] = {
      {"put", "set", "put KEY VALUE [persistent]",
       "Store a value; persistent: no power cut takes it", &Shell::describe_put_line, &Shell::put},
      {"get", "", "get KEY", "Show the value of a key", &Shell::describe_get_line, &Shell::get},
      {"del", "", "del KEY ...", "Remove keys", &Shell::describe_del_line, &Shell::del},
      {"scan", "keys", "scan [PREFIX [LIMIT]]", "List keys, in no particular order",
       &Shell::describe_scan_line, &Shell::scan},
      {"stat", "info", "stat [NAME]", "Show what the store tells of itself",
       &Shell::describe_stat_line, &Shell::stat},
      {"top", "", "top [--times N]", "Show what the store does now", &Shell::describe_top_line,
       &Shell::top},
      {"explain", "", "explain", "Explain what an acknowledged put means here",
       &Shell::describe_explain_line, &Shell::explain},
      {"backup", "", "backup FILE", "Copy the store, as of one moment, to a new pool",
       &Shell::describe_backup_line, &Shell::backup},
      {"scrub", "", "scrub", "Verify every value now; needs the role admin",
       &Shell::describe_scrub_line, &Shell::scrub},
      {"stop", "", "stop", "Stop the server in order; needs the role admin",
       &Shell::describe_nothing, &Shell::stop},
  };
  return all;
}

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
    const Result<std::vector<Word>> words = split_line(*line);
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
