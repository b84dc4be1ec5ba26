// Every numbered sentence of fabric/queue_pair.h has a test, on every world or with a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "tests/fabric/world.h"

namespace remora::fabric::contract {
namespace {

// The number that a text begins with, as O1 or F12, if `end` follows it; else nothing.
std::string number_of(std::string_view text, std::string_view end) {
  const std::size_t stop = text.find(end);
  const std::string_view number = text.substr(0, stop);
  const auto digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  const bool is_number = stop != text.npos && number.size() > 1 && number[0] >= 'A' &&
                         number[0] <= 'Z' && std::all_of(number.begin() + 1, number.end(), digit);
  return is_number ? std::string(number) : std::string();
}

// Adds the number that follows `prefix` at the start of the line, if there is one.
void add_number(std::set<std::string>& numbers, std::string_view line, std::string_view prefix,
                std::string_view end) {
  if (line.starts_with(prefix)) {
    line.remove_prefix(prefix.size());
    if (const std::string number = number_of(line, end); !number.empty()) {
      numbers.insert(number);
    }
  }
}

std::set<std::string> sentences() {
  std::set<std::string> found;
  std::ifstream header(REMORA_CONTRACT_HEADER);
  for (std::string line; std::getline(header, line);) {
    add_number(found, line, "//  ", "  ");
  }
  return found;
}

std::set<std::string> tested() {
  std::set<std::string> found;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    add_number(found, all.GetTestSuite(i)->name(), "Contract/", "_");
  }
  return found;
}

TEST(Sentences, each_has_a_test) {
  EXPECT_EQ(sentences().size(), 28u + 11u + 4u + 12u);
  EXPECT_EQ(tested(), sentences());
}

TEST(Sentences, those_not_testable_somewhere_are_named_with_a_reason) {
  for (const WorldKind& kind : all_worlds()) {
    if (!kind.absent.empty()) {
      std::cout << "contract on " << kind.name << ": not tested: " << kind.absent << "\n";
      continue;
    }
    std::cout << "contract on " << kind.name << ": " << sentences().size() - kind.not_here.size()
              << " of " << sentences().size() << " sentences, "
              << (long_run() ? kind.long_seeds : kind.seeds) << " seeds\n";
    for (const auto& [sentence, reason] : kind.not_here) {
      EXPECT_TRUE(sentences().contains(sentence)) << sentence;
      EXPECT_FALSE(reason.empty()) << sentence;
      std::cout << "  not " << sentence << ": " << reason << "\n";
    }
    for (const auto& [sentence, reason] : kind.in_part) {
      EXPECT_TRUE(sentences().contains(sentence)) << sentence;
      EXPECT_FALSE(reason.empty()) << sentence;
      std::cout << "  in part " << sentence << ": " << reason << "\n";
    }
  }
}

}  // namespace
}  // namespace remora::fabric::contract
