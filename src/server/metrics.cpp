#include "server/metrics.h"

#include <fmt/format.h>

#include <string_view>

#include "server/readings.h"

namespace remora::server {
namespace {

// As a summary: percentiles since the beginning.
std::string latency_text(const Reading& reading) {
  const Histogram& latency_ns = *reading.latency_ns;
  std::string text =
      fmt::format("# TYPE {0} summary\n# HELP {0} {1}.\n", reading.name, reading.help);
  for (const double percent : {50.0, 99.0, 99.9}) {
    text += fmt::format("{}{{quantile=\"{:g}\"}} {}\n", reading.name, percent / 100,
                        static_cast<double>(latency_ns.percentile(percent)) * 1e-9);
  }
  const auto count = static_cast<double>(latency_ns.count());
  return text + fmt::format("{0}_count {1}\n{0}_sum {2}\n", reading.name, latency_ns.count(),
                            latency_ns.mean() * count * 1e-9);
}

}  // namespace

std::string metrics_text(StoreHost& host, const resp::Server* redis) {
  std::string text;
  std::string_view last;
  const std::vector<Reading> all = readings(host, redis);
  for (const Reading& reading : all) {
    if (reading.latency_ns != nullptr) {
      text += latency_text(reading);
      continue;
    }
    if (reading.name != last) {
      text += fmt::format("# TYPE {} {}\n", reading.name, reading.grows ? "counter" : "gauge");
      if (!reading.help.empty()) {
        text += fmt::format("# HELP {} {}.\n", reading.name, reading.help);
      }
      last = reading.name;
    }
    const std::string label = reading.label.empty() ? "" : fmt::format("{{{}}}", reading.label);
    text += fmt::format("{}{}{} {}\n", reading.name, reading.grows ? "_total" : "", label,
                        reading.value);
  }
  return text + "# EOF\n";
}

}  // namespace remora::server
