#include "cli/product/top.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/exit_status.h"

namespace remora::cli {
namespace {

constexpr const char* clear_screen = "\033[H\033[2J";
constexpr const char* shown_above[] = {"pool", "engine", "uptime_s", "pid"};

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stopped == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

void print_turn(const Facts& facts, std::map<std::string, std::uint64_t>& before,
                std::uint64_t interval_ms) {
  for (const char* name : shown_above) {
    fmt::print("{} {}  ", name, find_fact(facts, name).value_or("?"));
  }
  fmt::print("\n{:<24} {:>16} {:>12}\n", "", "now", "per second");
  for (const Fact& fact : facts) {
    const std::optional<std::uint64_t> value = number_in(fact.value);
    const bool is_above = std::ranges::find(shown_above, fact.name) != std::end(shown_above);
    if (!value || is_above || fact.name == "pool_bytes") {
      continue;
    }
    const auto last = before.find(fact.name);
    const bool grew = last != before.end() && *value > last->second;
    fmt::print("{:<24} {:>16} {:>12}\n", fact.name, *value,
               grew ? fmt::format("{:.0f}", static_cast<double>(*value - last->second) * 1e3 /
                                                static_cast<double>(interval_ms))
                    : "");
    before[fact.name] = *value;
  }
}

}  // namespace

int top_command(const ConnectArguments& where, const TopArguments& arguments) {
  Expected<Store> store = open_store(where);
  if (!store) {
    return fail(store.error());
  }
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  std::map<std::string, std::uint64_t> before;
  for (std::uint64_t turn = 1;; ++turn) {
    const Expected<Facts> facts = store->facts();
    if (!facts) {
      return fail(facts.error());
    }
    if (terminal) {
      fmt::print("{}", clear_screen);
    }
    print_turn(*facts, before, arguments.interval_ms);
    std::fflush(stdout);
    if (turn == arguments.times) {
      return exit_kept;
    }
    store->run_for(arguments.interval_ms * 1'000'000);
  }
}

}  // namespace remora::cli
