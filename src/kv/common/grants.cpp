#include "kv/common/grants.h"

namespace remora::kv {

void Grants::find_or_add_run(SegmentNumber segment, Offset place) {
  auto next = std::upper_bound(runs_.begin(), runs_.end(), place, [](Offset at, const Run& run) {
    return at < run.grants.front().begin;
  });
  if (next == runs_.begin() || std::prev(next)->segment != segment) {
    next = std::next(runs_.insert(next, Run{.segment = segment, .grants = {}}));
  }
  newest_ = static_cast<std::size_t>(next - runs_.begin()) - 1;
}

template <typename Begin>
Grant* Grants::last_upto(Offset place, const Begin& begin) {
  const auto is_before = [&](Offset at, const Grant& grant) { return at < begin(grant); };
  const auto lies_within = [&](const Run& run) {
    return !is_before(place, run.grants.front()) && place < run.grants.back().end();
  };
  auto run = runs_.begin() + static_cast<std::ptrdiff_t>(newest_);
  if (run == runs_.end() || !lies_within(*run)) [[unlikely]] {
    run = std::upper_bound(runs_.begin(), runs_.end(), place, [&](Offset at, const Run& other) {
      return is_before(at, other.grants.front());
    });
    if (run == runs_.begin()) {
      return nullptr;
    }
    --run;
  }
  // From the end, in steps that double: the one that is looked for lies before `last`.
  auto last = run->grants.end();
  std::ptrdiff_t step = 1;
  while (last - run->grants.begin() > step && is_before(place, *(last - step))) {
    last -= step;
    step *= 2;
  }
  const auto first = last - std::min(step, last - run->grants.begin());
  const auto next = std::upper_bound(first, last, place, is_before);
  return next == run->grants.begin() ? nullptr : &*std::prev(next);
}

Grant* Grants::find(Offset begin, std::uint64_t size_bytes) {
  Grant* const grant = last_upto(begin, [](const Grant& one) { return one.begin; });
  const bool is_within =
      grant != nullptr && within(begin - grant->begin, size_bytes, grant->size_bytes);
  return is_within ? grant : nullptr;
}

Grant* Grants::find_object(Offset object) {
  Grant* const grant = last_upto(object, [](const Grant& one) { return one.object(); });
  return grant != nullptr && grant->object() == object ? grant : nullptr;
}

void Grants::drop_before(std::uint64_t number) {
  for (Run& run : runs_) {
    const auto first =
        std::lower_bound(run.grants.begin(), run.grants.end(), number,
                         [](const Grant& grant, std::uint64_t at) { return grant.number < at; });
    size_ -= static_cast<std::size_t>(first - run.grants.begin());
    run.grants.erase(run.grants.begin(), first);
  }
  drop_empty_runs();
}

void Grants::drop_empty_runs() {
  std::erase_if(runs_, [](const Run& run) { return run.grants.empty(); });
  newest_ = runs_.size();
}

}  // namespace remora::kv
