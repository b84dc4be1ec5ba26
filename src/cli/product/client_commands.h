// remora put, get, del, scan, stat and stop: one operation on a running store each. They return
// exit statuses: 1 when the key is not there, 3 when no store can be reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/product/connection.h"

namespace remora::cli {

inline constexpr int exit_no_such_key = 1;

struct PutArguments {
  std::string key;
  std::optional<std::string> value;  // or from a file, or from standard input
  std::string file;
  bool persistent = false;
};
int put_command(const ConnectArguments& where, const PutArguments& arguments);

struct GetArguments {
  std::string key;
  bool raw = false;  // the bytes and nothing else
};
int get_command(const ConnectArguments& where, const GetArguments& arguments);

int del_command(const ConnectArguments& where, const std::string& key);

struct ScanArguments {
  std::string prefix;
  std::uint64_t limit = 0;  // 0: all
  bool count = false;       // how many, and not which
};
int scan_command(const ConnectArguments& where, const ScanArguments& arguments);

struct StatArguments {
  std::string name;  // that value alone
  bool json = false;
};
int stat_command(const ConnectArguments& where, const StatArguments& arguments);

int stop_command(const ConnectArguments& where);

// What stat shows: the facts of the store, and those of this connection; of one name alone if that
// is not empty. Fails with invalid_argument when nothing has the name.
Expected<Facts> all_facts(Store& store, const std::string& name = "");

}  // namespace remora::cli
