#include "lab/check/calls.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace remora {

namespace {

struct Stands {
  std::uint32_t key = 0;
  std::uint64_t place = 0;
};

std::string named(const MadeCall& call) {
  return "call " + std::to_string(call.id) + " of caller " + std::to_string(call.session) +
         " (life " + std::to_string(call.life) + ", key " + std::to_string(call.key) + ")";
}

bool is_told(const std::optional<std::uint64_t>& when_ns, std::uint64_t at_ns) {
  return when_ns && *when_ns <= at_ns;
}

class CallCheck {
 public:
  CallCheck(const std::vector<MadeCall>& calls, const CallLists& lists)
      : calls_(calls), lists_(lists) {}

  std::optional<BrokenCall> run() {
    if (!find_all() || !check_acknowledged() || !check_order() || !check_time()) {
      return broken_;
    }
    return std::nullopt;
  }

 private:
  bool fail(std::string_view rule, std::string explanation) {
    broken_ = {rule, std::move(explanation)};
    return false;
  }

  bool find_all() {
    std::unordered_map<CallId, const MadeCall*> made;
    for (const MadeCall& call : calls_) {
      made.emplace(call.id, &call);
    }
    for (std::uint32_t key = 0; key < lists_.of_key.size(); ++key) {
      for (std::uint64_t place = 0; place < lists_.of_key[key].size(); ++place) {
        const CallId id = lists_.of_key[key][place];
        const auto call = made.find(id);
        if (id == torn_call || call == made.end() || call->second->key != key) {
          return fail("untorn", id == torn_call
                                    ? "a call ran with arguments that nobody sent"
                                    : "a call " + std::to_string(id) +
                                          " ran that nobody made on key " + std::to_string(key));
        }
        if (!stands_.emplace(id, Stands{key, place}).second) {
          return fail("once", named(*call->second) + " ran twice");
        }
      }
    }
    return true;
  }

  bool check_acknowledged() {
    // The last call of each life that was acknowledged: all before it have run.
    std::map<std::pair<std::uint32_t, std::uint32_t>, const MadeCall*> newest;
    for (const MadeCall& call : calls_) {
      if (is_told(call.persistent_ns, lists_.at_ns)) {
        newest[{call.session, call.life}] = &call;
      }
    }
    for (const MadeCall& call : calls_) {
      const auto stands = stands_.find(call.id);
      const bool is_answered = is_told(call.answered_ns, lists_.at_ns);
      if (stands == stands_.end()) {
        if (is_answered || is_told(call.persistent_ns, lists_.at_ns)) {
          return fail("acknowledged", named(call) + " was told to be " +
                                          (is_answered ? "answered" : "persistent") +
                                          ", and never ran");
        }
        const auto last = newest.find({call.session, call.life});
        if (last != newest.end() && last->second > &call) {
          return fail("prefix", named(call) + " never ran, though " + named(*last->second) +
                                    ", which came after it, was told to be persistent");
        }
      } else if (is_answered && stands->second.place != call.place) {
        return fail("result", named(call) + " was told place " + std::to_string(call.place) +
                                  ", and stands at " + std::to_string(stands->second.place));
      }
    }
    return true;
  }

  bool check_order() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, const MadeCall*>>
        newest;
    for (const MadeCall& call : calls_) {
      const auto stands = stands_.find(call.id);
      if (stands == stands_.end()) {
        continue;
      }
      const std::uint64_t place = stands->second.place;
      auto [before, is_first] =
          newest.try_emplace({call.session, call.key}, std::pair(place, &call));
      if (!is_first && before->second.first > place) {
        return fail("key order", named(call) + " ran before " + named(*before->second.second) +
                                     ", which its caller issued before it");
      }
      before->second = {place, &call};
    }
    return true;
  }

  // Along each list, from its end: what was answered must not have been answered before something
  // that stands before it was issued.
  bool check_time() {
    std::unordered_map<CallId, const MadeCall*> made;
    for (const MadeCall& call : calls_) {
      made.emplace(call.id, &call);
    }
    for (const std::vector<CallId>& list : lists_.of_key) {
      const MadeCall* earliest = nullptr;  // answer, of those behind
      for (auto id = list.rbegin(); id != list.rend(); ++id) {
        const MadeCall& call = *made.at(*id);
        if (earliest != nullptr && *earliest->answered_ns < call.issued_ns) {
          return fail("in time", named(call) + " ran before " + named(*earliest) +
                                     ", which was answered before it was issued");
        }
        if (call.answered_ns &&
            (earliest == nullptr || *call.answered_ns < *earliest->answered_ns)) {
          earliest = &call;
        }
      }
    }
    return true;
  }

  const std::vector<MadeCall>& calls_;
  const CallLists& lists_;
  std::unordered_map<CallId, Stands> stands_;
  BrokenCall broken_;
};

}  // namespace

std::optional<BrokenCall> check_calls(const std::vector<MadeCall>& calls, const CallLists& lists) {
  return CallCheck(calls, lists).run();
}

}  // namespace remora
