#include "cli/product/line_buffer.h"

#include <algorithm>
#include <utility>

namespace remora::cli {
namespace {

constexpr char escape_byte = '\033';
constexpr std::size_t longest_sequence = 8;
constexpr std::size_t longest_line = 1 << 20;

constexpr char ctrl(char letter) {
  return static_cast<char>(letter & 0x1f);
}

bool continues_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace

std::size_t LineBuffer::letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_letter(byte); }));
}

std::size_t LineBuffer::left_of(std::size_t at) const {
  while (at != 0 && continues_letter(text_[--at])) {
  }
  return at;
}

std::size_t LineBuffer::right_of(std::size_t at) const {
  at += at < text_.size() ? 1u : 0u;
  while (at < text_.size() && continues_letter(text_[at])) {
    ++at;
  }
  return at;
}

std::size_t LineBuffer::word_before() const {
  std::size_t at = cursor_;
  while (at != 0 && text_[at - 1] == ' ') {
    --at;
  }
  while (at != 0 && text_[at - 1] != ' ') {
    --at;
  }
  return at;
}

LineBuffer::Event LineBuffer::erase(std::size_t from, std::size_t to) {
  text_.erase(from, to - from);
  cursor_ = from;
  return Event::changed;
}

LineBuffer::Event LineBuffer::recall(std::size_t at) {
  if (at > history_.size()) {
    return Event::none;
  }
  if (at_ == history_.size()) {
    typed_ = text_;
  }
  at_ = at;
  text_ = at == history_.size() ? typed_ : history_[at];
  cursor_ = text_.size();
  return Event::changed;
}

LineBuffer::Event LineBuffer::take(char byte) {
  if (!sequence_.empty()) {
    return escape(byte);
  }
  if (byte == escape_byte) {
    sequence_ = byte;
    return Event::none;
  }
  if (static_cast<unsigned char>(byte) < ' ' || byte == 0x7f) {
    return control(byte);
  }
  if (text_.size() == longest_line) {
    return Event::none;
  }
  text_.insert(cursor_++, 1, byte);
  return Event::changed;
}

LineBuffer::Event LineBuffer::control(char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return Event::finished;
    case ctrl('C'):
      return Event::cancelled;
    case ctrl('D'):
      return text_.empty() ? Event::ended : key('3');
    case ctrl('L'):
      return Event::clear;
    case ctrl('A'):
      return key('H');
    case ctrl('E'):
      return key('F');
    case ctrl('B'):
      return key('D');
    case ctrl('F'):
      return key('C');
    case ctrl('P'):
      return key('A');
    case ctrl('N'):
      return key('B');
    case ctrl('H'):
    case 0x7f:
      return erase(left_of(cursor_), cursor_);
    case ctrl('K'):
      return erase(cursor_, text_.size());
    case ctrl('U'):
      return erase(0, cursor_);
    case ctrl('W'):
      return erase(word_before(), cursor_);
    case '\t':
      return take(' ');
    default:
      return Event::none;
  }
}

// "ESC [ letter", "ESC O letter", "ESC [ digits ~".
LineBuffer::Event LineBuffer::escape(char byte) {
  sequence_ += byte;
  if (sequence_.size() == 2 && (byte == '[' || byte == 'O')) {
    return Event::none;
  }
  const bool goes_on = (byte >= '0' && byte <= '9') || byte == ';';
  if (sequence_.size() > 2 && goes_on && sequence_.size() < longest_sequence) {
    return Event::none;
  }
  const std::string sequence = std::exchange(sequence_, "");
  if (sequence.size() < 3) {
    return Event::none;
  }
  return key(byte == '~' ? sequence[2] : byte);
}

LineBuffer::Event LineBuffer::key(char name) {
  switch (name) {
    case 'A':
      return at_ == 0 ? Event::none : recall(at_ - 1);
    case 'B':
      return recall(at_ + 1);
    case 'C':
      cursor_ = right_of(cursor_);
      return Event::changed;
    case 'D':
      cursor_ = left_of(cursor_);
      return Event::changed;
    case 'H':
    case '1':
    case '7':
      cursor_ = 0;
      return Event::changed;
    case 'F':
    case '4':
    case '8':
      cursor_ = text_.size();
      return Event::changed;
    case '3':
      return erase(cursor_, right_of(cursor_));
    default:
      return Event::none;
  }
}

}  // namespace remora::cli
