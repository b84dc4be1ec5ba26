// Feeds arbitrary text to the parser of settings.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "server/toml.h"

namespace remora::server {
namespace {

// What was understood can be written down, and means the same again.
void fuzz_toml(std::string_view text) {
  const Result<std::vector<TomlEntry>> entries = parse_toml(text);
  if (!entries.ok()) {
    REMORA_CHECK(entries.status().message().starts_with("line "), "a failure names no line");
    return;
  }
  for (const TomlEntry& entry : *entries) {
    REMORA_CHECK(entry.line >= 1 && entry.line <= text.size() + 1, "a line that is not there");
    if (const std::int64_t* number = std::get_if<std::int64_t>(&entry.value)) {
      const auto again = parse_toml("a = " + std::to_string(*number));
      REMORA_CHECK(again.ok() && std::get<std::int64_t>((*again)[0].value) == *number,
                   "a number that is not read back");
    }
  }
}

}  // namespace
}  // namespace remora::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  remora::server::fuzz_toml({reinterpret_cast<const char*>(data), size});
  return 0;
}
