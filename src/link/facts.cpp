#include "link/facts.h"

#include <algorithm>

namespace remora::link {

std::string to_text(const Facts& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    text += fact.name + " " + fact.value + "\n";
  }
  return text;
}

Facts parse_facts(std::string_view text) {
  Facts facts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space != 0 && space != std::string_view::npos) {
      facts.push_back({std::string(line.substr(0, space)), std::string(line.substr(space + 1))});
    }
  }
  return facts;
}

}  // namespace remora::link

namespace remora {

std::optional<std::string> find_fact(const Facts& facts, std::string_view name) {
  const auto fact = std::ranges::find(facts, name, &Fact::name);
  return fact == facts.end() ? std::nullopt : std::optional(fact->value);
}

}  // namespace remora
