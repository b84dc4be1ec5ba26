// remora put, get, del, scan and stop: one operation on a running store each. They return
// exit statuses: 1 when the key is not there, 3 when no store can be reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/product/connection.h"

namespace remora::cli {

inline constexpr int exit_no_such_key = 1;

struct PutArguments {
  std::string key;
  std::optional<std::string> value;  // or from a file, or from standard input
  std::string file;
  bool persistent = false;
};
// The value, from wherever it is to come.
Result<std::string> value_of(const PutArguments& arguments);
int put_command(const ConnectArguments& where, const PutArguments& arguments);

struct GetArguments {
  std::string key;
  bool raw = false;  // the bytes alone, on a terminal too
};
int get_command(const ConnectArguments& where, const GetArguments& arguments);

struct DelArguments {
  std::vector<std::string> keys;
};
int del_command(const ConnectArguments& where, const DelArguments& arguments);

struct ScanArguments {
  std::string prefix;
  std::uint64_t limit = 0;  // 0: all
  bool count = false;       // how many, and not which
};
int scan_command(const ConnectArguments& where, const ScanArguments& arguments);

int stop_command(const ConnectArguments& where);

}  // namespace remora::cli
