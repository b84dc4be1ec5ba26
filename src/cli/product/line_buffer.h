// LineBuffer: a line while it is typed, and the lines before it. Takes the bytes that a terminal
// sends and says what became of the line; how it looks is another's business.
//
// Keys are those of other shells: arrows, Home, End, Backspace, Delete, Ctrl-A E B F P N D K U W.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace remora::cli {

class LineBuffer {
 public:
  enum class Event : std::uint8_t {
    none,       // wait for more
    changed,    // show it anew
    finished,   // Enter
    cancelled,  // Ctrl-C
    ended,      // Ctrl-D on an empty line
    clear,      // Ctrl-L
  };

  // The lines before, oldest first; they outlive the buffer.
  explicit LineBuffer(const std::vector<std::string>& history)
      : history_(history), at_(history.size()) {}

  Event take(char byte);

  const std::string& text() const { return text_; }
  // Where the next letter goes, in bytes, and in letters.
  std::size_t cursor() const { return cursor_; }
  std::size_t cursor_column() const { return letters(std::string_view(text_).substr(0, cursor_)); }

  // How many letters UTF-8 has here.
  static std::size_t letters(std::string_view text);

 private:
  Event control(char byte);
  Event escape(char byte);
  Event key(char name);
  Event recall(std::size_t at);
  Event erase(std::size_t from, std::size_t to);
  std::size_t left_of(std::size_t at) const;
  std::size_t right_of(std::size_t at) const;
  std::size_t word_before() const;

  const std::vector<std::string>& history_;
  std::size_t at_;  // which line is shown; the one behind the last is what was typed
  std::string typed_;
  std::string text_;
  std::size_t cursor_ = 0;
  std::string sequence_;  // an escape sequence that has not ended
};

}  // namespace remora::cli
