#include "cli/product/client_commands.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "cli/exit_status.h"
#include "cli/product/stat_json.h"
#include "cli/product/words.h"

namespace remora::cli {
namespace {

// Opens a connection and hands it to the work.
template <typename Work>
int with_store(const ConnectArguments& where, Work work) {
  const Result<std::unique_ptr<Connection>> connection = Connection::open(where);
  return connection.ok() ? work(**connection) : fail(connection.status());
}

void print_bytes(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

Result<std::string> everything_from(std::istream& in, const std::string& name) {
  std::ostringstream text;
  if (in.peek() != std::istream::traits_type::eof()) {
    text << in.rdbuf();
  }
  if (in.bad()) {
    return os_failure("cannot read " + name, errno);
  }
  return std::move(text).str();
}

Result<std::string> value_of(const PutArguments& arguments) {
  if (!arguments.file.empty()) {
    std::ifstream file(arguments.file, std::ios::binary);
    return file ? everything_from(file, arguments.file)
                : os_failure("cannot read " + arguments.file, errno);
  }
  if (arguments.value && *arguments.value != "-") {
    return *arguments.value;
  }
  return everything_from(std::cin, "standard input");
}

int no_such_key(std::string_view key) {
  fmt::print(stderr, "remora: there is no key {}\n", shown(key));
  return exit_no_such_key;
}

}  // namespace

int put_command(const ConnectArguments& where, const PutArguments& arguments) {
  const Result<std::string> value = value_of(arguments);
  if (!value.ok()) {
    return fail(value.status());
  }
  return with_store(where, [&](Connection& store) {
    if (const Status status = store.put(arguments.key, *value, arguments.persistent);
        !status.ok()) {
      return fail(status);
    }
    fmt::print("{}\n", store.acknowledged_word(arguments.persistent));
    return exit_kept;
  });
}

int get_command(const ConnectArguments& where, const GetArguments& arguments) {
  return with_store(where, [&](Connection& store) {
    const Result<std::string> value = store.get(arguments.key);
    if (value.code() == Code::not_found) {
      return no_such_key(arguments.key);
    }
    if (!value.ok()) {
      return fail(value.status());
    }
    if (arguments.raw) {
      print_bytes(*value);
    } else {
      print_bytes((isatty(STDOUT_FILENO) != 0 ? shown(*value) : *value) + "\n");
    }
    return exit_kept;
  });
}

int del_command(const ConnectArguments& where, const std::string& key) {
  return with_store(where, [&](Connection& store) {
    const Status status = store.del(key);
    return status.ok() ? exit_kept : fail(status);
  });
}

int scan_command(const ConnectArguments& where, const ScanArguments& arguments) {
  return with_store(where, [&](Connection& store) {
    std::set<std::string> seen;  // a key may come twice while the index grows
    const Status status = store.scan([&](std::string_view key) {
      if (key.starts_with(arguments.prefix) && seen.emplace(key).second && !arguments.count) {
        fmt::print("{}\n", shown(key));
      }
      return arguments.limit == 0 || seen.size() < arguments.limit;
    });
    if (!status.ok()) {
      return fail(status);
    }
    if (arguments.count) {
      fmt::print("{}\n", seen.size());
    }
    return exit_kept;
  });
}

Result<server::Facts> all_facts(Connection& connection, const std::string& name) {
  const std::string wire = connection.wire();
  Result<server::Facts> facts = connection.stat();
  if (!facts.ok()) {
    return facts;
  }
  facts->insert(facts->begin(), {{"wire", wire}, {"role", connection.role()}});
  if (name.empty()) {
    return facts;
  }
  const std::optional<std::string> value = server::find_fact(*facts, name);
  if (!value) {
    return Status(Code::invalid_argument, "the store tells nothing of the name '" + name +
                                              "'; `stat` alone lists what it tells");
  }
  return server::Facts{{name, *value}};
}

int stat_command(const ConnectArguments& where, const StatArguments& arguments) {
  return with_store(where, [&](Connection& store) {
    const Result<server::Facts> facts = all_facts(store, arguments.name);
    if (!facts.ok()) {
      return fail(facts.status());
    }
    if (!arguments.name.empty()) {
      fmt::print("{}\n", facts->front().value);
      return exit_kept;
    }
    if (arguments.json) {
      print_facts_as_json(*facts);
      return exit_kept;
    }
    for (const server::Fact& fact : *facts) {
      fmt::print("{:<24} {}\n", fact.name, fact.value);
    }
    return exit_kept;
  });
}

int stop_command(const ConnectArguments& where) {
  return with_store(where, [&](Connection& store) {
    const Result<server::Facts> last = store.stop();
    if (!last.ok()) {
      return fail(last.status());
    }
    fmt::print("process {} stops\n", server::find_fact(*last, "pid").value_or("?"));
    return exit_kept;
  });
}

}  // namespace remora::cli
