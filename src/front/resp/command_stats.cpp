#include "front/resp/command_stats.h"

#include <utility>

namespace remora::resp {

void CommandStats::add_time(std::size_t command, std::uint64_t took_ns) {
  ++counts_[command].timed;
  counts_[command].timed_ns += took_ns;
  if (!times_[command]) {
    times_[command] = std::make_unique<Histogram>();
  }
  times_[command]->record(took_ns);
}

void CommandStats::add_error(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  if (const auto at = errors_.find(word); at != errors_.end()) {
    ++at->second;
  } else if (errors_.size() < most_errors) {
    errors_.emplace(word, 1);
  }
}

void CommandStats::reset() {
  counts_ = {};
  times_ = {};
  errors_.clear();
}

void CommandStats::add_slow(SlowCommand&& slow) {
  slow.id = last_slow_++;
  slow_.push_front(std::move(slow));
  while (slow_.size() > most_slow) {
    slow_.pop_back();
  }
}

}  // namespace remora::resp
