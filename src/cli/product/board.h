// Board: what `remora top` shows of a store, from facts that are taken again and again.
//
// One thread; no I/O.
#pragma once

#include <remora/facts.h>

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/product/fact_kinds.h"
#include "cli/product/paint.h"

namespace remora::cli {

class Board {
 public:
  // The facts of now. Those of another process than before begin again.
  void add(const Facts& facts);
  // Nothing came: the server does not answer, for this reason.
  void lose(const std::string& why) { lost_ = why; }

  // Lines with their ends, no wider than the screen, and no more than fit it.
  std::string draw(const Screen& screen, const Paint& paint) const;

 private:
  // What is drawn of a number over time: its rate where it grows, else its value.
  struct Past {
    std::uint64_t last = 0;
    std::optional<double> rate;
    std::deque<double> drawn;
    bool has_moved = false;  // since somebody watches
  };
  struct Sizes {
    std::size_t width = 0;
    std::size_t label = 0;
    std::size_t graph = 0;
  };

  void note(const Number& number, double seconds);
  bool is_shown(const Number& number) const;
  Sizes sizes_in(std::size_t width) const;
  std::vector<std::string> heading(const Screen& screen, const Paint& paint) const;
  std::vector<std::string> group_lines(Group group, std::size_t width, const Screen& screen,
                                       const Paint& paint) const;
  std::string row(const Number& number, const Sizes& sizes, const Screen& screen,
                  const Paint& paint) const;

  Facts facts_;
  std::map<std::string, Past, std::less<>> past_;
  std::optional<std::uint64_t> last_ms_;
  std::string pid_;
  std::string lost_;
  bool restarted_ = false;
};

}  // namespace remora::cli
