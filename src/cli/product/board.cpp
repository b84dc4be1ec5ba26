#include "cli/product/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "base/size_text.h"

namespace remora::cli {
namespace {

constexpr std::size_t most_drawn = 240;
constexpr std::size_t value_columns = 12;
constexpr std::size_t rate_columns = 11;
constexpr std::size_t gap = 2;
// From this width on there are two columns of groups, with as much between them.
constexpr std::size_t wide = 140;
constexpr std::size_t between = 4;
constexpr double nearly_full = 0.75;
constexpr double all_but_full = 0.9;
constexpr std::uint64_t long_lag_ns = 1'000'000'000;

std::string padded_right(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

std::string padded_left(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

}  // namespace

void Board::note(const Number& number, double seconds) {
  const auto [at, is_new] = past_.try_emplace(std::string(number.name));
  Past& past = at->second;
  if (!is_new) {
    past.has_moved |= past.last != number.value;
  }
  past.rate.reset();
  if (!is_new && number.grows && seconds > 0 && number.value >= past.last) {
    past.rate = static_cast<double>(number.value - past.last) / seconds;
  }
  past.last = number.value;
  if (!number.grows || past.rate) {
    past.drawn.push_back(past.rate.value_or(static_cast<double>(number.value)));
  }
  if (past.drawn.size() > most_drawn) {
    past.drawn.pop_front();
  }
}

void Board::add(const Facts& facts) {
  const std::string pid = find_fact(facts, "pid").value_or("");
  restarted_ |= !pid_.empty() && pid != pid_;
  if (pid != pid_) {
    past_.clear();
    last_ms_.reset();
  }
  pid_ = pid;
  lost_.clear();
  facts_ = facts;
  const std::optional<std::string> text = find_fact(facts, "uptime_ms");
  const std::optional<std::uint64_t> now_ms = text ? number_in(*text) : std::nullopt;
  const double seconds = now_ms && last_ms_ && *now_ms > *last_ms_
                             ? static_cast<double>(*now_ms - *last_ms_) / 1e3
                             : 0;
  for (const Number& number : numbers_in(facts_)) {
    note(number, seconds);
  }
  last_ms_ = now_ms;
}

bool Board::is_shown(const Number& number) const {
  const auto past = past_.find(number.name);
  return number.usual || number.value != 0 || (past != past_.end() && past->second.has_moved);
}

std::vector<std::string> Board::heading(const Screen& screen, const Paint& paint) const {
  const auto fact = [&](std::string_view name) { return find_fact(facts_, name).value_or("?"); };
  const auto number = [&](std::string_view name) { return number_in(fact(name)).value_or(0); };
  const bool has_failed = fact("health") == "failed";
  const std::string state = !lost_.empty() ? "no answer" : has_failed ? "failed" : "serving";
  const Colour colour = lost_.empty() && !has_failed ? Colour::green : Colour::red;
  std::vector<std::string> lines;
  const std::size_t room = screen.width - std::min(screen.width, columns_of(state) + 2);
  const std::string name = "Remora";
  const std::string what =
      fmt::format("  {}  {}  {}", fact("engine"), fact("pool"), format_size(number("pool_bytes")));
  lines.push_back(paint(Colour::bold, name) +
                  padded_right(cut(what, room - name.size()), room - name.size() + 2) +
                  paint(colour, state));
  const auto processor = past_.find("cpu_ms");
  std::string more =
      fmt::format("up {}  process {}", in_units(Unit::seconds, number("uptime_s")), fact("pid"));
  if (processor != past_.end() && processor->second.rate) {
    more +=
        fmt::format("  processor {}", rate_in_units(Unit::processor_ms, *processor->second.rate));
  }
  more += restarted_ ? "  (it was started again)" : "";
  lines.push_back(paint(Colour::dim, cut(more, screen.width)));
  const std::string says = !lost_.empty() ? lost_
                           : has_failed ? "nothing becomes persistent any more: " + fact("failure")
                                        : fact("acknowledged_put");
  lines.push_back(
      paint(colour == Colour::green ? Colour::dim : Colour::red, cut(says, screen.width)));
  return lines;
}

Board::Sizes Board::sizes_in(std::size_t width) const {
  constexpr std::size_t widest_label = 28;
  constexpr std::size_t least_graph = 8;
  const std::size_t numbers = value_columns + rate_columns + gap;
  Sizes sizes{.width = width};
  sizes.label = std::min(widest_label, width - std::min(width, numbers));
  const std::size_t left = width - std::min(width, numbers + sizes.label);
  sizes.graph = left >= least_graph ? left : 0;
  return sizes;
}

std::string Board::row(const Number& number, const Sizes& sizes, const Screen& screen,
                       const Paint& paint) const {
  const auto at = past_.find(number.name);
  static const Past none{};
  const Past& past = at == past_.end() ? none : at->second;
  const bool grew = past.rate.value_or(0) > 0;
  const double filled =
      number.of == 0 ? 0 : static_cast<double>(number.value) / static_cast<double>(number.of);
  const bool is_late = number.unit == Unit::nanoseconds && number.value >= long_lag_ns;
  Colour colour = number.value == 0 ? Colour::dim : Colour::plain;
  if (number.group == Group::trouble) {
    colour = grew ? Colour::red : Colour::yellow;
  } else if (filled >= nearly_full || is_late) {
    colour = filled >= all_but_full || is_late ? Colour::red : Colour::yellow;
  }
  const std::string value = in_units(number.unit, number.value);
  const std::string rate = !past.rate ? "" : rate_in_units(number.unit, *past.rate);
  std::string line = padded_right(cut(number.label, sizes.label), sizes.label);
  line += paint(colour, padded_left(cut(value, value_columns), value_columns));
  // Of what can be full the share is told where others have a rate.
  line += number.of != 0
              ? paint(colour, padded_left(fmt::format("{:.1f} %", filled * 100), rate_columns))
              : paint(grew ? Colour::bold : Colour::dim, padded_left(rate, rate_columns));
  if (sizes.graph == 0) {
    return line;
  }
  line += std::string(gap, ' ');
  if (number.of != 0) {
    const std::string most = fmt::format(" of {}", format_size(number.of));
    const std::size_t length = sizes.graph - std::min(sizes.graph, most.size());
    return line +
           paint(colour == Colour::plain ? Colour::green : colour,
                 bar(filled, length, screen.has_blocks)) +
           paint(Colour::dim, most);
  }
  if (!past.has_moved) {
    return line;  // a curve of what stands still tells nothing
  }
  const std::vector<double> drawn(past.drawn.begin(), past.drawn.end());
  return line + paint(number.group == Group::trouble ? Colour::red : Colour::blue,
                      curve(drawn, sizes.graph, screen.has_blocks));
}

std::vector<std::string> Board::group_lines(Group group, std::size_t width, const Screen& screen,
                                            const Paint& paint) const {
  std::vector<Number> numbers = numbers_in(facts_);
  std::erase_if(numbers,
                [&](const Number& number) { return number.group != group || !is_shown(number); });
  if (numbers.empty()) {
    return {};
  }
  if (group == Group::other || group == Group::upkeep) {
    // What happens now comes first.
    std::ranges::stable_sort(numbers, std::greater<>(), [&](const Number& number) {
      const auto past = past_.find(number.name);
      return past == past_.end() ? 0 : past->second.rate.value_or(0);
    });
  }
  const Sizes sizes = sizes_in(width);
  const bool is_trouble = group == Group::trouble;
  std::vector<std::string> lines;
  lines.emplace_back();
  lines.push_back(paint(is_trouble ? Colour::red : Colour::bold,
                        padded_right(cut(title_of(group), sizes.label), sizes.label)) +
                  paint(Colour::dim,
                        padded_left("now", value_columns) + padded_left("a second", rate_columns)));
  for (const Number& number : numbers) {
    lines.push_back(row(number, sizes, screen, paint));
  }
  return lines;
}

std::string Board::draw(const Screen& screen, const Paint& paint) const {
  std::vector<std::string> lines = heading(screen, paint);
  const auto column = [&](std::initializer_list<Group> groups, std::size_t width) {
    std::vector<std::string> all;
    for (const Group group : groups) {
      const std::vector<std::string> some = group_lines(group, width, screen, paint);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  };
  const std::initializer_list<Group> every = {Group::trouble, Group::traffic, Group::durability,
                                              Group::space,   Group::clients, Group::process,
                                              Group::upkeep,  Group::device,  Group::other};
  if (screen.width < wide) {
    const std::vector<std::string> all = column(every, screen.width);
    lines.insert(lines.end(), all.begin(), all.end());
  } else {
    const std::size_t half = (screen.width - between) / 2;
    const std::vector<std::string> left =
        column({Group::trouble, Group::traffic, Group::durability, Group::process}, half);
    const std::vector<std::string> right =
        column({Group::space, Group::clients, Group::upkeep, Group::device, Group::other}, half);
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const std::size_t columns = i < left.size() ? columns_of(left[i]) : 0;
      lines.push_back((i < left.size() ? left[i] : "") +
                      (i < right.size() && !right[i].empty()
                           ? std::string(half + between - std::min(half, columns), ' ') + right[i]
                           : ""));
    }
  }
  // The last line of a terminal stays free, for the cursor.
  if (screen.height > 1 && lines.size() > screen.height - 1) {
    const std::size_t shown = std::max<std::size_t>(screen.height, 3) - 2;
    const std::size_t left_out = lines.size() - shown;
    lines.resize(shown);
    lines.push_back(
        paint(Colour::dim,
              cut(fmt::format("({} more lines: in a larger terminal, or by remora stat)", left_out),
                  screen.width)));
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace remora::cli
