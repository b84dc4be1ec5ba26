// The fuzz target as a test: its corpus, and changes of it, without a fuzzer.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/random.h"

int roce_fuzz_one(const std::uint8_t* data, std::size_t size);

namespace remora::fabric::nic {
namespace {

TEST(RoceFuzz, holds_for_its_corpus_and_changes_of_it) {
  Random random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REMORA_ROCE_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::uint8_t> bytes(read.begin(), read.end());
    roce_fuzz_one(bytes.data(), bytes.size());
    for (int change = 0; change < 2'000; ++change) {
      std::vector<std::uint8_t> changed = bytes;
      changed[random.below(changed.size())] = static_cast<std::uint8_t>(random.next());
      changed.resize(random.below(changed.size() + 8));
      roce_fuzz_one(changed.data(), changed.size());
    }
    ++files;
  }
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace remora::fabric::nic
