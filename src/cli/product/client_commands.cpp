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

int no_such_key(std::string_view key) {
  fmt::print(stderr, "remora: there is no key {}\n", shown(key));
  return exit_no_such_key;
}

}  // namespace

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
    // A file or another program gets the bytes of the value, a person something to look at.
    const bool is_looked_at = !arguments.raw && isatty(STDOUT_FILENO) != 0;
    print_bytes(is_looked_at ? shown(*value) + "\n" : *value);
    return exit_kept;
  });
}

int del_command(const ConnectArguments& where, const DelArguments& arguments) {
  return with_store(where, [&](Store& store) {
    for (const std::string& key : arguments.keys) {
      if (const Expected<void> deleted = store.del(key); !deleted) {
        return fail(deleted.error());
      }
    }
    return exit_kept;
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
