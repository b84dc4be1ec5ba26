#include "server/page/history.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace remora::server {

History::History(std::vector<std::string> columns)
    : columns_(std::move(columns)),
      fine_(seconds, columns_.size()),
      coarse_(tens, columns_.size()) {}

void History::add(std::uint64_t second, const std::vector<double>& values) {
  REMORA_CHECK(values.size() == columns_.size(), "a sample has a value for each column");
  fine_.add(second, values);
  if (second / ten_s != last_ten_) {
    last_ten_ = second / ten_s;
    coarse_.add(second, values);
  }
}

std::vector<History::Sample> History::samples() const {
  std::vector<Sample> samples;
  samples.reserve(fine_.size() + coarse_.size());
  const std::uint64_t first_fine = fine_.size() == 0 ? 0 : fine_.at(0).second;
  for (std::size_t i = 0; i < coarse_.size(); ++i) {
    if (const Sample sample = coarse_.at(i); sample.second < first_fine) {
      samples.push_back(sample);
    }
  }
  for (std::size_t i = 0; i < fine_.size(); ++i) {
    samples.push_back(fine_.at(i));
  }
  return samples;
}

void History::Ring::add(std::uint64_t second, const std::vector<double>& values) {
  const std::size_t row = added_++ % rows_;
  seconds_[row] = second;
  std::ranges::copy(values, values_.begin() + static_cast<std::ptrdiff_t>(row * columns_));
}

History::Sample History::Ring::at(std::size_t i) const {
  const std::size_t row = (added_ <= rows_ ? i : added_ + i) % rows_;
  return {seconds_[row], values_.data() + row * columns_};
}

}  // namespace remora::server
