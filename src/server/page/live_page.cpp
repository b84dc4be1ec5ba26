#include "server/page/live_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace remora::server {
namespace {

// Percentiles that are shown of every latency, of the last second.
constexpr std::array<double, 3> shown_percentiles = {50.0, 99.0, 99.9};

// The newest slow commands.
constexpr std::size_t shown_slow = 8;

std::string column_of(const Reading& reading) {
  return reading.label.empty() ? reading.name
                               : reading.name + "{" + std::string(reading.label) + "}";
}

std::string column_of(const Reading& reading, double percent) {
  std::string text = std::to_string(percent / 100);
  text.erase(text.find_last_not_of('0') + 1);
  return reading.name + "{quantile=\"" + text + "\"}";
}

// What JSON has no number for is null there: a percentile of nothing.
nlohmann::ordered_json row_of(std::uint64_t second, const double* values, std::size_t count) {
  nlohmann::ordered_json row = nlohmann::ordered_json::array({second});
  for (std::size_t i = 0; i < count; ++i) {
    row.push_back(std::isnan(values[i]) ? nlohmann::ordered_json(nullptr)
                                        : nlohmann::ordered_json(values[i]));
  }
  return row;
}

// The page is for everybody who reaches it. So it tells neither keys nor values: SLOWLOG does, to
// clients whose role lets them read.
nlohmann::ordered_json slow_json(const resp::CommandStats& stats) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const resp::SlowCommand& slow : stats.slow()) {
    if (list.size() == shown_slow) {
      break;
    }
    const resp::Command* const command =
        slow.args.empty() ? nullptr : resp::find_command(slow.args.front());
    list.push_back({{"id", slow.id},
                    {"when", slow.when_ms / 1000},
                    {"took", static_cast<double>(slow.took_ns) * 1e-9},
                    {"command", command == nullptr ? std::string_view("?") : command->name},
                    {"arguments", slow.args.empty() ? 0 : slow.args.size() - 1},
                    {"client", slow.name.empty() ? slow.peer : slow.name}});
  }
  return {{"from", static_cast<double>(stats.slow_from_us) * 1e-6}, {"list", list}};
}

std::string dump(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Result<std::unique_ptr<LivePage>> LivePage::open(Runtime& runtime, const LivePageOptions& wanted,
                                                 StoreHost& host, const resp::Server* redis) {
  std::unique_ptr<LivePage> page(new LivePage(runtime, host, redis));
  HttpResponderOptions options;
  options.address = wanted.address;
  options.purpose = "the live page";
  options.own_names_only = wanted.own_names_only;
  options.events_path = "/events";
  options.pages = {
      {"/", "text/html; charset=utf-8", [] { return HttpAnswer{std::string(live_page_text())}; }},
      {"/history", "application/json", [&page = *page] { return HttpAnswer{page.history_json()}; }},
      health_page([&host] { return host.failure(); })};
  REMORA_TRY_RESULT(responder, HttpResponder::open(runtime, std::move(options)));
  page->responder_ = std::move(responder).value();
  (void)page->sample();  // what the first second is compared with
  runtime.arm(page->clock_, runtime.after(period_ns));
  return page;
}

std::vector<std::string> LivePage::name_columns() {
  std::vector<std::string> columns;
  for (const Reading& reading : readings(host_, redis_)) {
    if (reading.latency_ns == nullptr) {
      columns.push_back(column_of(reading));
      grows_.push_back(reading.grows);
      continue;
    }
    for (const double percent : shown_percentiles) {
      columns.push_back(column_of(reading, percent));
      grows_.push_back(false);
    }
    columns.push_back(reading.name + "_count");
    grows_.push_back(true);
  }
  return columns;
}

std::vector<double> LivePage::sample() {
  std::vector<double> values;
  std::size_t latencies = 0;
  for (const Reading& reading : readings(host_, redis_)) {
    if (reading.latency_ns == nullptr) {
      values.push_back(reading.value);
      continue;
    }
    before_.resize(std::max(before_.size(), latencies + 1));
    Histogram& before = before_[latencies++];
    // One that was cleared meanwhile begins again.
    const Histogram last_second = reading.latency_ns->count() < before.count()
                                      ? *reading.latency_ns
                                      : reading.latency_ns->since(before);
    before = *reading.latency_ns;
    for (const double percent : shown_percentiles) {
      values.push_back(last_second.count() == 0
                           ? std::numeric_limits<double>::quiet_NaN()
                           : static_cast<double>(last_second.percentile(percent)) * 1e-9);
    }
    values.push_back(static_cast<double>(reading.latency_ns->count()));
  }
  return values;
}

void LivePage::tick() {
  runtime_.arm(clock_, runtime_.after(period_ns));
  const std::uint64_t second = runtime_.wall_ms() / 1000;
  const std::vector<double> values = sample();
  history_.add(second, values);
  history_text_ = {};
  if (responder_->listeners() != 0) {
    responder_->tell(event_json(second, values));
  }
}

const std::string& LivePage::history_json() {
  if (!history_text_.empty()) {
    return history_text_;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const History::Sample& sample : history_.samples()) {
    rows.push_back(row_of(sample.second, sample.values, history_.columns().size()));
  }
  history_text_ = dump({{"columns", history_.columns()}, {"grows", grows_}, {"rows", rows}});
  return history_text_;
}

std::string LivePage::event_json(std::uint64_t second, const std::vector<double>& values) const {
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  for (const auto& [name, value] : host_.facts()) {
    facts[name] = value;
  }
  nlohmann::ordered_json told = {{"row", row_of(second, values.data(), values.size())},
                                 {"facts", facts}};
  if (redis_ != nullptr) {
    told["slow"] = slow_json(redis_->stats());
  }
  return dump(told);
}

}  // namespace remora::server
