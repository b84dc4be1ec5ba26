#include "front/resp/latency_events.h"

#include <algorithm>
#include <utility>

#include "front/resp/limits.h"

namespace remora::resp {

std::optional<LatencyEvents::Kind> LatencyEvents::kind_of(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    return std::nullopt;
  }
  return static_cast<Kind>(found - names.begin());
}

void LatencyEvents::note(Kind kind, std::uint64_t took_ns, std::uint64_t wall_ms) {
  const std::uint64_t took_ms = took_ns / 1'000'000;
  if (!is_on() || took_ms < threshold_ms) {
    return;
  }
  History& history = histories_[static_cast<std::size_t>(kind)];
  const Sample sample{wall_ms / 1000, took_ms};
  history.longest_ms = std::max(history.longest_ms, took_ms);
  if (!history.samples.empty() && history.samples.back().when_s == sample.when_s) {
    Sample& last = history.samples.back();
    last.took_ms = std::max(last.took_ms, took_ms);
    return;
  }
  history.samples.push_back(sample);
  if (history.samples.size() > limits::latency_samples) {
    history.samples.pop_front();
  }
}

bool LatencyEvents::forget(Kind kind) {
  return !std::exchange(histories_[static_cast<std::size_t>(kind)], {}).samples.empty();
}

}  // namespace remora::resp
