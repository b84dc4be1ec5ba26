// Facts: what a store tells of itself, as names and values in the order in which people read them.
// Names are lower case with underscores; values are any printable text. `remora stat` prints them.
//
// Any thread; no state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remora {

struct Fact {
  std::string name;
  std::string value;
};
using Facts = std::vector<Fact>;

// The value of that name.
std::optional<std::string> find_fact(const Facts& facts, std::string_view name);

}  // namespace remora
