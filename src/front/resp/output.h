// Output: the replies to one client, in the words of RESP2 or RESP3. A buffer that is used again
// and again: once it has grown, nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "front/resp/limits.h"
#include "front/resp/number.h"

namespace remora::resp {

enum class Protocol : std::uint8_t { two = 2, three = 3 };

class Output {
 public:
  std::string_view text() const { return {data_.get() + begin_, size_ - begin_}; }
  std::size_t size() const { return size_ - begin_; }
  bool empty() const { return size_ == begin_; }
  void clear() {
    size_ = begin_;
    borrowed_ = {};
  }
  // Takes back what was written since the size was this.
  void truncate(std::size_t size) {
    size_ = begin_ + size;
    borrowed_ = {};
  }

  // Puts the text aside: it is of no concern for what follows, which begins empty. Where it lies,
  // from the first text that was put aside.
  struct Aside {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Aside put_aside() {
    const Aside aside{begin_, size_};
    begin_ = size_;
    return aside;
  }
  std::string_view text(Aside aside) const {
    return {data_.get() + aside.begin, aside.end - aside.begin};
  }
  std::size_t bytes_aside() const { return begin_; }
  void drop_asides() {
    begin_ = 0;
    clear();
  }

  // More than one client may have was written: what is here is not complete.
  bool overflown() const { return overflown_; }
  void forgive() { overflown_ = false; }
  // Gives a large buffer back.
  void shrink() {
    if (capacity_ > limits::kept_buffer_bytes && begin_ == 0) {
      data_.reset();
      capacity_ = 0;
      size_ = 0;
    }
  }

  void raw(std::string_view text) {
    if (char* to = room(text.size())) {
      std::memcpy(to, text.data(), text.size());
      size_ += text.size();
    }
  }
  void ok() { raw("+OK\r\n"); }
  void simple(std::string_view text) { line('+', text); }
  // The text with its kind in front: "ERR ...". Line ends in it become spaces.
  void error(std::string_view text);
  void integer(std::int64_t value) { number(':', value); }
  void bulk(std::string_view text) {
    if (char* to = room(text.size() + head_bytes)) {
      char* const begin = to;
      *to++ = '$';
      to = write_integer(to, static_cast<std::int64_t>(text.size()));
      *to++ = '\r';
      *to++ = '\n';
      if (!text.empty()) {
        std::memcpy(to, text.data(), text.size());
      }
      to += text.size();
      *to++ = '\r';
      *to++ = '\n';
      size_ += static_cast<std::size_t>(to - begin);
    }
  }
  // What stands before the bytes of a bulk string; they and a line end follow.
  void bulk_head(std::size_t size) { number('$', static_cast<std::int64_t>(size)); }
  // The same for bytes that are not copied: they and their line end follow what is here, and are
  // sent before anything else is done.
  void borrow(std::string_view text) {
    bulk_head(text.size());
    borrowed_ = text;
  }
  std::string_view borrowed() const { return borrowed_; }
  void null(Protocol protocol) { raw(protocol == Protocol::three ? "_\r\n" : "$-1\r\n"); }
  void null_array(Protocol protocol) { raw(protocol == Protocol::three ? "_\r\n" : "*-1\r\n"); }
  void array(std::size_t count) { number('*', static_cast<std::int64_t>(count)); }
  // So many pairs follow.
  void map(std::size_t count, Protocol protocol) {
    number(protocol == Protocol::three ? '%' : '*',
           static_cast<std::int64_t>(protocol == Protocol::three ? count : 2 * count));
  }
  void set(std::size_t count, Protocol protocol) {
    number(protocol == Protocol::three ? '~' : '*', static_cast<std::int64_t>(count));
  }
  // Text for people.
  void verbatim(std::string_view text, Protocol protocol);

 private:
  static constexpr std::size_t head_bytes = 32;

  void line(char kind, std::string_view text) {
    raw({&kind, 1});
    raw(text);
    raw("\r\n");
  }
  void number(char kind, std::int64_t value) {
    if (char* to = room(head_bytes)) {
      char* const begin = to;
      *to++ = kind;
      to = write_integer(to, value);
      *to++ = '\r';
      *to++ = '\n';
      size_ += static_cast<std::size_t>(to - begin);
    }
  }
  // Room for so many bytes, or null when the client has too many.
  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]] {
      return grow(bytes);
    }
    return data_.get() + size_;
  }
  char* grow(std::size_t bytes);

  std::unique_ptr<char[]> data_;
  std::size_t begin_ = 0;  // behind what was put aside
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool overflown_ = false;
  std::string_view borrowed_;
};

}  // namespace remora::resp
