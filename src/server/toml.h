// The part of TOML that settings need: comments, [section] and [section.part], and `key = value`
// lines. Keys are bare or quoted; values are strings ("basic" or 'literal'), whole numbers, true
// and false. Dates, floats, arrays, inline tables and values over several lines are refused by
// name.
//
// Any thread; no state. Meant for text that anybody may have written: which is why it is here at
// all. The toml++ of Debian 12, which reads the profiles that Remora brings along, has undefined
// behaviour for some malformed text, as the fuzzer of this one shows within a minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace remora::server {

struct TomlEntry {
  std::string section;  // "access.users"; empty above the first header
  std::string key;
  std::variant<std::string, std::int64_t, bool> value;
  std::size_t line = 0;
};

// The entries in their order. Fails with invalid_argument and "line 7: what is wrong, and what
// would be right"; it repeats no key, which may be a token. No key comes twice in a section, and no
// section twice.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text);

}  // namespace remora::server
