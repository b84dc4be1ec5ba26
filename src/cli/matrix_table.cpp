#include "cli/matrix_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace remora::cli {
namespace {

std::string platform_text(const Platform& platform) {
  return fmt::format("{:4}ddio={:4}flush={:9}", to_string(platform.domain),
                     switch_text(platform.ddio), to_string(platform.flush));
}

// Of one domain: which of its platforms, in words without its name; empty: all of them.
std::vector<std::string> switches_text(std::span<const Platform> some,
                                       std::span<const Platform> all) {
  const auto has = [&](const Platform& one) { return std::ranges::find(some, one) != some.end(); };
  if (some.size() == all.size()) {
    return {""};
  }
  for (const auto& text :
       {+[](const Platform& one) { return fmt::format("ddio={}", switch_text(one.ddio)); },
        +[](const Platform& one) { return fmt::format("flush={}", to_string(one.flush)); }}) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> groups;  // there, and of so many
    for (const Platform& one : all) {
      auto& [there, of] = groups[text(one)];
      there += has(one) ? 1u : 0u;
      ++of;
    }
    const bool fits = std::ranges::all_of(groups, [](const auto& group) {
      return group.second.first == 0 || group.second.first == group.second.second;
    });
    if (fits) {
      std::vector<std::string> texts;
      for (const auto& [name, counts] : groups) {
        if (counts.first != 0) {
          texts.push_back(name);
        }
      }
      return texts;
    }
  }
  std::vector<std::string> texts;
  for (const Platform& one : some) {
    texts.push_back(fmt::format("ddio={} flush={}", switch_text(one.ddio), to_string(one.flush)));
  }
  return texts;
}

// Cells in which the same thing was found.
struct Fold {
  const CrashViolation* first = nullptr;
  const Cell* where = nullptr;
  std::vector<Platform> platforms;
  std::map<std::uint64_t, std::vector<Platform>> by_seed;

  void add(const Cell& cell, const CrashViolation& violation) {
    if (first == nullptr) {
      first = &violation;
      where = &cell;
    }
    platforms.push_back(cell.platform);
    by_seed[violation.seed].push_back(cell.platform);
  }
  std::string seeds() const {
    if (by_seed.size() == 1) {
      return fmt::format("seed {}", by_seed.begin()->first);
    }
    std::string text;
    for (const auto& [seed, on] : by_seed) {
      text += fmt::format("{}seed {} on {}", text.empty() ? "" : "; ", seed, platforms_text(on));
    }
    return text;
  }
};

// Of each rule that was broken, one line and one example.
std::string broken_text(std::span<const Cell* const> cells, std::string_view granularity,
                        const Paint& paint) {
  std::vector<std::pair<std::string, Fold>> folds;
  for (const Cell* cell : cells) {
    if (cell->violation) {
      auto at =
          std::ranges::find(folds, cell->violation->rule, &std::pair<std::string, Fold>::first);
      if (at == folds.end()) {
        at = folds.insert(folds.end(), {std::string(cell->violation->rule), {}});
      }
      at->second.add(*cell, *cell->violation);
    }
  }
  std::string text;
  for (const auto& [rule, fold] : folds) {
    text += fmt::format("    {} on {}: {}\n", paint(Colour::red, "BROKEN"),
                        platforms_text(fold.platforms), meaning_of_rule(rule));
    text += fmt::format("      by {}\n      {}: {}\n      replay: {}\n", fold.seeds(), rule,
                        fold.first->explanation,
                        replay_command(*fold.where, fold.first->seed, granularity));
  }
  return text;
}

// What else was shown, with one example of each.
std::string findings_text(std::span<const Cell* const> cells, std::string_view granularity,
                          const Paint& paint) {
  std::string text;
  for (std::size_t i = 0; i < cells.front()->findings.size(); ++i) {
    const Question& question = *cells.front()->findings[i].question;
    Fold fold;
    for (const Cell* cell : cells) {
      if (const std::optional<CrashViolation>& violation = cell->findings[i].violation) {
        fold.add(*cell, *violation);
      }
    }
    if (fold.first == nullptr) {
      text += fmt::format("    {}: not seen on any platform\n", question.name);
      continue;
    }
    text += fmt::format("    {}: {}\n      seen on {}, by {}\n      {}\n      replay: {}\n",
                        paint(Colour::yellow, question.name), question.shown,
                        platforms_text(fold.platforms), fold.seeds(), fold.first->explanation,
                        replay_command(*fold.where, fold.first->seed, granularity, question.name));
  }
  return text;
}

}  // namespace

std::string switch_text(bool on) {
  return on ? "on" : "off";
}

std::string platforms_text(std::span<const Platform> platforms) {
  const std::vector<Platform> all = all_platforms();
  std::vector<std::pair<std::string, std::vector<std::string>>> by_domain;  // what is said of each
  for (const Platform& one : all) {
    const std::string domain(to_string(one.domain));
    if (!by_domain.empty() && by_domain.back().first == domain) {
      continue;
    }
    const auto of_domain = [&](std::span<const Platform> from) {
      std::vector<Platform> some;
      std::ranges::copy_if(from, std::back_inserter(some),
                           [&](const Platform& each) { return each.domain == one.domain; });
      return some;
    };
    const std::vector<Platform> some = of_domain(platforms);
    by_domain.emplace_back(
        domain, some.empty() ? std::vector<std::string>() : switches_text(some, of_domain(all)));
  }
  const bool alike = std::ranges::all_of(
      by_domain, [&](const auto& each) { return each.second == by_domain.front().second; });
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const auto& [domain, parts] : by_domain) {
    for (const std::string& part : parts) {
      add(alike ? part.empty() ? "every platform" : part
                : domain + (part.empty() ? "" : " " + part));
    }
    if (alike) {
      break;
    }
  }
  return text;
}

std::string replay_command(const Cell& cell, std::uint64_t seed, std::string_view granularity,
                           std::string_view hold_to) {
  return fmt::format(
      "remora crash --engine {} --runs 1 --seed {} --domain {} --ddio {} --flush {} "
      "--granularity {}{}",
      cell.engine, seed, to_string(cell.platform.domain), switch_text(cell.platform.ddio),
      to_string(cell.platform.flush), granularity,
      hold_to == "own" ? "" : fmt::format(" --hold-to {}", hold_to));
}

std::string matrix_text(std::span<const Cell> cells, std::span<const std::string> engines,
                        std::uint64_t runs, std::string_view granularity, const Paint& paint) {
  constexpr std::size_t least_columns = 8;
  std::string text = fmt::format("{:28}", "platform");
  for (const std::string& engine : engines) {
    text += fmt::format("  {:{}}", engine, std::max(engine.size(), least_columns));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  text += "\n";
  for (const Platform& platform : all_platforms()) {
    std::string line = platform_text(platform);
    for (const std::string& engine : engines) {
      const auto cell = std::ranges::find_if(
          cells, [&](const Cell& one) { return one.engine == engine && one.platform == platform; });
      const std::string word = cell->violation ? "BROKEN" : "held";
      const std::size_t columns = std::max(engine.size(), least_columns);
      line += "  " + paint(cell->violation ? Colour::red : Colour::green, word) +
              std::string(columns - word.size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text +=
      fmt::format("held: in each of {} runs. BROKEN: not in all; below is one of them.\n", runs);
  for (const std::string& engine : engines) {
    std::vector<const Cell*> of_engine;
    for (const Cell& cell : cells) {
      if (cell.engine == engine) {
        of_engine.push_back(&cell);
      }
    }
    text += fmt::format("\n  {}: {}\n", paint(Colour::bold, engine), of_engine.front()->promise);
    text += broken_text(of_engine, granularity, paint);
    if (!of_engine.front()->findings.empty()) {
      text += "    beyond its promise:\n" + findings_text(of_engine, granularity, paint);
    }
  }
  return text;
}

}  // namespace remora::cli
