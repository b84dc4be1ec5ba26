#include <string>

#include "base/check.h"
#include "server/fuzz/server_fuzz.h"
#include "server/toml.h"

namespace remora::server {

// A failure names its line, and what was understood lies in the text.
int fuzz_toml(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<std::vector<TomlEntry>> entries = parse_toml(text);
  if (!entries.ok()) {
    REMORA_CHECK(entries.status().message().starts_with("line "), "a failure names no line");
    return 0;
  }
  std::size_t line = 1;
  for (const TomlEntry& entry : *entries) {
    REMORA_CHECK(entry.line >= line && entry.line <= size + 1, "a line that is not there");
    line = entry.line;
    if (const std::int64_t* number = std::get_if<std::int64_t>(&entry.value)) {
      const auto again = parse_toml("a = " + std::to_string(*number));
      REMORA_CHECK(again.ok() && std::get<std::int64_t>((*again)[0].value) == *number,
                   "a number that is not read back");
    }
  }
  return 0;
}

}  // namespace remora::server

#ifdef REMORA_FUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return remora::server::fuzz_toml(data, size);
}
#endif
