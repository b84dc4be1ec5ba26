// For the tests of the command: runs the one that was built. REMORA_COMMAND comes from the build.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace remora {

// What src/base/exit_status.h promises to scripts. Said again here: a change there must be noticed.
inline constexpr int kept = 0;
inline constexpr int broken = 1;
inline constexpr int usage = 2;
inline constexpr int environment = 3;

inline Outcome remora_command(std::vector<std::string> arguments,
                              const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), REMORA_COMMAND);
  return run_process(arguments, options);
}

// Refused with that status: nothing on standard output, and a message that has `message` in it.
inline void expect_refusal(const Outcome& outcome, int exit_status, const std::string& message) {
  EXPECT_EQ(outcome.exit_status, exit_status) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::HasSubstr(message));
}

// All of standard output is one JSON value, and ends with a newline.
inline nlohmann::json json_of(const Outcome& outcome) {
  EXPECT_TRUE(outcome.out.ends_with('\n')) << outcome.out;
  nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << outcome.out << outcome.err;
  return json;
}

}  // namespace remora
