// For tests of programs that print claims: running one, and asking whether a claim is complete.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"

namespace remora::bench {

struct Outcome {
  int exit_status = -1;
  std::string out;
};

// Waits for it; its errors go where those of the test go.
inline Outcome run_program(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  REMORA_CHECK(pipe != nullptr, "cannot start the program");
  for (int next = std::fgetc(pipe); next != EOF; next = std::fgetc(pipe)) {
    outcome.out += static_cast<char>(next);
  }
  const int status = pclose(pipe);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

inline void expect_sound(const nlohmann::json& spread) {
  for (const char* name : {"median", "p10", "p90"}) {
    const auto value = spread.at(name).get<double>();
    EXPECT_TRUE(std::isfinite(value) && value > 0) << name;
  }
  EXPECT_LE(spread.at("p10"), spread.at("median"));
  EXPECT_LE(spread.at("median"), spread.at("p90"));
}

// That it was measured, and has every number that a claim has.
inline void expect_complete(const nlohmann::json& claim) {
  SCOPED_TRACE(claim.dump(2));
  EXPECT_EQ(claim.at("kind"), "measured");
  EXPECT_FALSE(claim.at("claim").get<std::string>().empty());
  EXPECT_FALSE(claim.at("limit").get<std::string>().empty());
  expect_sound(claim.at("obtained_ns"));
  expect_sound(claim.at("limit_ns"));
  expect_sound(claim.at("ratio"));
  EXPECT_LE(claim.at("ratio").at("median_low"), claim.at("ratio").at("median_high"));
  EXPECT_EQ(claim.at("target_ratio").is_null(), claim.at("verdict") == "no target");
}

}  // namespace remora::bench
