// What `remora matrix` found, and how people read it: a table, and below it each way in which a
// promise was broken, once, with the platforms on which it was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/product/paint.h"
#include "cli/questions.h"
#include "lab/crash/campaign.h"

namespace remora::cli {

// The answer to a question that goes beyond the engine's promise.
struct Finding {
  const Question* question = nullptr;
  std::optional<CrashViolation> violation;
};

struct Cell {
  std::string engine;
  std::string promise;
  Platform platform;
  std::uint64_t runs = 0;
  std::optional<CrashViolation> violation;
  std::vector<Finding> findings;  // of a rival whose promise leaves something open
};

// "on" and "off".
std::string switch_text(bool on);

// On which platforms, in as few words as there are: "every platform", "dmp; mhp ddio=on".
std::string platforms_text(std::span<const Platform> platforms);

// The command that shows a seed again.
std::string replay_command(const Cell& cell, std::uint64_t seed, std::string_view granularity,
                           std::string_view hold_to = "own");

// Platforms down, engines across, and what was found below.
std::string matrix_text(std::span<const Cell> cells, std::span<const std::string> engines,
                        std::uint64_t runs, std::string_view granularity, const Paint& paint);

}  // namespace remora::cli
