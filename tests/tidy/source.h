// The files that tidy_test looks at, and the small text tools that its rules are made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace remora::tidy {

// One complaint. `message` says what to do about it.
struct Finding {
  std::string path;
  std::size_t line;
  std::string message;
};

struct Source {
  Source(std::string path_in_tree, std::string whole_text);

  std::string path;  // from the root of the tree, with '/'
  std::string text;
  std::string code;  // the text with comments and literals blanked: same length, same lines

  bool is_cpp() const;  // .h or .cpp
  bool is_header() const;
};

// Blanks comments, and the insides of string and character literals, of C++ text.
std::string code_only(std::string_view text);

// Lines without their newlines. A newline at the end opens no further line.
std::vector<std::string_view> lines_of(std::string_view text);

// The line, from 1, that holds text[offset].
std::size_t line_at(std::string_view text, std::size_t offset);

// Where `token` stands in `code` from `start` on as a token of its own, not as part of a longer
// name; npos if nowhere. A token that ends in '(' is a free function: a member is not meant.
std::size_t find_token(std::string_view code, std::string_view token, std::size_t start = 0);

// The offset after the bracket (`closing`, ')' or '}') that closes the one that code[inside] stands
// in; the end if none does.
std::size_t after_closing(std::string_view code, std::size_t inside, char closing);

// Every file under root that the rules care for: C++, CMake, documents and scripts, without build
// folders and hidden ones. In the order of their paths.
std::vector<Source> load_tree(const std::filesystem::path& root);

}  // namespace remora::tidy
