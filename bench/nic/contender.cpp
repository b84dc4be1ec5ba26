#include "bench/nic/contender.h"

#include <fmt/core.h>

#include <algorithm>

#include "bench/measure.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t patience_ns = 10'000'000'000;
constexpr std::size_t checked_sizes[] = {64, 4096, most_operation_bytes};

void fill(Bytes bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + seed) & 0xff);
  }
}

bool holds(ConstBytes bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != static_cast<std::byte>((i * 31 + i / 251 + seed) & 0xff)) {
      return false;
    }
  }
  return true;
}

Status failure(const Contender& contender, std::string_view what, std::size_t size_bytes) {
  return Status(Code::damaged, fmt::format("{} says that {} of {} bytes is complete, but the bytes "
                                           "are not there; its times would mean nothing",
                                           contender.name(), what, size_bytes));
}

Status check_size(Contender& contender, std::size_t size_bytes) {
  const std::size_t first = Walk(target_bytes / size_bytes).next() * size_bytes;
  const Bytes local = contender.local().subspan(0, size_bytes);
  const Bytes seen =
      contender.view().empty() ? Bytes() : contender.view().subspan(first, size_bytes);
  fill(local, 1);
  contender.restart();
  REMORA_TRY(contender.run({Verb::write, size_bytes, 1, false}, 1));
  if (!seen.empty() && !holds(seen, 1)) {
    return failure(contender, "a write", size_bytes);
  }
  if (!seen.empty()) {
    fill(seen, 2);
  }
  std::ranges::fill(local, std::byte{0});
  contender.restart();
  REMORA_TRY(contender.run({Verb::read, size_bytes, 1, false}, 1));
  return holds(local, seen.empty() ? 1 : 2) ? Status() : failure(contender, "a read", size_bytes);
}

}  // namespace

Status check_transfer(Contender& contender) {
  for (const std::size_t size_bytes : checked_sizes) {
    REMORA_TRY(check_size(contender, size_bytes));
  }
  return Status();
}

Status Patience::look() {
  const std::uint64_t now = now_ns();
  if (since_ns_ == 0) {
    since_ns_ = now;
  }
  return now - since_ns_ < patience_ns
             ? Status()
             : Status(Code::timed_out, fmt::format("no answer from {}", waited_for_));
}

}  // namespace remora::bench
