// What the numbers among a store's facts are: where people look for each, in which unit it is, and
// whether it only grows. Facts that nobody has described here are shown all the same, by name.
//
// Any thread; no state.
#pragma once

#include <remora/facts.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/product/quantity.h"

namespace remora::cli {

// In the order of what matters.
enum class Group : std::uint8_t {
  trouble,
  traffic,
  durability,
  space,
  clients,
  process,
  upkeep,
  device,
  other,
};
std::string_view title_of(Group group);

struct Number {
  std::string_view name;  // of the fact
  std::string_view label;
  Group group = Group::other;
  Unit unit = Unit::count;
  bool grows = false;  // it never shrinks while the server lives
  std::uint64_t value = 0;
  std::uint64_t of = 0;  // the most that it can be; 0: there is none
  bool usual = false;    // shown though it is 0
};

// The numbers among these facts, by group, and in each in the order of what matters. They hold on
// to the facts.
std::vector<Number> numbers_in(const Facts& facts);

// A fact that is a number.
std::optional<std::uint64_t> number_in(std::string_view text);

}  // namespace remora::cli
