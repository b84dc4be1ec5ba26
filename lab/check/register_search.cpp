#include "lab/check/register_search.h"

#include <algorithm>
#include <unordered_set>

#include "base/random.h"

namespace remora {
namespace {

using Kind = RegisterEvent::Kind;

struct State {
  std::uint32_t event = 0;
  RegisterValue value = absent;
  bool marked = false;  // what survives the next cut is settled
  RegisterValue survivor = absent;
  std::uint64_t taken = 0;  // open operations that took effect
  std::uint64_t lost = 0;   // of these, open writes that the next cut undoes

  bool operator==(const State&) const = default;
};

struct StateHash {
  std::size_t operator()(const State& state) const {
    std::uint64_t hash = mix(state.taken);
    hash = mix(hash ^ state.lost);
    hash = mix(hash ^ (std::uint64_t{state.event} << 32 | state.value));
    return mix(hash ^ (std::uint64_t{state.marked} << 32 | state.survivor));
  }
};

class Search {
 public:
  Search(const RegisterLog& log, const SearchSetting& setting) : log_(log), setting_(setting) {}

  SearchResult run() {
    push({});
    while (!stack_.empty()) {
      if (seen_.size() > setting_.budget_states) {
        return finish(SearchResult::Answer::out_of_budget);
      }
      State state = stack_.back();
      stack_.pop_back();
      if (replay(state)) {
        return finish(SearchResult::Answer::explained);
      }
    }
    return finish(SearchResult::Answer::impossible);
  }

 private:
  const RegisterOperation& operation(std::uint32_t index) const { return log_.operations()[index]; }

  SearchResult finish(SearchResult::Answer answer) {
    result_.answer = answer;
    result_.states = seen_.size();
    return result_;
  }

  void push(const State& state) {
    if (seen_.insert(state).second) {
      stack_.push_back(state);
    }
  }

  // Goes on until the history ends (true), or the state splits or dies (false).
  bool replay(State& state) {
    for (; state.event < log_.events().size(); ++state.event) {
      const RegisterEvent& event = log_.events()[state.event];
      switch (event.kind) {
        case Kind::begin:
          begin(state, operation(event.operation));
          break;
        case Kind::must_end:
          if (!took_effect(state, event)) {
            get_stuck(state);
            split(state, event);
            return false;
          }
          leave(state, operation(event.operation));
          break;
        case Kind::may_end:
          if (!took_effect(state, event)) {
            split(state, event);
          }
          leave(state, operation(event.operation));
          break;
        case Kind::expire:
          leave(state, operation(event.operation));
          break;
        case Kind::cut:
        case Kind::roll:
          split(state, event);
          survive(state, event);
          break;
      }
    }
    return true;
  }

  static void begin(State& state, const RegisterOperation& started) {
    if (!started.write && started.value == state.value) {
      state.taken |= started.bit();
    }
  }

  static void leave(State& state, const RegisterOperation& ended) {
    state.taken &= ~ended.bit();
    state.lost &= ~ended.bit();
  }

  bool took_effect(const State& state, const RegisterEvent& event) const {
    return (state.taken & operation(event.operation).bit()) != 0;
  }

  // The register after a cut.
  void survive(State& state, const RegisterEvent& event) const {
    if (!state.marked) {
      return;
    }
    state.value = state.survivor;
    state.taken &= ~state.lost;
    state.lost = 0;
    state.marked = false;
    state.survivor = absent;
    answer_reads(state, event);
  }

  void answer_reads(State& state, const RegisterEvent& event) const {
    for (const std::uint32_t i : event.open) {
      if (!operation(i).write && operation(i).value == state.value) {
        state.taken |= operation(i).bit();
      }
    }
  }

  void get_stuck(const State& state) {
    if (state.event > result_.stuck_event) {
      result_.stuck_event = state.event;
      result_.held.clear();
    }
    if (state.event == result_.stuck_event &&
        std::find(result_.held.begin(), result_.held.end(), state.value) == result_.held.end()) {
      result_.held.push_back(state.value);
    }
  }

  // Every way in which one more write takes effect just before the event. What serves the ending
  // operation directly is pushed last, and so is tried first.
  void split(const State& state, const RegisterEvent& event) {
    if (is_hopeless(state, event) || !may_overwrite(state, event)) {
      return;
    }
    std::uint32_t direct = no_index;
    for (const std::uint32_t i : event.open) {
      const RegisterOperation& write = operation(i);
      if (!write.write || (state.taken & write.bit()) != 0) {
        continue;
      }
      if (event.operation != no_index && write.value == operation(event.operation).value) {
        if (direct != no_index) {
          take(state, event, direct);
        }
        direct = i;
      } else if (!write.never_read) {
        take(state, event, i);
      }
    }
    if (direct != no_index) {
      take(state, event, direct);
    }
  }

  // A get ends whose value no write leaves that is still to be had.
  bool is_hopeless(const State& state, const RegisterEvent& event) const {
    if (event.kind != Kind::must_end || operation(event.operation).write) {
      return false;
    }
    const RegisterValue wanted = operation(event.operation).value;
    const std::uint32_t writer = log_.only_writer(wanted);
    if (writer == no_index) {
      return log_.writers(wanted) == 0;
    }
    return (state.taken & operation(writer).bit()) != 0 ||
           std::find(event.open.begin(), event.open.end(), writer) == event.open.end();
  }

  bool may_overwrite(const State& state, const RegisterEvent& event) const {
    return !setting_.looks_ahead || state.value == unread || !log_.comes_once(state.value) ||
           log_.segment(event).last_read_begin[state.value] <= event.at;
  }

  // One write takes effect. If a cut may lose it, what was there before may be what survives.
  void take(const State& state, const RegisterEvent& event, std::uint32_t index) {
    const RegisterSegment& segment = log_.segment(event);
    const bool may_be_lost = segment.end != never && log_.losable(operation(index), segment);
    if (state.marked && !may_be_lost) {
      return;
    }
    if (!state.marked && may_be_lost) {
      if (segment.repeats) {
        State marked = state;
        absorb(marked, event);
        mark(marked, unread);
        push(taken(marked, event, index));
      }
      if (state.value != unread && log_.read_after(state.value, segment.end)) {
        State marked = state;
        mark(marked, state.value);
        push(taken(marked, event, index));
      }
    }
    push(taken(state, event, index));
  }

  static void mark(State& state, RegisterValue survivor) {
    state.marked = true;
    state.survivor = survivor;
  }

  State taken(State state, const RegisterEvent& event, std::uint32_t index) const {
    const RegisterOperation& write = operation(index);
    absorb(state, event);
    state.taken |= write.bit();
    if (state.marked && write.closed > log_.segment(event).end) {
      state.lost |= write.bit();
    }
    state.value = write.value;
    answer_reads(state, event);
    return state;
  }

  // Open writes that nobody read take effect, to be overwritten at once.
  void absorb(State& state, const RegisterEvent& event) const {
    const RegisterSegment& segment = log_.segment(event);
    for (const std::uint32_t i : event.open) {
      const RegisterOperation& write = operation(i);
      if (write.write && write.never_read &&
          (!state.marked || (write.closed < segment.end && log_.losable(write, segment)))) {
        state.taken |= write.bit();
      }
    }
  }

  const RegisterLog& log_;
  const SearchSetting& setting_;
  std::unordered_set<State, StateHash> seen_;
  std::vector<State> stack_;
  SearchResult result_;
};

}  // namespace

SearchResult search(const RegisterLog& log, const SearchSetting& setting) {
  return Search(log, setting).run();
}

}  // namespace remora
