#include "tests/support/files.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/check.h"

namespace remora {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_text(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  REMORA_CHECK(out.flush().good(), "a test cannot write its file");
}

void overwrite(const fs::path& path, std::uint64_t offset, std::string_view bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
  REMORA_CHECK(file.flush().good(), "a test cannot change its file");
}

}  // namespace remora
