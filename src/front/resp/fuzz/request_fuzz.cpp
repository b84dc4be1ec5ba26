// Bytes that a Redis client might send, whole and in pieces: both ways find the same requests, in
// bounds, and the same mistakes. What they find is a pattern, and a number, too; and shown in
// quotes it is read back as it was.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "front/resp/glob.h"
#include "front/resp/number.h"
#include "front/resp/parser.h"
#include "front/resp/quoted.h"

using remora::resp::Parser;

namespace {

struct Found {
  std::vector<std::vector<std::string>> requests;
  std::string error;

  bool operator==(const Found&) const = default;
};

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

Found parse(std::string_view bytes, std::size_t piece, bool stranger) {
  Found found;
  Parser parser;
  std::string kept;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    kept += bytes.substr(at, piece);
    for (;;) {
      // A copy that is no larger than it says, so that a step too far is seen.
      const std::vector<char> exact(kept.begin(), kept.end());
      const Parser::Step step = parser.next({exact.data(), exact.size()}, stranger);
      if (step == Parser::Step::more) {
        require(parser.wanted() > kept.size());
        break;
      }
      if (step == Parser::Step::error) {
        found.error = parser.error();
        return found;
      }
      require(parser.size() > 0 && parser.size() <= kept.size());
      found.requests.emplace_back(parser.args().begin(), parser.args().end());
      kept.erase(0, parser.size());
    }
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 4096) {
    return 0;
  }
  const bool stranger = data[0] % 2 == 1;
  const std::size_t piece = 1 + data[0] / 2 % 16;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Found whole = parse(bytes, bytes.size(), stranger);
  require(whole == parse(bytes, piece, stranger));
  for (const std::vector<std::string>& request : whole.requests) {
    std::string shown;
    for (const std::string& argument : request) {
      remora::resp::append_quoted(shown, argument);
      shown += ' ';
    }
    std::vector<std::string> read_back;
    require(remora::resp::split_words(shown, read_back) && read_back == request);
    for (const std::string& argument : request) {
      std::int64_t integer = 0;
      if (remora::resp::parse_integer(argument, integer)) {
        char text[24];
        const char* const end = remora::resp::write_integer(text, integer);
        require(argument == std::string_view(text, static_cast<std::size_t>(end - text)));
      }
      long double number = 0;
      if (remora::resp::parse_float(argument, number)) {
        (void)remora::resp::float_text(number);
      }
      (void)remora::resp::matches(argument, request.front());
    }
  }
  return 0;
}
