#include "rpc/request_cores.h"

#include <algorithm>

#include "base/check.h"

namespace remora::rpc {

RequestCores::RequestCores(const Host& host, std::uint32_t batch)
    : host_(host),
      group_(*host.runtime().core_group(host.core())),
      batch_(batch),
      waiting_(group_.count),
      taken_(group_.count) {}

void RequestCores::add(const Arrival& request, std::uint64_t client) {
  const std::size_t core = group_.spread == Spread::by_client ? client % group_.count : 0;
  waiting_[core].push_back(request);
  ++count_;
}

std::uint64_t RequestCores::free_ns(std::uint32_t core) {
  host_.runtime().use_core(host_.core(), core);
  return host_.charged_until_ns();
}

RequestCores::Requests& RequestCores::source_of(std::uint32_t core) {
  return waiting_[group_.spread == Spread::by_client ? core : 0];
}

// Returns when the dispatcher looks again; never_ns if nothing waits for it.
std::uint64_t RequestCores::dispatch(std::uint64_t now_ns) {
  Requests& source = waiting_[0];
  if (source.empty()) {
    return never_ns;
  }
  if (const std::uint64_t at_ns = free_ns(0); at_ns > now_ns) {
    return at_ns;
  }
  host_.charge(Work::poll);
  for (std::size_t i = 0; i < batch_ && !source.empty(); ++i) {
    host_.charge(Work::poll);
    handed_.push_back({source.front(), host_.charged_until_ns()});
    source.pop_front();
  }
  return source.empty() ? never_ns : host_.charged_until_ns();
}

// Whether the core has a request to handle now. Cores that share a queue leave the others their
// part of what waits.
bool RequestCores::fill(std::uint32_t core, std::uint64_t now_ns, std::uint64_t& next_ns) {
  Requests& taken = taken_[core];
  if (!taken.empty()) {
    return true;
  }
  if (dispatches()) {
    if (handed_.empty() || handed_.front().from_ns > now_ns) {
      next_ns = handed_.empty() ? next_ns : std::min(next_ns, handed_.front().from_ns);
      return false;
    }
    taken.push_back(handed_.front().request);
    handed_.pop_front();
  } else {
    Requests& source = source_of(core);
    const std::size_t share = group_.spread == Spread::by_client
                                  ? source.size()
                                  : (source.size() + group_.count - 1) / group_.count;
    for (std::size_t i = 0; i < std::min(batch_, share); ++i) {
      taken.push_back(source.front());
      source.pop_front();
    }
    if (taken.empty()) {
      return false;
    }
  }
  host_.charge(Work::poll);
  return true;
}

std::optional<Arrival> RequestCores::take() {
  if (count_ == 0) {
    return std::nullopt;
  }
  const std::uint64_t now_ns = host_.now_ns();
  std::uint64_t next_ns = dispatches() ? dispatch(now_ns) : never_ns;
  for (std::uint32_t core = dispatches() ? 1 : 0; core < group_.count; ++core) {
    if (const std::uint64_t at_ns = free_ns(core); at_ns > now_ns) {
      const bool has_work = !taken_[core].empty() || !source_of(core).empty() || !handed_.empty();
      next_ns = has_work ? std::min(next_ns, at_ns) : next_ns;
      continue;
    }
    if (fill(core, now_ns, next_ns)) {
      const Arrival request = taken_[core].front();
      taken_[core].pop_front();
      --count_;
      return request;
    }
  }
  REMORA_CHECK(next_ns != never_ns, "requests wait and no core will take them");
  host_.runtime().arm(wake_, next_ns);
  return std::nullopt;
}

}  // namespace remora::rpc
