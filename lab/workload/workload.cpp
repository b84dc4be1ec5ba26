#include "lab/workload/workload.h"

#include <fmt/format.h>

#include "lab/workload/text.h"

namespace remora::workload {
namespace {

constexpr std::array<std::string_view, kind_count> kind_names = {
    "read", "update", "insert", "scan", "read-modify-write", "delete"};
constexpr std::array<std::string_view, 3> choice_names = {"zipfian", "uniform", "latest"};

struct Known {
  Description description;
  std::array<double, kind_count> weights;
  Choice choice;
};

constexpr std::array known = {
    Known{{"a", "50% read, 50% update, zipfian (YCSB A: a session store)"},
          {50, 50, 0, 0, 0, 0},
          Choice::zipfian},
    Known{{"b", "95% read, 5% update, zipfian (YCSB B: tags of photos)"},
          {95, 5, 0, 0, 0, 0},
          Choice::zipfian},
    Known{{"c", "100% read, zipfian (YCSB C: a cache of profiles)"},
          {100, 0, 0, 0, 0, 0},
          Choice::zipfian},
    Known{{"d", "95% read, 5% insert, latest (YCSB D: news of friends)"},
          {95, 0, 5, 0, 0, 0},
          Choice::latest},
    Known{{"e", "95% scan of 1 to 100 records, 5% insert, zipfian (YCSB E: threads of talk)"},
          {0, 0, 5, 95, 0, 0},
          Choice::zipfian},
    Known{{"f", "50% read, 50% read-modify-write, zipfian (YCSB F: a user database)"},
          {50, 0, 0, 0, 50, 0},
          Choice::zipfian},
    Known{{"update-only", "100% update, zipfian"}, {0, 100, 0, 0, 0, 0}, Choice::zipfian},
};

constexpr auto descriptions = [] {
  std::array<Description, known.size()> all = {};
  for (std::size_t i = 0; i < known.size(); ++i) {
    all[i] = known[i].description;
  }
  return all;
}();

constexpr std::string_view example_of_a_mix = "read:80,update:15,delete:5";

template <typename Names>
std::string joined(const Names& names) {
  std::string text;
  for (std::string_view name : names) {
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return text;
}

Status unknown_workload(std::string_view text) {
  std::string names;
  for (const Description& description : descriptions) {
    names += fmt::format("{}, ", description.name);
  }
  return Status(Code::invalid_argument,
                fmt::format("there is no workload \"{}\"; there are {}or a mix such as {}", text,
                            names, example_of_a_mix));
}

Status bad_mix(std::string_view text, std::string_view why) {
  return Status(Code::invalid_argument,
                fmt::format("the mix \"{}\": {}; write it as {}", text, why, example_of_a_mix));
}

Result<Workload> parse_mix(std::string_view text) {
  Workload workload;
  workload.name = text;
  double sum = 0;
  for (std::string_view part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == part.npos) {
      return bad_mix(text, fmt::format("\"{}\" has no weight", part));
    }
    const Result<Kind> kind = parse_kind(part.substr(0, colon));
    if (!kind.ok()) {
      return bad_mix(text, kind.status().message());
    }
    const Result<double> weight = parse_decimal(part.substr(colon + 1));
    if (!weight.ok()) {
      return bad_mix(text, weight.status().message());
    }
    if (workload.weight(*kind) != 0) {
      return bad_mix(text, fmt::format("{} is there twice", to_string(*kind)));
    }
    workload.weight(*kind) = *weight;
    sum += *weight;
  }
  if (sum <= 0) {
    return bad_mix(text, "all weights are 0");
  }
  return workload;
}

}  // namespace

std::string_view to_string(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

Result<Kind> parse_kind(std::string_view text) {
  if (text == "rmw") {
    return Kind::read_modify_write;
  }
  for (Kind kind : all_kinds) {
    if (to_string(kind) == text) {
      return kind;
    }
  }
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is unknown; choose one of {}", text, joined(kind_names)));
}

Result<Distribution> parse_distribution(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  Distribution distribution;
  std::size_t choice = 0;
  while (choice < choice_names.size() && choice_names[choice] != name) {
    ++choice;
  }
  if (choice == choice_names.size()) {
    return Status(
        Code::invalid_argument,
        fmt::format("distribution \"{}\" is unknown; choose one of {}; zipfian:0.9 gives theta",
                    text, joined(choice_names)));
  }
  distribution.choice = static_cast<Choice>(choice);
  if (colon == text.npos) {
    return distribution;
  }
  const Result<double> theta = parse_decimal(text.substr(colon + 1));
  if (distribution.choice == Choice::uniform || !theta.ok() || *theta > largest_theta) {
    return Status(Code::invalid_argument,
                  fmt::format("distribution \"{}\": theta is a number from 0 to {}, and only for "
                              "zipfian and latest, as in zipfian:0.9",
                              text, largest_theta));
  }
  distribution.theta = *theta;
  return distribution;
}

std::string to_string(const Distribution& distribution) {
  const std::string_view name = choice_names[static_cast<std::size_t>(distribution.choice)];
  return distribution.choice == Choice::uniform ? std::string(name)
                                                : fmt::format("{}:{}", name, distribution.theta);
}

Result<Workload> parse_workload(std::string_view text) {
  const std::string lower = lower_case(text);
  if (lower.find(':') != lower.npos) {
    return parse_mix(lower);
  }
  std::string_view name = lower;
  for (std::string_view prefix : {"ycsb-", "workload"}) {
    if (name.starts_with(prefix) && name.size() == prefix.size() + 1) {
      name.remove_prefix(prefix.size());
      break;
    }
  }
  for (const Known& one : known) {
    if (one.description.name == name) {
      Workload workload;
      workload.name = name;
      workload.weights = one.weights;
      workload.distribution.choice = one.choice;
      return workload;
    }
  }
  return unknown_workload(text);
}

std::span<const Description> known_workloads() {
  return descriptions;
}

std::string list_workloads() {
  std::string text;
  for (const Description& description : descriptions) {
    text += fmt::format("  {:<12} {}\n", description.name, description.text);
  }
  text += fmt::format("  {:<12} a mix of {}; such as {}\n", "KIND:N,...", joined(kind_names),
                      example_of_a_mix);
  return text;
}

}  // namespace remora::workload
