#include "base/size_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base_testing.h"

namespace remora {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
TEST(ParseSize, reads_plain_numbers_as_bytes) {
  EXPECT_EQ(parse_size("0").value(), 0u);
  EXPECT_EQ(parse_size("4096").value(), 4096u);
  EXPECT_EQ(parse_size("4096B").value(), 4096u);
  EXPECT_EQ(parse_size("18446744073709551615").value(), all_ones);
}

TEST(ParseSize, reads_every_unit_in_both_forms_and_cases) {
  EXPECT_EQ(parse_size("256K").value(), 256 * kib);
  EXPECT_EQ(parse_size("1M").value(), mib);
  EXPECT_EQ(parse_size("64MiB").value(), 64 * mib);
  EXPECT_EQ(parse_size("64mib").value(), 64 * mib);
  EXPECT_EQ(parse_size("1G").value(), gib);
  EXPECT_EQ(parse_size("2t").value(), 2048 * gib);
  EXPECT_EQ(parse_size("3P").value(), 3 * mib * gib);
  EXPECT_EQ(parse_size("15EiB").value(), 15 * gib * gib);
  EXPECT_EQ(parse_size("256 KiB").value(), 256 * kib);
}

TEST(ParseSize, refuses_junk_with_a_message_that_shows_it) {
  for (const char* text : {"", " ", "K", "-1", "+1", "1.5G", "12x", "1KK", "1Kb2", "1 ", "1  K",
                           "1Ki", "1Bi", "1BiB", "0x10", " 1", "1K ", "one"}) {
    const Result<std::uint64_t> result = parse_size(text);
    EXPECT_EQ(result.code(), Code::invalid_argument) << '"' << text << '"';
    EXPECT_THAT(std::string(result.status().message()),
                testing::HasSubstr('"' + std::string(text) + "\" is not a size"));
  }
}

TEST(ParseSize, refuses_units_of_1000_and_says_what_to_write) {
  const Result<std::uint64_t> result = parse_size("64MB");
  EXPECT_EQ(result.code(), Code::invalid_argument);
  EXPECT_THAT(std::string(result.status().message()), testing::HasSubstr("write MiB, not MB"));
}

TEST(ParseSize, refuses_what_does_not_fit_64_bits) {
  for (const char* text :
       {"18446744073709551616", "16E", "16777216T", "18014398509481984K", "99999999999999999999"}) {
    const Result<std::uint64_t> result = parse_size(text);
    EXPECT_EQ(result.code(), Code::invalid_argument) << text;
    EXPECT_THAT(std::string(result.status().message()), testing::HasSubstr("too large"));
  }
  EXPECT_EQ(parse_size("18014398509481983K").value(), all_ones - 1023);
}

TEST(FormatSize, writes_whole_units_without_a_point) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(256 * kib), "256 KiB");
  EXPECT_EQ(format_size(64 * mib), "64 MiB");
  EXPECT_EQ(format_size(2048 * gib), "2 TiB");
}

TEST(FormatSize, rounds_the_rest_to_one_digit) {
  EXPECT_EQ(format_size(1536), "1.5 KiB");
  EXPECT_EQ(format_size(gib + gib / 4 + gib / 8), "1.4 GiB");
  EXPECT_EQ(format_size(mib - 1), "1.0 MiB");
  EXPECT_EQ(format_size(all_ones), "16.0 EiB");
}

TEST(FormatSize, writes_what_parse_size_reads) {
  for (std::uint64_t size : {std::uint64_t{0}, std::uint64_t{7}, 3 * kib, 5 * mib, 8 * gib}) {
    EXPECT_EQ(parse_size(format_size(size)).value(), size);
  }
}

}  // namespace
}  // namespace remora
