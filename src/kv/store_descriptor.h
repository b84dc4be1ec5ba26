// What the descriptors of store engines have in common.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/descriptor.h"

namespace remora::kv {

// What every store stands on, down to the object log, and answers for; the pool below it is a
// system of its own.
inline constexpr std::array<std::string_view, 4> ground_of_stores = {
    "src/kv/common/", "src/kv/index/", "src/kv/log/", "src/rpc/"};

// That, and the folder of the engine.
constexpr std::array<std::string_view, 5> sources_of_store(std::string_view folder) {
  std::array<std::string_view, 5> sources = {folder};
  std::ranges::copy(ground_of_stores, sources.begin() + 1);
  return sources;
}

// What the servers of the simple designs count.
inline constexpr std::array<CounterText, 4> counters_of_rivals = {{
    {"keys", "remora_keys", "Keys in the store"},
    {"log_bytes_in_use", "remora_log_in_use_bytes", "Space of the log in use"},
    {"log_bytes_total", "remora_log_size_bytes", "Space of the log"},
    {"index_generation", "remora_index_generation", "Times that the index moved, and one"},
}};

}  // namespace remora::kv
