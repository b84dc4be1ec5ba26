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

// Opens the store and hands it to the work.
template <typename Work>
int with_store(const ConnectArguments& where, Work work) {
  Expected<Store> store = open_store(where);
  return store ? work(*store) : fail(store.error());
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
  return with_store(where, [&](Store& store) {
    const Durability durability =
        arguments.persistent ? Durability::persistent : Durability::standard;
    if (const Expected<void> put = put_value(store, arguments.key, *value, durability); !put) {
      return fail(put.error());
    }
    fmt::print("{}\n", store.acknowledged(durability));
    return exit_kept;
  });
}

int get_command(const ConnectArguments& where, const GetArguments& arguments) {
  return with_store(where, [&](Store& store) {
    const Expected<std::string> value = get_value(store, arguments.key);
    if (value.is(ErrorCode::not_found)) {
      return no_such_key(arguments.key);
    }
    if (!value) {
      return fail(value.error());
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
  return with_store(where, [&](Store& store) {
    const Expected<void> deleted = store.del(key);
    return deleted ? exit_kept : fail(deleted.error());
  });
}

int scan_command(const ConnectArguments& where, const ScanArguments& arguments) {
  return with_store(where, [&](Store& store) {
    std::set<std::string> seen;  // a key may come twice while the index grows
    const Expected<void> scanned = store.scan([&](std::string_view key) {
      if (key.starts_with(arguments.prefix) && seen.emplace(key).second && !arguments.count) {
        fmt::print("{}\n", shown(key));
      }
      return arguments.limit == 0 || seen.size() < arguments.limit;
    });
    if (!scanned) {
      return fail(scanned.error());
    }
    if (arguments.count) {
      fmt::print("{}\n", seen.size());
    }
    return exit_kept;
  });
}

Expected<Facts> all_facts(Store& store, const std::string& name) {
  const std::string wire = store.wire();
  Expected<Facts> facts = store.facts();
  if (!facts) {
    return facts;
  }
  facts->insert(facts->begin(), {{"wire", wire}, {"role", store.role()}});
  if (name.empty()) {
    return facts;
  }
  const std::optional<std::string> value = find_fact(*facts, name);
  if (!value) {
    return Error{ErrorCode::invalid_argument,
                 "the store has no value named '" + name + "'; `stat` without a name lists all"};
  }
  return Facts{{name, *value}};
}

int stat_command(const ConnectArguments& where, const StatArguments& arguments) {
  return with_store(where, [&](Store& store) {
    const Expected<Facts> facts = all_facts(store, arguments.name);
    if (!facts) {
      return fail(facts.error());
    }
    if (!arguments.name.empty()) {
      fmt::print("{}\n", facts->front().value);
      return exit_kept;
    }
    if (arguments.json) {
      print_facts_as_json(*facts);
      return exit_kept;
    }
    for (const Fact& fact : *facts) {
      fmt::print("{:<24} {}\n", fact.name, fact.value);
    }
    return exit_kept;
  });
}

int stop_command(const ConnectArguments& where) {
  return with_store(where, [&](Store& store) {
    const Expected<Facts> last = store.stop();
    if (!last) {
      return fail(last.error());
    }
    fmt::print("process {} stops\n", find_fact(*last, "pid").value_or("?"));
    return exit_kept;
  });
}

}  // namespace remora::cli
