#include "front/resp/parser.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "front/resp/limits.h"

namespace remora::resp {
namespace {

using Words = std::vector<std::string>;

// All requests in the bytes, handed over in pieces of this size; then the error, if there is one.
std::vector<Words> parse(const std::string& bytes, std::size_t piece, bool stranger = false) {
  std::vector<Words> requests;
  Parser parser;
  std::string kept;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    kept += bytes.substr(at, piece);
    for (;;) {
      const Parser::Step step = parser.next(kept, stranger);
      if (step == Parser::Step::more) {
        EXPECT_GT(parser.wanted(), kept.size());
        break;
      }
      if (step == Parser::Step::error) {
        requests.push_back({"error", parser.error()});
        return requests;
      }
      requests.emplace_back(parser.args().begin(), parser.args().end());
      kept.erase(0, parser.size());
    }
  }
  return requests;
}

void expect(const std::string& bytes, const std::vector<Words>& requests) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, bytes.size()}) {
    EXPECT_EQ(parse(bytes, piece), requests) << bytes.substr(0, 60) << " by " << piece;
  }
}

void expect_error(const std::string& bytes, const std::string& error) {
  expect(bytes, {{"error", "Protocol error: " + error}});
}

TEST(Parser, takes_arrays_of_bulk_strings) {
  expect("*1\r\n$4\r\nPING\r\n", {{"PING"}});
  expect("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nvalue\r\nvalue\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
         {{"SET", "k", "value\r\nvalue"}, {"GET", "k"}});
  expect(std::string("*2\r\n$3\r\nGET\r\n$3\r\n\0\r\n\r\n", 22),
         {{"GET", std::string("\0\r\n", 3)}});
  expect("*2\r\n$0\r\n\r\n$0\r\n\r\n", {{"", ""}});
}

TEST(Parser, takes_empty_requests_for_none) {
  expect("*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n", {{}, {}, {"PING"}});
  expect("\r\n\nPING\r\n", {{}, {}, {"PING"}});
}

TEST(Parser, takes_lines_of_words) {
  expect("SET key \"a b\\n\\x41\" 'it\\'s'\r\nGET key\n",
         {{"SET", "key", "a b\nA", "it's"}, {"GET", "key"}});
  expect("  ping  \r\n", {{"ping"}});
  expect_error("SET \"open\r\n", "unbalanced quotes in request");
  expect_error("SET \"a\"b\r\n", "unbalanced quotes in request");
}

TEST(Parser, refuses_what_redis_refuses) {
  expect_error("*a\r\n", "invalid multibulk length");
  expect_error("*99999999999\r\n", "invalid multibulk length");
  expect_error("*1048577\r\n", "invalid multibulk length");
  expect_error("*01\r\n", "invalid multibulk length");
  expect_error("*1\r\n#3\r\n", "expected '$', got '#'");
  expect_error("*1\r\nabc\r\n", "expected '$', got 'a'");
  expect_error("*1\r\n$-1\r\n", "invalid bulk length");
  expect_error("*1\r\n$x\r\n", "invalid bulk length");
  expect_error("*1\r\n$16777217\r\n", "invalid bulk length: a value has at most 16777216 bytes");
}

TEST(Parser, bounds_lines_that_do_not_end) {
  const std::string digits(limits::line_bytes + 10, '1');
  expect_error(digits, "too big inline request");
  EXPECT_EQ(parse("*" + digits, 4096).back()[1], "Protocol error: too big mbulk count string");
  EXPECT_EQ(parse("*1\r\n$" + digits, 4096).back()[1], "Protocol error: too big bulk count string");
}

TEST(Parser, takes_little_from_strangers) {
  EXPECT_EQ(parse("*11\r\n", 5, true).back()[1],
            "Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(parse("*1\r\n$16385\r\n", 20, true).back()[1],
            "Protocol error: unauthenticated bulk length");
  EXPECT_EQ(parse("*1\r\n$4\r\nPING\r\n", 20, true).back(), Words{"PING"});
}

TEST(Parser, says_how_much_it_waits_for) {
  Parser parser;
  EXPECT_EQ(parser.next("*2\r\n$3\r\nSET\r\n$1000\r\n", false), Parser::Step::more);
  EXPECT_EQ(parser.wanted(), 20u + 1002);
}

// Of a request that comes in pieces of so many bytes.
std::uint64_t steps_for(const std::string& bytes, std::size_t piece, std::size_t arguments) {
  Parser parser;
  for (std::size_t size = piece; size < bytes.size(); size += piece) {
    EXPECT_EQ(parser.next(std::string_view(bytes).substr(0, size), false), Parser::Step::more);
    EXPECT_TRUE(parser.is_inside());
  }
  EXPECT_EQ(parser.next(bytes, false), Parser::Step::request);
  EXPECT_EQ(parser.args().size(), arguments);
  EXPECT_FALSE(parser.is_inside());
  return parser.steps();
}

// What looked at all of it again with every piece would take a thousand times as many.
TEST(Parser, looks_at_no_byte_twice_however_many_pieces_there_are) {
  constexpr std::size_t arguments = 131'072;
  std::string array = "*" + std::to_string(arguments) + "\r\n";
  for (std::size_t i = 0; i < arguments; ++i) {
    array += "$1\r\na\r\n";
  }
  EXPECT_LE(steps_for(array, 64, arguments), array.size());
  EXPECT_LE(steps_for(array, 3, arguments), array.size());
  const std::string line = "SET key " + std::string(limits::line_bytes - 100, 'v') + "\r\n";
  EXPECT_LE(steps_for(line, 1, 3), line.size());
}

TEST(Parser, looks_at_no_byte_of_a_long_number_twice) {
  const std::string bytes = "*1\r\n$" + std::string(limits::line_bytes - 100, '1');
  Parser parser;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(parser.next(std::string_view(bytes).substr(0, size), false), Parser::Step::more);
  }
  EXPECT_LE(parser.steps(), bytes.size());
}

TEST(Parser, begins_anew_behind_a_line_that_came_in_pieces) {
  Parser parser;
  EXPECT_EQ(parser.next("PI", false), Parser::Step::more);
  EXPECT_EQ(parser.next("PING\r\n*1\r\n$4\r\nECHO\r\n", false), Parser::Step::request);
  EXPECT_EQ(parser.size(), 6u);
  EXPECT_EQ(parser.next("*1\r", false), Parser::Step::more);
  EXPECT_EQ(parser.next("*1\r\n$4\r\nECHO\r\n", false), Parser::Step::request);
  ASSERT_EQ(parser.args().size(), 1u);
  EXPECT_EQ(parser.args()[0], "ECHO");
  EXPECT_EQ(parser.next("*0\r", false), Parser::Step::more);
  EXPECT_EQ(parser.next("*0\r\n", false), Parser::Step::request);
  EXPECT_FALSE(parser.is_inside());
}

TEST(Parser, gives_back_the_room_of_a_long_request) {
  std::string bytes = "*100000\r\n";
  for (int i = 0; i < 100'000; ++i) {
    bytes += "$1\r\na\r\n";
  }
  Parser parser;
  ASSERT_EQ(parser.next(bytes, false), Parser::Step::request);
  EXPECT_GT(parser.memory_bytes(), limits::kept_buffer_bytes);
  parser.reset();
  parser.shrink();
  EXPECT_EQ(parser.memory_bytes(), 0u);
}

}  // namespace
}  // namespace remora::resp
