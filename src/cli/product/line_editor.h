// LineEditor: reads lines from a person at a terminal, with editing and a history that is kept in a
// file; elsewhere (a pipe, a script) it reads plain lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace remora::cli {

class LineEditor {
 public:
  // The history's file is made when there is something to keep; empty: none is kept.
  explicit LineEditor(std::string history_file);

  bool is_terminal() const { return terminal_; }

  // The next line, without its end; nothing at the end of the input. A line that was cancelled is
  // an empty one.
  std::optional<std::string> read(const std::string& prompt);

 private:
  std::optional<std::string> read_plain();
  std::optional<std::string> edit(const std::string& prompt);
  void keep(const std::string& line);

  const std::string history_file_;
  const bool terminal_;
  std::vector<std::string> history_;
};

}  // namespace remora::cli
