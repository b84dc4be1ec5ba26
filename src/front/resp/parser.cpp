#include "front/resp/parser.h"

#include <algorithm>
#include <cstring>

#include "front/resp/limits.h"
#include "front/resp/number.h"

namespace remora::resp {

void Parser::reset() {
  inside_ = false;
  left_ = 0;
  bulk_ = -1;
  at_ = 0;
  searched_ = 0;
  wanted_ = 1;
  pieces_.clear();
  args_.clear();
}

void Parser::shrink() {
  if (memory_bytes() > limits::kept_buffer_bytes) [[unlikely]] {
    std::vector<std::string_view>().swap(args_);  // `= {}` would keep its room
    std::vector<Piece>().swap(pieces_);
    std::vector<std::string>().swap(words_);
  }
}

Parser::Step Parser::fail(std::string text) {
  error_ = "Protocol error: " + std::move(text);
  return Step::error;
}

Parser::Step Parser::next(std::string_view bytes, bool stranger) {
  if (!inside_) {
    if (searched_ == 0) {
      reset();
    }
    if (bytes.empty()) {
      return Step::more;
    }
    if (bytes[0] != '*') {
      return next_line(bytes);
    }
  }
  return next_array(bytes, stranger);
}

// Nearly always one or two digits.
[[gnu::always_inline]] inline Parser::Number Parser::number(std::string_view bytes,
                                                            std::int64_t& value) {
  const char* const begin = bytes.data() + at_ + 1;
  const char* const limit = bytes.data() + bytes.size();
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  if (limit - begin >= 4 && is_digit(begin[0])) [[likely]] {
    if (begin[1] == '\r') {
      value = begin[0] - '0';
      at_ += 4;
      return Number::found;
    }
    if (begin[2] == '\r' && begin[0] != '0' && is_digit(begin[1])) {
      value = (begin[0] - '0') * 10 + (begin[1] - '0');
      at_ += 5;
      return Number::found;
    }
  }
  return any_number(bytes, value);
}

Parser::Number Parser::any_number(std::string_view bytes, std::int64_t& value) {
  const char* const begin = bytes.data() + at_ + 1;
  const char* const limit = bytes.data() + bytes.size();
  const char* const from = std::max(begin, bytes.data() + searched_);
  const void* const found =
      from < limit ? std::memchr(from, '\r', static_cast<std::size_t>(limit - from)) : nullptr;
  steps_ += static_cast<std::size_t>((found ? static_cast<const char*>(found) : limit) - from);
  if (found == nullptr) {
    searched_ = bytes.size();
    return bytes.size() - at_ > limits::line_bytes ? Number::too_long : Number::more;
  }
  const char* const end = static_cast<const char*>(found);
  if (limit - end < 2) {
    searched_ = static_cast<std::size_t>(end - bytes.data());
    return Number::more;
  }
  if (!parse_integer({begin, static_cast<std::size_t>(end - begin)}, value)) {
    return Number::bad;
  }
  at_ = static_cast<std::size_t>(end - bytes.data()) + 2;
  return Number::found;
}

Parser::Step Parser::next_array(std::string_view bytes, bool stranger) {
  const auto wait = [&](std::size_t size) {
    wanted_ = size;
    steps_ += args_.size();
    for (const std::string_view arg : args_) {
      pieces_.push_back({static_cast<std::uint32_t>(arg.data() - bytes.data()),
                         static_cast<std::uint32_t>(arg.size())});
    }
    args_.clear();
    return Step::more;
  };
  if (!inside_) {
    std::int64_t count = 0;
    switch (number(bytes, count)) {
      case Number::more:
        return wait(bytes.size() + 1);
      case Number::too_long:
        return fail("too big mbulk count string");
      case Number::bad:
        return fail("invalid multibulk length");
      case Number::found:
        break;
    }
    if (count > limits::arguments) {
      return fail("invalid multibulk length");
    }
    if (stranger && count > limits::stranger_arguments) {
      return fail("unauthenticated multibulk length");
    }
    if (count <= 0) {
      searched_ = 0;
      return Step::request;
    }
    inside_ = true;
    left_ = count;
  }
  while (left_ > 0) {
    if (bulk_ < 0) {
      if (at_ >= bytes.size()) {
        return wait(bytes.size() + 1);
      }
      const std::size_t line = at_;
      switch (number(bytes, bulk_)) {
        case Number::more:
          bulk_ = -1;
          return wait(bytes.size() + 1);
        case Number::too_long:
          return fail("too big bulk count string");
        case Number::bad:
          if (bytes[line] == '$') {
            return fail("invalid bulk length");
          }
          break;
        case Number::found:
          break;
      }
      if (bytes[line] != '$') {
        return fail(std::string("expected '$', got '") + bytes[line] + "'");
      }
      if (bulk_ < 0) {
        return fail("invalid bulk length");
      }
      if (bulk_ > limits::bulk_bytes) {
        return fail("invalid bulk length: a value has at most 16777216 bytes");
      }
      if (stranger && bulk_ > limits::stranger_bulk_bytes) {
        return fail("unauthenticated bulk length");
      }
    }
    const auto size = static_cast<std::size_t>(bulk_);
    if (bytes.size() - at_ < size + 2) {
      return wait(at_ + size + 2);
    }
    if (at_ + size > limits::request_bytes) {
      return fail("too big a request");
    }
    args_.emplace_back(bytes.data() + at_, size);
    at_ += size + 2;
    bulk_ = -1;
    --left_;
  }
  inside_ = false;
  searched_ = 0;
  if (!pieces_.empty()) {
    take_pieces(bytes);
  }
  return Step::request;
}

// The arguments of earlier calls, before those of this one. The bytes may lie elsewhere than at
// those calls; once, when the request is whole, is enough.
void Parser::take_pieces(std::string_view bytes) {
  std::vector<std::string_view> all;
  all.reserve(pieces_.size() + args_.size());
  steps_ += all.capacity();
  for (const Piece& piece : pieces_) {
    all.emplace_back(bytes.data() + piece.from, piece.size);
  }
  all.insert(all.end(), args_.begin(), args_.end());
  args_ = std::move(all);
  std::vector<Piece>().swap(pieces_);
}

Parser::Step Parser::next_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n', searched_);
  steps_ += std::min(end, bytes.size()) - searched_;
  if (end == std::string_view::npos) {
    wanted_ = bytes.size() + 1;
    searched_ = bytes.size();
    return bytes.size() > limits::line_bytes ? fail("too big inline request") : Step::more;
  }
  std::string_view line = bytes.substr(0, end);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (!split_words(line, words_)) {
    return fail("unbalanced quotes in request");
  }
  args_.assign(words_.begin(), words_.end());
  at_ = end + 1;
  searched_ = 0;
  return Step::request;
}

namespace {

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') {
    return letter - '0';
  }
  const char low = static_cast<char>(letter | 0x20);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

bool is_space(char letter) {
  return letter == ' ' || (letter >= '\t' && letter <= '\r');
}

// The letter behind a backslash in double quotes; `at` is moved past what it took.
char unescaped(std::string_view line, std::size_t& at) {
  if (line[at] == 'x' && at + 2 < line.size() && hex_digit(line[at + 1]) >= 0 &&
      hex_digit(line[at + 2]) >= 0) {
    const int value = hex_digit(line[at + 1]) * 16 + hex_digit(line[at + 2]);
    at += 3;
    return static_cast<char>(value);
  }
  switch (line[at++]) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return line[at - 1];
  }
}

// A quoted part of a word, from behind its first quote; false when it has no end.
bool take_quoted(std::string_view line, std::size_t& at, char quote, std::string& word) {
  for (;;) {
    if (at >= line.size() || line[at] == '\0') {
      return false;
    }
    if (quote == '"' && line[at] == '\\' && at + 1 < line.size()) {
      ++at;
      word += unescaped(line, at);
    } else if (quote == '\'' && line[at] == '\\' && at + 1 < line.size() && line[at + 1] == '\'') {
      word += '\'';
      at += 2;
    } else if (line[at] == quote) {
      ++at;
      // A closing quote is followed by a space or by nothing.
      return at >= line.size() || line[at] == '\0' || is_space(line[at]);
    } else {
      word += line[at++];
    }
  }
}

}  // namespace

bool split_words(std::string_view line, std::vector<std::string>& words) {
  words.clear();
  line = line.substr(0, line.find('\0'));
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_space(line[at])) {
      ++at;
    }
    if (at == line.size()) {
      return true;
    }
    std::string& word = words.emplace_back();
    while (at < line.size() && !is_space(line[at])) {
      if (line[at] == '"' || line[at] == '\'') {
        const char quote = line[at++];
        if (!take_quoted(line, at, quote, word)) {
          return false;
        }
        break;
      }
      word += line[at++];
    }
  }
}

}  // namespace remora::resp
