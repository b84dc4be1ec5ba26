#include "lab/check/version_order.h"

#include <algorithm>

#include "base/check.h"

namespace remora {

VersionOrder::VersionOrder(const History& history, std::vector<OperationIndex> writes,
                           std::vector<OperationIndex> reads)
    : history_(history), writes_(std::move(writes)), reads_(std::move(reads)) {
  size_ = writes_.size();
  for (const OperationIndex read : reads_) {
    if (history_[read].outcome == Outcome::not_found) {
      read_nodes_.push_back(size_++);
      continue;
    }
    const auto writer = std::find_if(writes_.begin(), writes_.end(), [&](OperationIndex write) {
      return history_[write].kind == OperationKind::put &&
             history_[write].written.id == history_[read].read.value.id;
    });
    REMORA_CHECK(writer != writes_.end(), "a read that no write explains has no version");
    read_nodes_.push_back(static_cast<Node>(writer - writes_.begin()));
  }
  row_words_ = (size_ + 63) / 64;
  edges_.resize(size_ * size_);
  order_writes();
  order_reads();
  close();
}

void VersionOrder::order_writes() {
  for (Node from = 0; from < writes_.size(); ++from) {
    for (Node to = 0; to < writes_.size(); ++to) {
      if (history_[writes_[from]].closed < history_[writes_[to]].invoked) {
        edge(from, to).present = true;
      }
    }
  }
}

void VersionOrder::order_reads() {
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    const Operation& earlier = history_[reads_[i]];
    for (Node to = 0; to < writes_.size(); ++to) {
      if (earlier.responded < history_[writes_[to]].invoked && node_of_read(i) != to) {
        edge(node_of_read(i), to) = {true, reads_[i], none};
      }
    }
    for (std::size_t j = 0; j < reads_.size(); ++j) {
      if (earlier.responded < history_[reads_[j]].invoked && node_of_read(i) != node_of_read(j)) {
        edge(node_of_read(i), node_of_read(j)) = {true, reads_[i], reads_[j]};
      }
    }
  }
}

// Warshall's closure, a row of bits at a time.
void VersionOrder::close() {
  reach_.assign(size_ * row_words_, 0);
  for (Node from = 0; from < size_; ++from) {
    for (Node to = 0; to < size_; ++to) {
      if (edge(from, to).present) {
        reach_[from * row_words_ + to / 64] |= std::uint64_t{1} << (to % 64);
      }
    }
  }
  for (Node over = 0; over < size_; ++over) {
    for (Node from = 0; from < size_; ++from) {
      if (!reaches(from, over)) {
        continue;
      }
      for (std::size_t word = 0; word < row_words_; ++word) {
        reach_[from * row_words_ + word] |= reach_[over * row_words_ + word];
      }
    }
  }
}

std::optional<std::vector<OperationIndex>> VersionOrder::cycle() const {
  std::optional<std::vector<OperationIndex>> shortest;
  for (Node start = 0; start < size_; ++start) {
    if (reaches(start, start)) {
      std::vector<OperationIndex> way = way_round(start);
      if (!shortest || way.size() < shortest->size()) {
        shortest = std::move(way);
      }
    }
  }
  return shortest;
}

// The shortest way from a node back to itself, breadth first.
std::vector<OperationIndex> VersionOrder::way_round(Node start) const {
  std::vector<Node> came_from(size_, size_);
  std::vector<Node> queue = {start};
  for (std::size_t next = 0; next < queue.size() && came_from[start] == size_; ++next) {
    for (Node to = 0; to < size_; ++to) {
      if (edge(queue[next], to).present && came_from[to] == size_) {
        came_from[to] = queue[next];
        queue.push_back(to);
      }
    }
  }
  std::vector<OperationIndex> way;
  Node at = start;
  do {
    const Node before = came_from[at];
    const Edge& step = edge(before, at);
    for (const OperationIndex read : {step.earlier, step.later}) {
      if (read != none) {
        way.push_back(read);
      }
    }
    if (before < writes_.size()) {
      way.push_back(writes_[before]);
    }
    at = before;
  } while (at != start);
  std::sort(way.begin(), way.end());
  way.erase(std::unique(way.begin(), way.end()), way.end());
  return way;
}

bool VersionOrder::some_del_explains(std::size_t missing, std::size_t present) const {
  for (Node node = 0; node < writes_.size(); ++node) {
    const Operation& write = history_[writes_[node]];
    if (write.kind == OperationKind::del && write.may_have_happened() &&
        write.invoked < history_[reads_[missing]].responded &&
        !reaches(node, node_of_read(present))) {
      return true;
    }
  }
  return false;
}

std::optional<std::vector<OperationIndex>> VersionOrder::unexplained_absence() const {
  for (std::size_t missing = 0; missing < reads_.size(); ++missing) {
    if (history_[reads_[missing]].outcome != Outcome::not_found) {
      continue;
    }
    for (std::size_t present = 0; present < reads_.size(); ++present) {
      if (history_[reads_[present]].outcome == Outcome::value &&
          history_[reads_[present]].responded < history_[reads_[missing]].invoked &&
          !some_del_explains(missing, present)) {
        return std::vector<OperationIndex>{reads_[present], reads_[missing]};
      }
    }
  }
  return std::nullopt;
}

}  // namespace remora
