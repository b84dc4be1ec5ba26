#include "tests/support/campaign.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

namespace remora {
namespace {

constexpr int wrong_usage = 2;

std::vector<CampaignNumber*>& declared() {
  static std::vector<CampaignNumber*> numbers;
  return numbers;
}

// Whether `text` is an option and `number` one for it.
bool take(std::string_view text, const char* number) {
  for (CampaignNumber* known : declared()) {
    if (text.starts_with("--") && text.substr(2) == known->name() && number != nullptr) {
      const std::string_view digits = number;
      std::uint64_t value = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      known->give(value);
      return error == std::errc() && end == digits.data() + digits.size();
    }
  }
  return false;
}

int refuse(const char* program, const char* what) {
  std::fprintf(stderr, "%s: cannot take '%s'; besides --gtest_... there are:\n", program, what);
  for (const CampaignNumber* known : declared()) {
    std::fprintf(stderr, "  --%s N   %s\n", known->name(), known->about());
  }
  return wrong_usage;
}

}  // namespace

CampaignNumber::CampaignNumber(const char* name, const char* about) : name_(name), about_(about) {
  declared().push_back(this);
}

namespace {

// Before googletest, which makes its parameters from the numbers.
int run(int argc, char** argv) {
  std::vector<char*> rest = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--gtest_")) {
      rest.push_back(argv[i]);
    } else if (take(argv[i], argv[i + 1])) {
      ++i;
    } else {
      return refuse(argv[0], argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  rest.push_back(nullptr);
  testing::InitGoogleTest(&count, rest.data());
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace remora

int main(int argc, char** argv) {
  return remora::run(argc, argv);
}
