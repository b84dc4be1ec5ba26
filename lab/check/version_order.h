// The order between versions of one key that a group of reads forces, as a graph. A node is a
// write, or the absence that one get saw (which del left it, if any, is not known).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/check/history.h"

namespace remora {

class VersionOrder {
 public:
  // `writes` and `reads` are of one key; reads are gets that tell a version, and that some write
  // explains, or that saw absence. Keeps a reference to the history.
  VersionOrder(const History& history, std::vector<OperationIndex> writes,
               std::vector<OperationIndex> reads);

  // A version that is older than itself: the operations on the way round, in order.
  std::optional<std::vector<OperationIndex>> cycle() const;

  // A get that saw absence after another saw a value which no del can have followed: those two.
  std::optional<std::vector<OperationIndex>> unexplained_absence() const;

 private:
  using Node = std::size_t;
  static constexpr OperationIndex none = ~OperationIndex{0};

  // Why one node comes before the next: the last of the reads, or none when the writes say it.
  struct Edge {
    bool present = false;
    OperationIndex earlier = none;
    OperationIndex later = none;
  };

  Edge& edge(Node from, Node to) { return edges_[from * size_ + to]; }
  const Edge& edge(Node from, Node to) const { return edges_[from * size_ + to]; }
  Node node_of_read(std::size_t read) const { return read_nodes_[read]; }
  bool reaches(Node from, Node to) const {
    return (reach_[from * row_words_ + to / 64] >> (to % 64) & 1) != 0;
  }
  void order_writes();
  void order_reads();
  void close();
  std::vector<OperationIndex> way_round(Node start) const;
  bool some_del_explains(std::size_t missing, std::size_t present) const;

  const History& history_;
  std::vector<OperationIndex> writes_;
  std::vector<OperationIndex> reads_;
  std::vector<Node> read_nodes_;
  std::size_t size_ = 0;
  std::size_t row_words_ = 0;
  std::vector<Edge> edges_;
  std::vector<std::uint64_t> reach_;
};

}  // namespace remora
