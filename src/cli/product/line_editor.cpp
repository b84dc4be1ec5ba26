#include "cli/product/line_editor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <utility>

#include "cli/product/line_buffer.h"

namespace remora::cli {
namespace {

constexpr std::size_t most_kept_lines = 1000;

// The terminal hands over every key as it is, until this goes.
class RawTerminal {
 public:
  RawTerminal() {
    works_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    if (works_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
      raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
      raw.c_cc[VMIN] = 1;
      raw.c_cc[VTIME] = 0;
      works_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    }
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (works_) {
      tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    }
  }
  bool works() const { return works_; }

 private:
  termios before_ = {};
  bool works_ = false;
};

void show_line(const std::string& prompt, const LineBuffer& line) {
  fmt::print("\r\033[K{}{}\r\033[{}C", prompt, line.text(),
             LineBuffer::letters(prompt) + line.cursor_column());
  std::fflush(stdout);
}

}  // namespace

LineEditor::LineEditor(std::string history_file)
    : history_file_(std::move(history_file)),
      terminal_(isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) {
  if (!terminal_ || history_file_.empty()) {
    return;
  }
  std::ifstream file(history_file_);
  for (std::string line; std::getline(file, line);) {
    history_.push_back(line);
  }
  if (history_.size() > most_kept_lines) {
    history_.erase(history_.begin(), history_.end() - most_kept_lines);
  }
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  return terminal_ ? edit(prompt) : read_plain();
}

std::optional<std::string> LineEditor::read_plain() {
  std::string line;
  return std::getline(std::cin, line) ? std::optional(line) : std::nullopt;
}

std::optional<std::string> LineEditor::edit(const std::string& prompt) {
  const RawTerminal raw;
  if (!raw.works()) {
    return read_plain();
  }
  LineBuffer line(history_);
  show_line(prompt, line);
  for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) == 1;) {
    switch (line.take(byte)) {
      case LineBuffer::Event::none:
        break;
      case LineBuffer::Event::clear:
        fmt::print("\033[H\033[2J");
        [[fallthrough]];
      case LineBuffer::Event::changed:
        show_line(prompt, line);
        break;
      case LineBuffer::Event::finished:
        fmt::print("\n");
        keep(line.text());
        return line.text();
      case LineBuffer::Event::cancelled:
        fmt::print("^C\n");
        return std::string();
      case LineBuffer::Event::ended:
        fmt::print("\n");
        return std::nullopt;
    }
  }
  return std::nullopt;
}

// It may hold values: for its owner's eyes.
void LineEditor::keep(const std::string& line) {
  if (line.find_first_not_of(' ') == std::string::npos ||
      (!history_.empty() && history_.back() == line)) {
    return;
  }
  history_.push_back(line);
  if (history_file_.empty()) {
    return;
  }
  const int file = open(history_file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) {
    const std::string bytes = line + "\n";
    [[maybe_unused]] const ssize_t written = write(file, bytes.data(), bytes.size());
    close(file);
  }
}

}  // namespace remora::cli
