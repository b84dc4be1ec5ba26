#include "lab/workload/value_sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace remora::workload {
namespace {

constexpr std::string_view zipf_prefix = "zipf:";
constexpr SizeRange allowed_sizes = {0, largest_value_bytes};

Status refused(std::string_view text, std::string_view why) {
  return Status(Code::invalid_argument,
                fmt::format("value size \"{}\": {}; write 100, 64-4096, zipf:64-4096 or "
                            "64:0.5,4096:0.5",
                            text, why));
}

}  // namespace

ValueSizes::ValueSizes(std::uint64_t size_bytes) : part_count_(1) {
  REMORA_CHECK(size_bytes <= largest_value_bytes, "no size for a value");
  parts_[0] = {{size_bytes, size_bytes}, 1, 0};
}

Result<ValueSizes> ValueSizes::parse(std::string_view text) {
  if (!text.starts_with(zipf_prefix)) {
    return parse_parts(text);
  }
  const Result<SizeRange> range = parse_size_range(text.substr(zipf_prefix.size()), allowed_sizes);
  if (!range.ok()) {
    return refused(text, range.status().message());
  }
  ValueSizes sizes;
  sizes.parts_[0] = {*range, 1, 0};
  sizes.part_count_ = 1;
  sizes.small_ones_.emplace(range->high_bytes - range->low_bytes + 1, default_theta);
  return sizes;
}

Result<ValueSizes> ValueSizes::parse_parts(std::string_view text) {
  const std::vector<std::string_view> pieces = split(text, ',');
  if (pieces.size() > parts_max) {
    return refused(text, fmt::format("at most {} parts are possible", parts_max));
  }
  ValueSizes sizes;
  double sum = 0;
  for (std::string_view piece : pieces) {
    const std::size_t colon = piece.find(':');
    if (colon == piece.npos && pieces.size() > 1) {
      return refused(text, fmt::format("\"{}\" has no weight", piece));
    }
    const Result<SizeRange> range = parse_size_range(piece.substr(0, colon), allowed_sizes);
    if (!range.ok()) {
      return refused(text, range.status().message());
    }
    const Result<double> weight =
        colon == piece.npos ? Result<double>(1.0) : parse_decimal(piece.substr(colon + 1));
    if (!weight.ok()) {
      return refused(text, weight.status().message());
    }
    sizes.parts_[sizes.part_count_++] = {*range, *weight, 0};
    sum += *weight;
  }
  if (sum <= 0) {
    return refused(text, "all weights are 0");
  }
  double so_far = 0;
  for (std::size_t i = 0; i < sizes.part_count_; ++i) {
    Part& part = sizes.parts_[i];
    so_far += part.weight;
    part.weight /= sum;
    part.below = static_cast<std::uint64_t>(so_far / sum * 0x1p63);
  }
  return sizes;
}

std::uint32_t ValueSizes::draw(Random& random) const {
  std::size_t i = 0;
  if (part_count_ > 1) {
    const std::uint64_t drawn = random.next() >> 1;
    while (drawn >= parts_[i].below) {
      ++i;
    }
  }
  const SizeRange& range = parts_[i].range;
  if (small_ones_) {
    return static_cast<std::uint32_t>(range.low_bytes + small_ones_->draw(random));
  }
  return static_cast<std::uint32_t>(range.low_bytes == range.high_bytes
                                        ? range.low_bytes
                                        : random.between(range.low_bytes, range.high_bytes));
}

std::uint64_t ValueSizes::smallest_bytes() const {
  std::uint64_t smallest = largest_value_bytes;
  for (std::size_t i = 0; i < part_count_; ++i) {
    smallest = std::min(smallest, parts_[i].range.low_bytes);
  }
  return smallest;
}

std::uint64_t ValueSizes::largest_bytes() const {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < part_count_; ++i) {
    largest = std::max(largest, parts_[i].range.high_bytes);
  }
  return largest;
}

std::string ValueSizes::to_string() const {
  if (part_count_ == 1) {
    return std::string(small_ones_ ? zipf_prefix : "") + workload::to_string(parts_[0].range);
  }
  std::string text;
  for (std::size_t i = 0; i < part_count_; ++i) {
    text += fmt::format("{}{}:{}", i == 0 ? "" : ",", workload::to_string(parts_[i].range),
                        parts_[i].weight);
  }
  return text;
}

}  // namespace remora::workload
