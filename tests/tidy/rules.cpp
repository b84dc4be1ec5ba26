#include "tests/tidy/rules.h"

#include <algorithm>
#include <utility>

namespace remora::tidy {

namespace {

struct Capability {
  std::string_view token;
  std::string_view instead;
};

constexpr std::string_view ask_for_time = "take the time from the runtime that you are handed";
constexpr std::string_view ask_for_tasks = "run it as a task on the runtime's loop";
constexpr std::string_view ask_for_chance = "draw from a Random that you are handed";

constexpr Capability capabilities[] = {
    {"system_clock", ask_for_time},
    {"steady_clock", ask_for_time},
    {"high_resolution_clock", ask_for_time},
    {"clock_gettime", ask_for_time},
    {"gettimeofday", ask_for_time},
    {"timerfd_create", ask_for_time},
    {"__rdtsc", ask_for_time},
    {"std::time(", ask_for_time},
    {"time(nullptr", ask_for_time},
    {"std::clock(", ask_for_time},
    {"usleep(", ask_for_time},
    {"nanosleep(", ask_for_time},
    {"std::this_thread", ask_for_time},
    {"std::thread", ask_for_tasks},
    {"std::jthread", ask_for_tasks},
    {"std::async", ask_for_tasks},
    {"pthread_create", ask_for_tasks},
    {"std::random_device", ask_for_chance},
    {"std::mt19937", ask_for_chance},
    {"std::mt19937_64", ask_for_chance},
    {"getrandom", ask_for_chance},
    {"getentropy", ask_for_chance},
    {"rand(", ask_for_chance},
    {"<random>", ask_for_chance},
    {"<thread>", ask_for_tasks},
};

// In two pieces, so that this file does not complain of itself.
const std::string promises[] = {
    std::string("TO") + "DO",  std::string("FIX") + "ME",          std::string("XX") + "X",
    std::string("HA") + "CK",  std::string("for ") + "now",        std::string("st") + "ub",
    std::string("stu") + "bs", std::string("place") + "holder",    std::string("coming ") + "soon",
    std::string("WI") + "P",   std::string("not yet ") + "written"};

constexpr std::size_t lines_max = 500;

void check_line(const Source& source, std::size_t line, std::string_view text,
                std::vector<Finding>& findings) {
  if (text.find('\t') != text.npos) {
    findings.push_back({source.path, line, "tab: indent with spaces"});
  }
  if (text.ends_with(' ') || text.ends_with('\r')) {
    findings.push_back({source.path, line, "space at the end of the line: delete it"});
  }
  for (const std::string& promise : promises) {
    if (find_token(text, promise) != text.npos) {
      findings.push_back({source.path, line,
                          "\"" + promise +
                              "\" promises later work: finish it, or say plainly what "
                              "is not supported"});
    }
  }
}

// "#define private ...", however it is spaced.
bool redefines_access(std::string_view code_line) {
  const std::size_t define = find_token(code_line, "define");
  const std::size_t hash = code_line.find_first_not_of(' ');
  if (define == code_line.npos || code_line[hash] != '#') {
    return false;
  }
  std::string_view name = code_line.substr(define + std::string_view("define").size());
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  return find_token(name, "private") == 0 || find_token(name, "protected") == 0;
}

bool is_exempt(const std::string& path) {
  return std::any_of(
      clock_exemptions().begin(), clock_exemptions().end(), [&](const Exemption& exemption) {
        return exemption.path.starts_with('*') ? path.ends_with(exemption.path.substr(1))
                                               : path.starts_with(exemption.path);
      });
}

// The body of the function whose parameters end at `from`; empty if it is only declared.
std::pair<std::size_t, std::size_t> body_after(std::string_view code, std::size_t from) {
  const std::size_t open = code.find_first_of("{;", from);
  if (open == code.npos || code[open] == ';') {
    return {from, from};
  }
  return {open, after_closing(code, open + 1, '}')};
}

// Calls of persistence in code[begin, end) whose arguments lack the site.
void check_calls(const Source& source, std::size_t begin, std::size_t end,
                 std::vector<Finding>& findings) {
  const std::string_view code = std::string_view(source.code).substr(0, end);
  for (std::string_view name : {"flush", "drain", "persist", "copy"}) {
    for (std::size_t at = find_token(code, name, begin); at != code.npos;
         at = find_token(code, name, at + 1)) {
      const std::size_t open = at + name.size();
      if (open >= end || code[open] != '(' || code[at - 1] == ':') {
        continue;
      }
      const std::string_view arguments =
          code.substr(open, after_closing(code, open + 1, ')') - open);
      if (find_token(arguments, "site") == arguments.npos) {
        findings.push_back({source.path, line_at(code, at),
                            std::string(name) + "() does not pass on the Site that this function "
                                                "was handed: give it `site`"});
      }
    }
  }
}

}  // namespace

const std::vector<Exemption>& clock_exemptions() {
  static const std::vector<Exemption> exemptions = {
      {"src/runtime/", "is where time, threads and chance come from"},
      {"src/pmem/file_", "commits in the background, since msync blocks"},
      {"src/pmem/dax_", "leaf back end"},
      {"src/block/", "leaf back end: blocking I/O needs a thread"},
      {"src/fabric/nic/wire/", "leaf back ends: sockets and shared memory"},
      {"src/fabric/verbs/", "leaf back end: a device of the real world"},
      {"src/cli/", "chooses the world, so it may look at the real one"},
      {"bench/", "measures the real world"},
      {"tests/", "makes races and waits on purpose"},
      {"*_test.cpp", "makes races and waits on purpose"},
  };
  return exemptions;
}

std::vector<Finding> check_capabilities(const Source& source) {
  std::vector<Finding> findings;
  if (!source.is_cpp() || is_exempt(source.path)) {
    return findings;
  }
  for (const Capability& capability : capabilities) {
    for (std::size_t at = find_token(source.code, capability.token); at != std::string::npos;
         at = find_token(source.code, capability.token, at + 1)) {
      findings.push_back({source.path, line_at(source.code, at),
                          std::string(capability.token) +
                              " is not for this place: " + std::string(capability.instead)});
    }
  }
  return findings;
}

std::vector<std::string> merged_files(std::string_view text) {
  constexpr std::string_view include = "#include \"";
  std::vector<std::string> files;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(include)) {
      const std::string_view rest = line.substr(include.size());
      files.emplace_back(rest.substr(0, rest.find('"')));
    }
  }
  return files;
}

std::vector<Finding> check_built(const Source& source, const std::set<std::string>& compiled) {
  if (!source.path.ends_with(".cpp") || compiled.contains(source.path)) {
    return {};
  }
  return {
      {source.path, 1, "is not built: list it in the CMakeLists.txt of its folder, or delete it"}};
}

std::vector<Finding> check_text(const Source& source) {
  std::vector<Finding> findings;
  const std::vector<std::string_view> lines = lines_of(source.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_line(source, i + 1, lines[i], findings);
  }
  if (!source.is_cpp()) {
    return findings;
  }
  const std::vector<std::string_view> code = lines_of(source.code);
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (redefines_access(code[i])) {
      findings.push_back({source.path, i + 1, "test by the public contract; redefine no keyword"});
    }
  }
  if (lines.size() > lines_max) {
    findings.push_back({source.path, lines_max,
                        std::to_string(lines.size()) + " lines: split the file by its concepts"});
  }
  if (source.is_header() && find_token(source.code, "#pragma once") == std::string::npos) {
    findings.push_back({source.path, 1, "header without #pragma once: add it"});
  }
  return findings;
}

std::vector<Finding> check_sites(const Source& source) {
  std::vector<Finding> findings;
  if (!source.is_cpp()) {
    return findings;
  }
  const std::string_view code = source.code;
  constexpr std::string_view parameter = "Site site";
  for (std::size_t at = find_token(code, parameter); at != code.npos;
       at = find_token(code, parameter, at + 1)) {
    const auto [begin, end] = body_after(code, after_closing(code, at, ')'));
    check_calls(source, begin, end, findings);
  }
  return findings;
}

namespace {

// Awaits from a sign up to where its expression ends, at the same depth of brackets.
void check_awaits_behind(const Source& source, std::string_view sign, const char* message,
                         std::vector<Finding>& findings) {
  const std::string_view code = source.code;
  for (std::size_t at = code.find(sign); at != code.npos; at = code.find(sign, at + sign.size())) {
    int depth = 0;
    std::size_t end = at + sign.size();
    for (; end < code.size() && depth >= 0; ++end) {
      const char letter = code[end];
      depth += letter == '(' || letter == '{' || letter == '[' ? 1 : 0;
      depth -= letter == ')' || letter == '}' || letter == ']' ? 1 : 0;
      if (depth == 0 && (letter == ';' || letter == ',')) {
        break;
      }
    }
    const std::string_view behind = code.substr(at, end - at);
    const std::size_t await = find_token(behind, "co_await");
    // `auto&& a = co_await b` declares a.
    if (await != behind.npos && behind.substr(0, await).find(" = ") == behind.npos) {
      findings.push_back({source.path, line_at(code, at + await), message});
    }
  }
}

}  // namespace

std::vector<Finding> check_awaits(const Source& source) {
  std::vector<Finding> findings;
  if (source.is_cpp()) {
    check_awaits_behind(source, "?",
                        "co_await inside ?: is compiled wrongly by g++ 12: write an if", findings);
    for (const char* sign : {"&&", "||"}) {
      check_awaits_behind(source, sign,
                          "co_await behind && or || is compiled wrongly by g++ 12: write an if",
                          findings);
    }
  }
  return findings;
}

}  // namespace remora::tidy
