// Facts: what a store host tells of itself, as names and values in the order in which people read
// them. Names are lower case with underscores; values are any printable text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace remora::server {

struct Fact {
  std::string name;
  std::string value;
};
using Facts = std::vector<Fact>;

// A line for each: name, space, value.
std::string to_text(const Facts& facts);
// Lines without a name are left out.
Facts parse_facts(std::string_view text);

// The value of that name.
std::optional<std::string> find_fact(const Facts& facts, std::string_view name);

}  // namespace remora::server
