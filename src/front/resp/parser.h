// Parser: the requests of a Redis client, out of the bytes that it sent: arrays of bulk strings, or
// one line of words. Incremental: a request may come in any number of pieces, and none of it is
// looked at twice. Nothing is copied, but for the words of a line.
//
// The bytes come from outside: every length is checked, and what is promised costs no memory before
// it is there. Free of headers that a fuzzer's compiler could not take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace remora::resp {

class Parser {
 public:
  enum class Step : std::uint8_t {
    request,  // args() are those of a request; none: an empty one, which wants no answer
    more,     // the request is not whole yet
    error,    // error() says why; there is no sense in what follows
  };

  // `bytes` begins where the request begins, and is what it was at the last call, and more; only
  // its place in memory may differ. After `request` the next call begins the next one, behind
  // size(). A stranger may send little.
  Step next(std::string_view bytes, bool stranger);

  // Views into the bytes of the last call.
  std::span<const std::string_view> args() const { return args_; }
  // Of the request, in bytes.
  std::size_t size() const { return at_; }
  // How many bytes there must be before another call makes sense.
  std::size_t wanted() const { return wanted_; }
  const std::string& error() const { return error_; }

  // Steps that it has taken beside those of requests that come whole: bytes in which it looked for
  // the end of a line, arguments that it put down. In proportion to the bytes that came.
  std::uint64_t steps() const { return steps_; }

  // What it keeps of a request with many arguments, and what it may take beside that for a moment:
  // pieces grow beside their old copies, and become arguments in the end.
  std::size_t memory_bytes() const {
    return args_.capacity() * sizeof(std::string_view) +
           pieces_.capacity() * (sizeof(Piece) + std::max(2 * sizeof(Piece), sizeof args_[0])) +
           words_.capacity() * sizeof(std::string);
  }

  // Whether a request has begun.
  bool is_inside() const { return inside_ || searched_ != 0; }
  void reset();
  // Gives back the room that a long request has taken, between two requests.
  void shrink();

 private:
  struct Piece {
    std::uint32_t from = 0;
    std::uint32_t size = 0;
  };

  Step next_line(std::string_view bytes);
  Step next_array(std::string_view bytes, bool stranger);
  // The number behind the first byte of the line at at_; -1: the line is not whole.
  enum class Number : std::uint8_t { found, more, bad, too_long };
  Number number(std::string_view bytes, std::int64_t& value);
  Number any_number(std::string_view bytes, std::int64_t& value);
  void take_pieces(std::string_view bytes);
  Step fail(std::string text);

  bool inside_ = false;
  std::int64_t left_ = 0;   // arguments
  std::int64_t bulk_ = -1;  // the size of the argument that is next, when it is known
  std::size_t at_ = 0;
  std::size_t searched_ = 0;  // no end of a line lies before this; 0 between two requests
  std::size_t wanted_ = 1;
  std::uint64_t steps_ = 0;
  std::vector<std::string_view> args_;  // that this call found, or all when the request is whole
  std::vector<Piece> pieces_;           // where those are that earlier calls found
  std::vector<std::string> words_;
  std::string error_;
};

// The words of a line, with quotes and escapes as redis-cli has them; false: unbalanced quotes.
bool split_words(std::string_view line, std::vector<std::string>& words);

}  // namespace remora::resp
