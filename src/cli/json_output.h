// JSON on standard output. Names and paths may be any bytes: what is not UTF-8 is replaced, so that
// the output is valid JSON whatever it tells of.
#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace remora::cli {

inline void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace remora::cli
