#include "lab/check/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace remora {
namespace {

constexpr std::string_view rule = "together";

using Node = std::size_t;
constexpr Node initial = 0;  // leaves what was there when the epoch began

// A write, a get, or a write of several keys.
struct Transaction {
  std::vector<OperationIndex> operations;  // none: the initial one
  Position invoked = 0;
  Position closed = 0;  // it had happened by then; never, where it may never have
};

struct Read {
  Node reader = 0;
  std::string key;
  Node writer = 0;
};

// By key and id.
using Puts = std::map<std::pair<std::string, std::uint64_t>, OperationIndex>;

// What comes before what in one epoch.
class Order {
 public:
  explicit Order(std::size_t size) : words_((size + 63) / 64), rows_(size * words_) {}

  bool before(Node a, Node b) const { return (row(a)[b / 64] >> (b % 64) & 1) != 0; }
  // Not closed until close().
  void add(Node a, Node b) { row(a)[b / 64] |= std::uint64_t{1} << (b % 64); }
  void close() {
    const std::size_t size = words_ == 0 ? 0 : rows_.size() / words_;
    for (Node via = 0; via < size; ++via) {
      for (Node from = 0; from < size; ++from) {
        for (std::size_t i = 0; before(from, via) && i < words_; ++i) {
          row(from)[i] |= row(via)[i];
        }
      }
    }
  }

 private:
  std::uint64_t* row(Node node) { return rows_.data() + node * words_; }
  const std::uint64_t* row(Node node) const { return rows_.data() + node * words_; }

  std::size_t words_;
  std::vector<std::uint64_t> rows_;
};

// One epoch: what happened between two cuts.
class Epoch {
 public:
  Epoch(const History& history, const Puts& puts, std::uint32_t number)
      : history_(history), puts_(puts), number_(number) {
    take_operations();
    take_reads();
    order_.emplace(transactions_.size());
    for (Node a = 0; a < transactions_.size(); ++a) {
      for (Node b = 0; b < transactions_.size(); ++b) {
        if (a != b && (a == initial || transactions_[a].closed < transactions_[b].invoked)) {
          order_->add(a, b);
        }
      }
    }
    for (const Read& read : reads_) {
      order_->add(read.writer, read.reader);
    }
    order_->close();
    while (infer()) {
      order_->close();
    }
  }

  bool before(OperationIndex a, OperationIndex b) const {
    const auto first = node_of_.find(a);
    const auto second = node_of_.find(b);
    return first != node_of_.end() && second != node_of_.end() &&
           order_->before(first->second, second->second);
  }
  // Operations that come before themselves.
  std::vector<OperationIndex> cycle() const {
    std::vector<OperationIndex> found;
    for (const Transaction& one : transactions_) {
      const Node node = static_cast<Node>(&one - transactions_.data());
      if (order_->before(node, node)) {
        found.insert(found.end(), one.operations.begin(), one.operations.end());
      }
    }
    return found;
  }
  // Whether a del of this key may have happened.
  bool may_be_deleted(const std::string& key) const { return deleted_.contains(key); }
  // Whether one may have happened that does not come before this write.
  bool may_be_deleted_after(const std::string& key, OperationIndex write) const {
    const auto dels = dels_.find(key);
    return dels != dels_.end() && std::ranges::any_of(dels->second, [&](OperationIndex del) {
             return !before(del, write);
           });
  }

 private:
  bool is_mine(OperationIndex index) const {
    return history_[index].epoch == number_ && history_[index].may_have_happened();
  }
  void add(std::vector<OperationIndex> operations) {
    Transaction one{std::move(operations), 0, 0};
    for (const OperationIndex index : one.operations) {
      const Operation& operation = history_[index];
      node_of_[index] = transactions_.size();
      one.invoked = std::max(one.invoked, operation.invoked);
      const bool has_happened = !operation.is_write() || operation.acknowledged();
      one.closed = std::max(one.closed, has_happened ? operation.responded : never);
      if (operation.is_write()) {
        writers_[operation.key].push_back(transactions_.size());
      }
      if (operation.kind == OperationKind::del) {
        deleted_.insert(operation.key);
        dels_[operation.key].push_back(index);
      }
    }
    transactions_.push_back(std::move(one));
  }
  void take_operations() {
    transactions_.push_back({});
    std::set<OperationIndex> joined;
    for (const Together& one : history_.together()) {
      joined.insert(one.writes.begin(), one.writes.end());
      if (is_mine(one.writes.front())) {
        add(one.writes);
      }
    }
    for (OperationIndex i = 0; i < history_.operations().size(); ++i) {
      const Operation& operation = history_[i];
      const bool tells =
          operation.outcome == Outcome::value || operation.outcome == Outcome::not_found;
      if (is_mine(i) && !joined.contains(i) && (operation.is_write() || tells)) {
        add({i});
      }
    }
  }
  void take_reads() {
    for (OperationIndex i = 0; i < history_.operations().size(); ++i) {
      const Operation& operation = history_[i];
      if (operation.epoch == number_ && operation.outcome == Outcome::value) {
        take_value(node_of_.at(i), operation.key, operation.read.value.id);
      } else if (operation.epoch == number_ && operation.outcome == Outcome::not_found) {
        take_absence(node_of_.at(i), operation.key);
      }
    }
    for (const Together& one : history_.together()) {
      if (is_mine(one.writes.front()) && history_[one.writes.front()].acknowledged()) {
        for (const Together::Condition& condition : one.conditions) {
          const Node reader = node_of_.at(one.writes.front());
          if (condition.id == 0) {
            take_absence(reader, condition.key);
          } else {
            take_value(reader, condition.key, condition.id);
          }
        }
      }
    }
  }
  void take_value(Node reader, const std::string& key, std::uint64_t id) {
    const auto put = puts_.find({key, id});
    if (put == puts_.end() || history_[put->second].epoch > number_) {
      return;  // the other checkers say so
    }
    const auto node = node_of_.find(put->second);
    const bool is_of_this_epoch = history_[put->second].epoch == number_;
    if (is_of_this_epoch && node == node_of_.end()) {
      return;
    }
    reads_.push_back({reader, key, is_of_this_epoch ? node->second : initial});
  }
  // Which del has left it, if there were any, is not known.
  void take_absence(Node reader, const std::string& key) {
    if (!deleted_.contains(key)) {
      reads_.push_back({reader, key, initial});
    }
  }
  // What follows from what is known; whether that was more.
  bool infer() {
    bool is_new = false;
    for (const Read& read : reads_) {
      const auto writers = writers_.find(read.key);
      if (writers == writers_.end()) {
        continue;
      }
      for (const Node other : writers->second) {
        if (other == read.writer || other == read.reader) {
          continue;
        }
        if (order_->before(other, read.reader) && !order_->before(other, read.writer)) {
          order_->add(other, read.writer);
          is_new = true;
        }
        if (order_->before(read.writer, other) && !order_->before(read.reader, other)) {
          order_->add(read.reader, other);
          is_new = true;
        }
      }
    }
    return is_new;
  }

  const History& history_;
  const Puts& puts_;
  const std::uint32_t number_;
  std::vector<Transaction> transactions_;
  std::map<OperationIndex, Node> node_of_;
  std::map<std::string, std::vector<Node>> writers_;
  std::map<std::string, std::vector<OperationIndex>> dels_;
  std::set<std::string> deleted_;
  std::vector<Read> reads_;
  std::optional<Order> order_;
};

class Judge {
 public:
  Judge(const History& history, bool returned_survives)
      : history_(history), returned_survives_(returned_survives) {
    for (OperationIndex i = 0; i < history.operations().size(); ++i) {
      if (history[i].kind == OperationKind::put) {
        puts_[{history[i].key, history[i].written.id}] = i;
      }
    }
    for (std::uint32_t i = 0; i <= history.cuts().size(); ++i) {
      epochs_.emplace_back(history, puts_, i);
    }
  }

  Verdict judge() {
    for (const Epoch& epoch : epochs_) {
      if (const std::vector<OperationIndex> cycle = epoch.cycle(); !cycle.empty()) {
        violate(cycle, "no order explains these");
        return std::move(verdict_);
      }
    }
    for (const Together& one : history_.together()) {
      if (history_[one.writes.front()].may_have_happened()) {
        judge_cuts(one);
      }
    }
    return std::move(verdict_);
  }

 private:
  // The operations that say so, each the first that does.
  struct Evidence {
    std::optional<OperationIndex> kept;
    std::optional<OperationIndex> lost;
  };

  void judge_cuts(const Together& one) {
    Evidence evidence;
    for (const OperationIndex index : one.writes) {
      if (history_[index].persisted != never || history_[index].outcome == Outcome::persistent) {
        evidence.kept = index;
      }
    }
    for (OperationIndex i = 0; i < history_.operations().size(); ++i) {
      for (const OperationIndex write : one.writes) {
        if (history_[i].key == history_[write].key) {
          take(evidence, i, write, one);
        }
      }
    }
    if (evidence.kept && evidence.lost) {
      std::vector<OperationIndex> about = one.writes;
      about.push_back(*evidence.kept);
      about.push_back(*evidence.lost);
      violate(about, "a cut kept a part of the first ones alone");
    }
  }

  // What this operation of the same key says of the write.
  void take(Evidence& evidence, OperationIndex index, OperationIndex write, const Together& one) {
    const Operation& get = history_[index];
    const std::uint32_t epoch = history_[write].epoch;
    if (get.outcome == Outcome::not_found) {
      const bool is_lost = history_[write].kind == OperationKind::put && get.epoch == epoch + 1 &&
                           !epochs_[get.epoch].may_be_deleted(get.key) &&
                           !epochs_[epoch].may_be_deleted_after(get.key, write);
      evidence.lost = is_lost ? index : evidence.lost;
    }
    if (get.outcome != Outcome::value) {
      return;
    }
    const auto put = puts_.find({get.key, get.read.value.id});
    if (put == puts_.end()) {
      return;
    }
    const bool is_part = std::ranges::find(one.writes, put->second) != one.writes.end();
    if (is_part && (get.epoch > epoch || returned_survives_)) {
      evidence.kept = index;
    }
    if (is_part || get.epoch <= epoch) {
      return;
    }
    const std::uint32_t written = history_[put->second].epoch;
    if (written < epoch || (written == epoch && epochs_[epoch].before(put->second, write))) {
      evidence.lost = index;
    } else if (written == epoch && epochs_[epoch].before(write, put->second)) {
      evidence.kept = index;
    }
  }

  void violate(const std::vector<OperationIndex>& operations, std::string_view what) {
    constexpr std::size_t most_named = 12;
    std::string text(what);
    for (std::size_t i = 0; i < std::min(operations.size(), most_named); ++i) {
      text += (i == 0 ? ": " : "; ") + describe(history_, operations[i]);
    }
    verdict_.violations.push_back(
        {rule, history_[operations.front()].key, std::move(text), operations});
  }

  const History& history_;
  const bool returned_survives_;
  Puts puts_;
  std::vector<Epoch> epochs_;
  Verdict verdict_;
};

}  // namespace

Verdict together(const History& history, bool returned_survives) {
  return history.together().empty() ? Verdict() : Judge(history, returned_survives).judge();
}

}  // namespace remora
