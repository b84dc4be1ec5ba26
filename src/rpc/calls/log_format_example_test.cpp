// The worked example of docs/formats/calls.md: the bytes shown there are the bytes made here.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "rpc/calls/log_writer.h"

namespace remora::rpc::calls {
namespace {

std::string print_as(const char* format, auto value) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, format, value);
  return std::string(text, static_cast<std::size_t>(length));
}

// As `hexdump -C` shows it.
std::string dump_rows(ConstBytes bytes, std::size_t from, std::size_t size) {
  std::string text;
  for (std::size_t at = from; at < from + size; at += 16) {
    std::string letters;
    text += print_as("%08zx ", at);
    for (std::size_t i = 0; i < 16; ++i) {
      const auto byte = static_cast<unsigned>(bytes[at + i]);
      text += (i == 8 ? "  " : " ") + print_as("%02x", byte);
      letters += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
    }
    text += "  |" + letters + "|\n";
  }
  return text;
}

// A log of the session "till-3", whose first call is one of method 0x1d with the data "apples 3".
std::vector<std::byte> example(Form form) {
  constexpr std::uint64_t session = 0x5eed;
  std::vector<std::byte> log(log_format::log_bytes(log_format::smallest_ring_bytes));
  log_format::Identity identity{.magic = log_format::magic,
                                .version = log_format::version,
                                .window = 64,
                                .session = session,
                                .ring_bytes = log_format::smallest_ring_bytes,
                                .secret = 0xabcd,
                                .name = {'t', 'i', 'l', 'l', '-', '3'},
                                .reserved = {},
                                .reserved_tail = 0,
                                .checksum = 0};
  identity.checksum = checksum_of(identity);
  std::memcpy(log.data(), &identity, sizeof identity);
  log_format::Mark mark{.number = 1,
                        .epoch = 1,
                        .head = 0,
                        .sequence = 1,
                        .acknowledged = 0,
                        .holder = 9,
                        .form = form,
                        .reserved = 0,
                        .reserved_tail = 0,
                        .checksum = 0};
  mark.checksum = checksum_of(mark, session);
  std::memcpy(&log[log_format::marks_offset + sizeof mark], &mark, sizeof mark);
  LogWriter writer({.session = session, .epoch = 1, .form = form, .window = 64},
                   Bytes(log).subspan(log_format::ring_offset));
  const LogWriter::Entry entry = writer.append(0x1d, as_bytes("apples 3"), 0);
  if (form == Form::ordered) {
    store(&log[log_format::ring_offset], entry.word);
  }
  return log;
}

void expect_in_document(const std::vector<std::byte>& log, std::size_t from, std::size_t size) {
  std::ifstream file(REMORA_SOURCE "/docs/formats/calls.md");
  const std::string document(std::istreambuf_iterator<char>(file), {});
  const std::string rows = dump_rows(log, from, size);
  EXPECT_NE(document.find(rows), std::string::npos)
      << "docs/formats/calls.md does not show these bytes as they are:\n"
      << rows;
}

TEST(CallsFormatExample, shows_identity_and_mark) {
  expect_in_document(example(Form::checksum), 0, 64);
  expect_in_document(example(Form::checksum), 192, 64);
}

TEST(CallsFormatExample, shows_an_entry_of_each_form) {
  expect_in_document(example(Form::checksum), log_format::ring_offset, 64);
  expect_in_document(example(Form::ordered), log_format::ring_offset, 112);
}

}  // namespace
}  // namespace remora::rpc::calls
