#include "front/resp/output.h"

#include <algorithm>
#include <string>

namespace remora::resp {
namespace {

constexpr std::size_t first_bytes = 16 * 1024;

}  // namespace

char* Output::grow(std::size_t bytes) {
  const std::size_t wanted = size_ + bytes;
  if (wanted > limits::output_bytes) {
    overflown_ = true;
    return nullptr;
  }
  const std::size_t capacity = std::max({first_bytes, wanted, capacity_ * 2});
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ != 0) {
    std::memcpy(larger.get(), data_.get(), size_);
  }
  data_ = std::move(larger);
  capacity_ = capacity;
  return data_.get() + size_;
}

void Output::error(std::string_view text) {
  std::string one_line(text);
  std::ranges::replace_if(
      one_line, [](char letter) { return letter == '\r' || letter == '\n'; }, ' ');
  line('-', one_line);
}

void Output::verbatim(std::string_view text, Protocol protocol) {
  if (protocol == Protocol::two) {
    bulk(text);
    return;
  }
  number('=', static_cast<std::int64_t>(text.size() + 4));
  raw("txt:");
  raw(text);
  raw("\r\n");
}

}  // namespace remora::resp
