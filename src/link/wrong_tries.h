// WrongTries: how often somebody has presented a token that there is not. After some of them it
// must wait; a token is long enough that so few tries find none.
//
// Bounded: where very many have tried, those whose time began first are forgotten.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace remora::link {

class WrongTries {
 public:
  static constexpr std::uint32_t most = 10;
  static constexpr std::uint64_t span_ns = 60'000'000'000;
  static constexpr std::size_t most_kept = 4096;

  bool must_wait(const std::string& who, std::uint64_t now_ns) const {
    const auto found = tries_.find(who);
    return found != tries_.end() && found->second.count >= most &&
           now_ns - found->second.since_ns < span_ns;
  }
  void add(const std::string& who, std::uint64_t now_ns) {
    if (tries_.size() >= most_kept && !tries_.contains(who)) {
      tries_.erase(std::ranges::min_element(
          tries_, {}, [](const auto& entry) { return entry.second.since_ns; }));
    }
    Tries& tries = tries_[who];
    if (tries.count == 0 || now_ns - tries.since_ns >= span_ns) {
      tries = {.count = 0, .since_ns = now_ns};
    }
    ++tries.count;
  }
  std::size_t kept() const { return tries_.size(); }

 private:
  struct Tries {
    std::uint32_t count = 0;
    std::uint64_t since_ns = 0;  // of the first of them
  };
  std::map<std::string, Tries> tries_;
};

}  // namespace remora::link
