#include "cli/product/stat_json.h"

#include <charconv>
#include <cstdint>

#include "cli/json_output.h"

namespace remora::cli {

void print_facts_as_json(const Facts& facts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Fact& fact : facts) {
    std::uint64_t number = 0;
    const char* const end = fact.value.data() + fact.value.size();
    const auto [stopped, error] = std::from_chars(fact.value.data(), end, number);
    if (error == std::errc() && stopped == end) {
      json[fact.name] = number;
    } else if (fact.value == "yes" || fact.value == "no") {
      json[fact.name] = fact.value == "yes";
    } else {
      json[fact.name] = fact.value;
    }
  }
  print_json(json);
}

}  // namespace remora::cli
