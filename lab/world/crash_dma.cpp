#include "lab/world/crash_dma.h"

#include <algorithm>
#include <cstring>

namespace remora::lab {

CrashDma::CrashDma(Runtime& runtime, CrashMemory& memory, Random random,
                   const PlacementDelays& delays)
    : runtime_(runtime), memory_(memory), random_(random), delays_(delays) {}

void CrashDma::power_off() {
  powered_ = false;
  step_.disarm();
  reads_.clear();
  rests_of_.clear();
}

bool CrashDma::is_persistent(const std::byte* at) const {
  const ConstBytes bytes = memory_.visible();
  return !std::less<>()(at, bytes.data()) && std::less<>()(at, bytes.data() + bytes.size());
}

std::uint64_t CrashDma::offset_of(const std::byte* at) const {
  return static_cast<std::uint64_t>(at - memory_.visible().data());
}

void CrashDma::write(QpNumber qp, std::byte* to, ConstBytes from) {
  if (!powered_ || from.empty()) {
    return;
  }
  if (is_persistent(to)) {
    posted_[qp] = memory_.post_inbound(qp, offset_of(to), from);
    arm_step();
    return;
  }
  place_all(qp);
  std::memcpy(to, from.data(), from.size());
  runtime_.placed(ConstBytes(to, from.size()));
}

bool CrashDma::ready_to_read(QpNumber qp, const std::byte* from, std::size_t size_bytes) {
  if (!powered_ || delays_.longest_read_ns == 0) {
    return true;
  }
  const auto begun = reads_.find(qp);
  if (begun != reads_.end() && begun->second.is(from, size_bytes)) {
    return runtime_.now_ns() >= begun->second.due_ns;
  }
  if (random_.chance(1, 2)) {
    reads_.erase(qp);
    return true;
  }
  SlowRead& slow = reads_[qp];
  slow.from = from;
  slow.bytes.resize(size_bytes);
  take(qp, slow.bytes, from);
  slow.due_ns = runtime_.after(random_.between(1, delays_.longest_read_ns));
  runtime_.arm(slow, slow.due_ns);
  return false;
}

void CrashDma::read(QpNumber qp, Bytes to, const std::byte* from) {
  if (!powered_ || to.empty()) {
    return;
  }
  take(qp, to, from);
  const auto slow = reads_.find(qp);
  if (slow == reads_.end() || !slow->second.is(from, to.size())) {
    return;
  }
  // Lines are counted from where the memory begins, which is where a line does.
  std::size_t into = is_persistent(from) ? offset_of(from) % cache_line_bytes : 0;
  for (std::size_t at = 0; at < to.size(); into = 0) {
    const std::size_t size = std::min(cache_line_bytes - into, to.size() - at);
    if (random_.chance(1, 2)) {
      std::memcpy(to.data() + at, slow->second.bytes.data() + at, size);
    }
    at += size;
  }
  reads_.erase(slow);
}

// All of the range at this moment.
void CrashDma::take(QpNumber qp, Bytes to, const std::byte* from) {
  if (is_persistent(from)) {
    memory_.read(qp, offset_of(from), to, random_);
    tell_watches();
    return;
  }
  place_all(qp);
  std::memcpy(to.data(), from, to.size());
}

void CrashDma::store_word(QpNumber qp, std::byte* word, std::uint64_t value) {
  write(qp, word, object_bytes(value));
  place_all(qp);
}

std::uint64_t CrashDma::compare_swap(QpNumber qp, std::byte* word, std::uint64_t compare,
                                     std::uint64_t swap) {
  place_all(qp);
  const auto before = load<std::uint64_t>(word);
  if (before == compare) {
    store_word(qp, word, swap);
  }
  return before;
}

std::uint64_t CrashDma::fetch_add(QpNumber qp, std::byte* word, std::uint64_t summand) {
  place_all(qp);
  const auto before = load<std::uint64_t>(word);
  store_word(qp, word, before + summand);
  return before;
}

void CrashDma::atomic_write(QpNumber qp, std::byte* word, std::uint64_t value) {
  store_word(qp, word, value);
}

void CrashDma::place_all(QpNumber qp) {
  if (powered_ && posted_.contains(qp)) {
    memory_.place_all(qp);
    tell_watches();
  }
}

Ticket CrashDma::flush(QpNumber qp, ConstBytes range, fabric::FlushPlacement placement,
                       Region* persistence) {
  if (!powered_) {
    return {};
  }
  const bool to_medium = placement == fabric::FlushPlacement::persistence;
  if (range.empty() || !is_persistent(range.data())) {
    place_all(qp);
    return {};
  }
  if (by_cpu_) {
    place_all(qp);
    return to_medium && persistence != nullptr ? persistence->persist(range) : Ticket{};
  }
  memory_.flush_inbound(qp, offset_of(range.data()), range.size(),
                        to_medium ? FlushTo::persistence : FlushTo::visibility);
  tell_watches();
  // On page media no cache flush helps: the pages need a commit, as they do after CPU stores.
  const bool needs_commit =
      to_medium && persistence != nullptr && persistence->granularity() == Granularity::page;
  return needs_commit ? persistence->persist(range) : Ticket{};
}

// Where peers are processes of one machine their stores go by its caches.
bool CrashDma::go_past_caches(ConstBytes range) {
  return !by_cpu_ && is_persistent(range.data()) &&
         memory_.bypass_caches(offset_of(range.data()), range.size());
}

void CrashDma::go_by_caches(ConstBytes range) {
  memory_.end_bypass(offset_of(range.data()), range.size());
}

// One step in two is followed by the next at once.
bool CrashDma::ready_to_go_on(QpNumber qp) {
  if (!powered_ || !rests_) {
    return powered_;
  }
  const auto resting = rests_of_.find(qp);
  if (resting != rests_of_.end()) {
    if (runtime_.now_ns() < resting->second.due_ns) {
      return false;
    }
    rests_of_.erase(resting);
    return true;
  }
  if (random_.chance(1, 2)) {
    return true;
  }
  Rest& rest = rests_of_[qp];
  rest.due_ns = runtime_.after(random_.between(delays_.shortest_ns, delays_.longest_ns));
  runtime_.arm(rest, rest.due_ns);
  return false;
}

void CrashDma::acknowledged(QpNumber qp) {
  const auto newest = posted_.find(qp);
  if (powered_ && newest != posted_.end()) {
    memory_.acknowledge(qp, newest->second);
  }
}

void CrashDma::drop(QpNumber qp) {
  reads_.erase(qp);
  rests_of_.erase(qp);
  if (powered_ && posted_.erase(qp) != 0) {
    memory_.drop_qp(qp);
    tell_watches();
  }
}

void CrashDma::place_some() {
  memory_.place_some(random_);
  tell_watches();
  arm_step();
}

void CrashDma::arm_step() {
  const auto waits = [this](const auto& queue) { return memory_.waiting(queue.first) != 0; };
  if (!step_.armed() && std::any_of(posted_.begin(), posted_.end(), waits)) {
    runtime_.arm(step_, runtime_.after(random_.between(delays_.shortest_ns, delays_.longest_ns)));
  }
}

}  // namespace remora::lab
