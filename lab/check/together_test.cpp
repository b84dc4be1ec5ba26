#include "lab/check/together.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "base/random.h"

namespace remora {
namespace {

// Histories in words. Ids of values are given by the test.
class TogetherHistory : public testing::Test {
 protected:
  using Values = std::map<std::string, std::uint64_t>;  // 0: deleted

  std::vector<OperationIndex> begin(const Values& values,
                                    std::vector<Together::Condition> conditions = {}) {
    std::vector<OperationIndex> operations;
    for (const auto& [key, id] : values) {
      operations.push_back(id == 0 ? history_.invoke_del(1, key, 0)
                                   : history_.invoke_put(1, key, Value{id, 24, 0}, 0));
    }
    history_.join(operations, std::move(conditions));
    return operations;
  }
  void end(const std::vector<OperationIndex>& operations, Outcome outcome = Outcome::visible) {
    for (const OperationIndex index : operations) {
      history_.respond_write(index, outcome, 0);
    }
  }
  void write(const Values& values, Outcome outcome = Outcome::visible) {
    end(begin(values), outcome);
  }
  void put(const std::string& key, std::uint64_t id) {
    history_.respond_write(history_.invoke_put(1, key, Value{id, 24, 0}, 0), Outcome::visible, 0);
  }
  void answer(OperationIndex get, std::uint64_t id) {
    if (id == 0) {
      history_.respond_not_found(get, 0);
    } else {
      history_.respond_value(get, Identity{Wholeness::whole, Value{id, 24, 0}, 0, {}}, 0);
    }
  }
  void get(const std::string& key, std::uint64_t id) { answer(history_.invoke_get(2, key, 0), id); }
  void cut() { history_.cut(CutScope::whole_world, 0); }
  bool passes(bool returned_survives = true) {
    return together(history_, returned_survives).passed();
  }

  History history_;
};

TEST_F(TogetherHistory, passes_what_is_seen_at_once) {
  write({{"a", 1}, {"b", 2}});
  get("a", 1);
  get("b", 2);
  write({{"a", 3}, {"b", 4}});
  get("b", 4);
  get("a", 3);
  EXPECT_TRUE(passes());
}

TEST_F(TogetherHistory, notices_a_reader_between_two_keys) {
  write({{"a", 1}, {"b", 2}});
  const auto second = begin({{"a", 3}, {"b", 4}});
  get("a", 3);
  get("b", 2);
  end(second);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, lets_gets_that_overlap_see_either) {
  write({{"a", 1}, {"b", 2}});
  const auto second = begin({{"a", 3}, {"b", 4}});
  const OperationIndex early = history_.invoke_get(2, "b", 0);
  get("a", 3);
  answer(early, 2);
  end(second);
  EXPECT_TRUE(passes());
}

TEST_F(TogetherHistory, notices_that_two_readers_disagree) {
  write({{"a", 1}, {"b", 2}});
  const auto one = begin({{"a", 3}, {"c", 5}});
  const auto two = begin({{"b", 4}, {"d", 6}});
  get("a", 3);
  get("b", 2);
  get("b", 4);
  get("c", 5);
  end(one);
  end(two);
  EXPECT_TRUE(passes());
  get("d", 0);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, notices_a_condition_that_did_not_hold) {
  put("a", 1);
  const auto one = begin({{"a", 2}}, {{"a", 1}});
  const auto two = begin({{"a", 3}}, {{"a", 1}});
  end(one);
  EXPECT_TRUE(passes());
  end(two);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, notices_half_of_a_write_after_a_cut) {
  put("a", 1);
  put("b", 2);
  write({{"a", 3}, {"b", 4}});
  cut();
  get("a", 3);
  EXPECT_TRUE(passes());
  get("b", 2);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, notices_half_of_new_keys_after_a_cut) {
  write({{"a", 3}, {"b", 4}});
  cut();
  get("b", 0);
  EXPECT_TRUE(passes());
  get("a", 3);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, notices_half_of_a_write_that_nobody_acknowledged) {
  put("a", 1);
  (void)begin({{"a", 3}, {"b", 4}});
  cut();
  get("a", 1);
  EXPECT_TRUE(passes());
  get("b", 4);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, lets_a_cut_take_all_of_it) {
  put("a", 1);
  write({{"a", 3}, {"b", 4}});
  cut();
  get("a", 1);
  get("b", 0);
  EXPECT_TRUE(passes());
}

TEST_F(TogetherHistory, lets_no_cut_take_what_was_persistent_or_returned) {
  write({{"a", 3}, {"b", 4}}, Outcome::persistent);
  cut();
  get("a", 0);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, lets_no_cut_take_the_rest_of_what_was_returned) {
  write({{"a", 3}, {"b", 4}});
  get("a", 3);
  cut();
  get("b", 0);
  EXPECT_FALSE(passes(true));
  EXPECT_TRUE(passes(false));
}

TEST_F(TogetherHistory, notices_a_later_version_without_the_write_before_it) {
  put("b", 2);
  write({{"a", 3}, {"b", 4}});
  put("a", 5);
  cut();
  get("a", 5);
  EXPECT_TRUE(passes());
  get("b", 2);
  EXPECT_FALSE(passes());
}

TEST_F(TogetherHistory, notices_a_deletion_that_a_cut_took_alone) {
  put("a", 1);
  write({{"a", 0}, {"b", 4}});
  cut();
  get("b", 4);
  EXPECT_TRUE(passes());
  get("a", 1);
  EXPECT_FALSE(passes());
}

// --- Random histories ---

enum class Mistake { none, half_at_cut, late_key, ignored_condition };

// A store of one thread, whose clients begin before it acts and are told after.
class RandomStore {
 public:
  RandomStore(std::uint64_t seed, Mistake mistake) : random_(seed), mistake_(mistake) {}

  History run() {
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t die = random_.below(20);
      if (die == 0) {
        cut();
      } else if (die < 8) {
        get();
      } else {
        write(random_.chance(1, 2) ? 1 : random_.between(2, 3));
      }
      if (random_.chance(1, 2)) {
        tell();
      }
    }
    tell_all();
    cut();
    for (std::uint64_t i = 0; i < keys; ++i) {
      look(name(i));
    }
    tell_all();
    return std::move(history_);
  }

 private:
  using State = std::map<std::string, std::uint64_t>;
  static constexpr std::uint64_t keys = 4;

  static std::string name(std::uint64_t i) { return std::string(1, static_cast<char>('a' + i)); }
  std::uint64_t at(const std::string& key) { return state_.contains(key) ? state_[key] : 0; }

  void write(std::uint64_t count) {
    std::vector<OperationIndex> operations;
    std::vector<Together::Condition> conditions;
    const std::uint64_t first = random_.below(keys);
    State change;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = name((first + i) % keys);
      const std::uint64_t id = random_.chance(1, 8) ? 0 : ++ids_;
      operations.push_back(id == 0 ? history_.invoke_del(1, key, 0)
                                   : history_.invoke_put(1, key, Value{id, 24, 0}, 0));
      change[key] = id;
    }
    if (count > 1) {
      const std::string key = name(random_.below(keys));
      const bool lies = mistake_ == Mistake::ignored_condition && random_.chance(1, 3);
      conditions.push_back({key, lies ? stale_[key] : at(key)});
      history_.join(operations, conditions);
    }
    log_.push_back(change);
    for (const auto& [key, id] : change) {
      stale_[key] = at(key);
    }
    if (mistake_ == Mistake::late_key && count > 1 && random_.chance(1, 3)) {
      late_.emplace(*change.begin());
      change.erase(change.begin());
    }
    apply(state_, change);
    open_.push_back([this, operations] {
      for (const OperationIndex index : operations) {
        history_.respond_write(index, Outcome::visible, 0);
      }
    });
    if (late_ && random_.chance(1, 2)) {
      apply(state_, {*late_});
      late_.reset();
    }
  }
  void get() { look(name(random_.below(keys))); }
  void look(const std::string& key) {
    const OperationIndex index = history_.invoke_get(2, key, 0);
    const std::uint64_t id = at(key);
    open_.push_back([this, index, id] {
      if (id == 0) {
        history_.respond_not_found(index, 0);
      } else {
        history_.respond_value(index, Identity{Wholeness::whole, Value{id, 24, 0}, 0, {}}, 0);
      }
    });
  }
  void tell() {
    if (!open_.empty()) {
      const std::size_t which = random_.below(open_.size());
      open_[which]();
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  void tell_all() {
    while (!open_.empty()) {
      tell();
    }
  }
  // Keeps a prefix of the writes of this life.
  void cut() {
    open_.clear();
    late_.reset();
    history_.cut(CutScope::whole_world, 0);
    const std::size_t kept = random_.below(log_.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) {
      State change = log_[i];
      if (mistake_ == Mistake::half_at_cut && i + 1 == kept && change.size() > 1) {
        change.erase(change.begin());
      }
      apply(kept_, change);
    }
    log_.clear();
    state_ = stale_ = kept_;
  }
  static void apply(State& state, const State& change) {
    for (const auto& [key, id] : change) {
      state[key] = id;
    }
  }

  Random random_;
  const Mistake mistake_;
  History history_;
  State state_;
  State kept_;   // when this life began
  State stale_;  // before the last write of each key
  std::vector<State> log_;
  std::optional<std::pair<const std::string, std::uint64_t>> late_;
  std::vector<std::function<void()>> open_;
  std::uint64_t ids_ = 0;
};

int caught(Mistake mistake, int runs) {
  int count = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    const History history = RandomStore(static_cast<std::uint64_t>(seed), mistake).run();
    count += together(history, false).passed() ? 0 : 1;
  }
  return count;
}

TEST(TogetherHistories, pass_where_the_store_is_right) {
  EXPECT_EQ(caught(Mistake::none, 1500), 0);
}

TEST(TogetherHistories, are_noticed_where_a_cut_keeps_half_of_a_write) {
  EXPECT_GT(caught(Mistake::half_at_cut, 300), 60);
}

TEST(TogetherHistories, are_noticed_where_a_key_comes_late) {
  EXPECT_GT(caught(Mistake::late_key, 300), 60);
}

TEST(TogetherHistories, are_noticed_where_conditions_do_not_count) {
  EXPECT_GT(caught(Mistake::ignored_condition, 300), 60);
}

// --- Against every order ---

// Few transactions on three keys, which find what chance says.
class FewSteps {
 public:
  explicit FewSteps(std::uint64_t seed) : random_(seed) {
    for (std::uint64_t i = 0; i < 5; ++i) {
      Step step;
      if (random_.chance(1, 2)) {
        const std::uint64_t count = random_.between(1, 2);
        const std::uint64_t first = random_.below(3);
        for (std::uint64_t k = 0; k < count; ++k) {
          step.puts[name((first + k) % 3)] = ++ids_;
        }
      } else {
        step.key = name(random_.below(3));
        step.found = random_.below(ids_ + 1);
      }
      steps_.push_back(step);
    }
    record();
  }
  const History& history() const { return history_; }
  // Whether some order that agrees with real time explains all.
  bool is_explained() const {
    std::vector<std::size_t> order(steps_.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      if (explains(order)) {
        return true;
      }
    } while (std::ranges::next_permutation(order).found);
    return false;
  }

 private:
  struct Step {
    std::map<std::string, std::uint64_t> puts;  // none: a get
    std::string key;
    std::uint64_t found = 0;
    int begin = 0;
    int end = 0;
    std::vector<OperationIndex> operations;
  };
  static std::string name(std::uint64_t i) { return std::string(1, static_cast<char>('a' + i)); }

  // A get finds a put of its key, or nothing.
  void record() {
    std::map<std::uint64_t, std::string> key_of;
    for (const Step& step : steps_) {
      for (const auto& [key, id] : step.puts) {
        key_of[id] = key;
      }
    }
    std::vector<std::size_t> open;
    int now = 0;
    for (std::size_t i = 0; i < steps_.size() || !open.empty();) {
      if (i < steps_.size() && (open.empty() || random_.chance(2, 3))) {
        Step& step = steps_[i];
        step.begin = ++now;
        step.found = step.puts.empty() && key_of[step.found] == step.key ? step.found : 0;
        for (const auto& [key, id] : step.puts) {
          step.operations.push_back(history_.invoke_put(1, key, Value{id, 24, 0}, 0));
        }
        if (step.puts.empty()) {
          step.operations.push_back(history_.invoke_get(2, step.key, 0));
        } else {
          history_.join(step.operations, {});
        }
        open.push_back(i++);
        continue;
      }
      const std::size_t which = random_.below(open.size());
      Step& step = steps_[open[which]];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
      step.end = ++now;
      for (const OperationIndex index : step.operations) {
        if (!step.puts.empty()) {
          history_.respond_write(index, Outcome::visible, 0);
        } else if (step.found == 0) {
          history_.respond_not_found(index, 0);
        } else {
          history_.respond_value(index, Identity{Wholeness::whole, Value{step.found, 24, 0}, 0, {}},
                                 0);
        }
      }
    }
  }
  bool explains(const std::vector<std::size_t>& order) const {
    std::map<std::string, std::uint64_t> state;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Step& step = steps_[order[i]];
      for (std::size_t later = i + 1; later < order.size(); ++later) {
        if (steps_[order[later]].end < step.begin) {
          return false;
        }
      }
      if (step.puts.empty() && (state.contains(step.key) ? state.at(step.key) : 0) != step.found) {
        return false;
      }
      for (const auto& [key, id] : step.puts) {
        state[key] = id;
      }
    }
    return true;
  }

  Random random_;
  std::vector<Step> steps_;
  std::uint64_t ids_ = 0;
  History history_;
};

TEST(TogetherHistories, are_violations_only_where_no_order_explains_them) {
  int violations = 0;
  int unexplained = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const FewSteps one(seed);
    const bool passed = together(one.history(), true).passed();
    const bool is_explained = one.is_explained();
    EXPECT_TRUE(passed || !is_explained) << "seed " << seed;
    violations += passed ? 0 : 1;
    unexplained += is_explained ? 0 : 1;
  }
  EXPECT_GT(unexplained, 300);
  EXPECT_GT(violations * 10, unexplained * 9);
}

}  // namespace
}  // namespace remora
