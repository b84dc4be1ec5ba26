#include "cli/product/stat.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size_text.h"
#include "cli/exit_status.h"
#include "cli/product/fact_kinds.h"
#include "cli/product/stat_json.h"

namespace remora::cli {

Expected<Facts> all_facts(Store& store, const std::string& name) {
  const std::string wire = store.wire();
  Expected<Facts> facts = store.facts();
  if (!facts) {
    return facts;
  }
  facts->insert(facts->begin(), {{"wire", wire}, {"role", store.role()}});
  if (name.empty()) {
    return facts;
  }
  const std::optional<std::string> value = find_fact(*facts, name);
  if (!value) {
    return Error{ErrorCode::invalid_argument,
                 "the store has no value named '" + name + "'; `stat` without a name lists all"};
  }
  return Facts{{name, *value}};
}

std::string shown_facts(const Facts& facts, const Paint& paint) {
  const auto number = [&](std::string_view name) -> std::uint64_t {
    return number_in(find_fact(facts, name).value_or("")).value_or(0);
  };
  std::string text = paint(Colour::bold, "store") + "\n";
  const auto tell = [&](std::string_view name, std::string_view value, Colour colour) {
    text += fmt::format("  {:<22}  {}\n", name, paint(colour, value));
  };
  for (const Fact& fact : facts) {
    if (!number_in(fact.value)) {
      const bool is_bad = fact.name == "health" && fact.value != "ok";
      tell(fact.name, fact.value, is_bad ? Colour::red : Colour::plain);
    }
  }
  tell("pid", std::to_string(number("pid")), Colour::plain);
  tell("uptime_s", in_units(Unit::seconds, number("uptime_s")), Colour::plain);
  tell("pool_bytes", in_units(Unit::bytes, number("pool_bytes")), Colour::plain);
  const double seconds = static_cast<double>(number("uptime_ms")) / 1e3;
  std::optional<Group> group;
  for (const Number& each : numbers_in(facts)) {
    if (group != each.group) {
      text += "\n" + paint(each.group == Group::trouble ? Colour::red : Colour::bold,
                           fmt::format("{:<24}", title_of(each.group)));
      text +=
          paint(Colour::dim, fmt::format("{:>14}{:>12}  since it was opened\n", "now", "a second"));
      group = each.group;
    }
    const std::string rate =
        each.grows && seconds > 0 && each.value != 0
            ? rate_in_units(each.unit, static_cast<double>(each.value) / seconds)
            : "";
    const std::string share =
        each.of == 0
            ? ""
            : fmt::format("  {:.1f} % of {}",
                          static_cast<double>(each.value) * 100 / static_cast<double>(each.of),
                          format_size(each.of));
    const bool is_trouble = each.group == Group::trouble && each.value != 0;
    const std::string line =
        fmt::format("{:>14}{:>12}{}", in_units(each.unit, each.value), rate, share);
    text += fmt::format("  {:<22}{}\n", each.name,
                        paint(is_trouble        ? Colour::yellow
                              : each.value == 0 ? Colour::dim
                                                : Colour::plain,
                              line.substr(0, line.find_last_not_of(' ') + 1)));
  }
  return text;
}

int show_stat(Store& store, const StatArguments& arguments) {
  const Result<Paint> paint = paint_of(arguments.color);
  if (!paint.ok()) {
    return fail(paint.status());
  }
  const Expected<Facts> facts = all_facts(store, arguments.name);
  if (!facts) {
    return fail(facts.error());
  }
  if (!arguments.name.empty()) {
    fmt::print("{}\n", facts->front().value);
  } else if (arguments.json) {
    print_facts_as_json(*facts);
  } else {
    fmt::print("{}", shown_facts(*facts, *paint));
  }
  return exit_kept;
}

int stat_command(const ConnectArguments& where, const StatArguments& arguments) {
  Expected<Store> store = open_store(where);
  return store ? show_stat(*store, arguments) : fail(store.error());
}

}  // namespace remora::cli
