// The corpus of a fuzz target as a test: its files, and seeded changes of them, without a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/random.h"

namespace remora {

// Calls target(data, size) for each, and so many changes of it; returns how many files there were.
template <typename Target>
int try_corpus(const std::filesystem::path& folder, Target target, int changes = 2'000) {
  Random random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::uint8_t> bytes(read.begin(), read.end());
    target(bytes.data(), bytes.size());
    for (int change = 0; change < changes; ++change) {
      std::vector<std::uint8_t> changed = bytes;
      changed[random.below(changed.size())] = static_cast<std::uint8_t>(random.next());
      changed.resize(random.below(changed.size() + 8));
      target(changed.data(), changed.size());
    }
    ++files;
  }
  return files;
}

}  // namespace remora
