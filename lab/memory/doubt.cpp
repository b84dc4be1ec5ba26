#include "lab/memory/doubt.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace remora {
namespace {

constexpr std::uint64_t all_versions = ~std::uint64_t{0};
constexpr std::uint64_t durable_version = 1;
constexpr std::uint64_t visible_version = std::uint64_t{1} << 63;
constexpr std::size_t max_snapshot_versions = 62;

std::uint64_t snapshot_version(std::size_t index) {
  return index < max_snapshot_versions ? std::uint64_t{2} << index : 0;
}

// Walks through the orders in which the writes that wait for one word can be placed. Each queue
// keeps its order; a state counts once every queue has placed what it must.
class Orders {
 public:
  explicit Orders(std::span<const InboundWord> arrivals, bool acknowledged_are_kept)
      : arrivals_(arrivals) {
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      // Words that more than eight queues have inbound are rare: the rest share the last lane.
      if (i == 0 || (arrivals[i].queue != arrivals[i - 1].queue && lanes_ < max_lanes)) {
        lane_[lanes_++] = Lane{.next = i, .end = i, .must_reach = i};
      }
      Lane& lane = lane_[lanes_ - 1];
      lane.end = i + 1;
      if (acknowledged_are_kept && arrivals[i].acknowledged) {
        lane.must_reach = i + 1;
      }
    }
  }

  template <typename Visit>
  void walk(std::uint64_t value, const Visit& visit) {
    if (steps_left_ == 0) {
      return;
    }
    --steps_left_;
    const auto satisfied = [](const Lane& lane) { return lane.next >= lane.must_reach; };
    if (std::ranges::all_of(lanes(), satisfied)) {
      visit(value);
    }
    for (Lane& lane : lanes()) {
      if (lane.next < lane.end) {
        const std::uint64_t placed = arrivals_[lane.next].over(value);
        ++lane.next;
        walk(placed, visit);
        --lane.next;
      }
    }
  }

 private:
  static constexpr std::size_t max_lanes = 8;
  struct Lane {
    std::size_t next = 0;
    std::size_t end = 0;
    std::size_t must_reach = 0;
  };

  std::span<Lane> lanes() { return std::span(lane_).first(lanes_); }

  std::span<const InboundWord> arrivals_;
  std::array<Lane, max_lanes> lane_ = {};
  std::size_t lanes_ = 0;
  int steps_left_ = 512;
};

}  // namespace

std::uint64_t Doubt::combinations(std::uint64_t limit) const {
  std::uint64_t product = 1;
  for (const WordInDoubt& word : words) {
    if (product > limit / word.count) {
      return limit + 1;
    }
    product *= word.count;
  }
  return product;
}

void DoubtFinder::add(std::span<const LineSnapshot> on_the_way) {
  for (const LineSnapshot& snapshot : on_the_way) {
    snapshots_.push_back(&snapshot);
  }
}

void DoubtFinder::find(const TwoImages& images, const Inbound& inbound, const Platform& platform,
                       Doubt& out) {
  images_ = &images;
  inbound_ = &inbound;
  platform_ = platform;
  out.words.clear();
  out.lines.clear();
  out.candidates.clear();
  out.certain.clear();
  gather(images, inbound, platform.domain == Domain::dmp);
  Snapshots left = snapshots_;
  arrivals_left_ = arrivals_;
  for (const LineIndex line : lines_) {
    const Snapshots mine =
        take_while(left, [&](const LineSnapshot* item) { return item->line == line; });
    find_in_line(line, mine, out);
  }
  snapshots_.clear();
}

void DoubtFinder::gather(const TwoImages& images, const Inbound& inbound, bool caches_are_lost) {
  lines_.clear();
  if (caches_are_lost) {
    images.dirty_lines(lines_);
    std::sort(snapshots_.begin(), snapshots_.end(),
              [](const LineSnapshot* a, const LineSnapshot* b) {
                return std::tie(a->line, a->taken_at) < std::tie(b->line, b->taken_at);
              });
  } else {
    snapshots_.clear();
  }
  for (const LineSnapshot* snapshot : snapshots_) {
    lines_.push_back(snapshot->line);
  }
  arrivals_.clear();
  inbound.list(arrivals_);
  for (const InboundWord& arrival : arrivals_) {
    lines_.push_back(static_cast<LineIndex>(arrival.word / words_per_line));
  }
  std::sort(arrivals_.begin(), arrivals_.end(), [](const InboundWord& a, const InboundWord& b) {
    return std::tie(a.word, a.queue, a.order) < std::tie(b.word, b.queue, b.order);
  });
  std::sort(lines_.begin(), lines_.end());
  lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
}

template <typename Items, typename Mine>
Items DoubtFinder::take_while(Items& rest, Mine mine) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), mine);
  const Items taken = rest.first(static_cast<std::size_t>(end - rest.begin()));
  rest = rest.subspan(taken.size());
  return taken;
}

void DoubtFinder::find_in_line(LineIndex line, Snapshots snapshots, Doubt& out) {
  const std::size_t first = out.words.size();
  for (std::size_t i = 0; i < words_per_line; ++i) {
    const auto word = static_cast<WordIndex>(std::size_t{line} * words_per_line + i);
    const Arrivals arrivals =
        take_while(arrivals_left_, [&](const InboundWord& item) { return item.word == word; });
    const std::uint64_t visible = images_->visible_word(word);
    values_.clear();
    newest_ = visible;
    if (platform_.domain == Domain::dmp) {
      add_stored(word, snapshots);
    }
    add_arrivals(visible, arrivals, platform_.domain == Domain::wsp);
    close_word(word, out);
  }
  if (out.words.size() != first) {
    out.lines.push_back(LineInDoubt{.first = static_cast<std::uint32_t>(first),
                                    .count = static_cast<std::uint32_t>(out.words.size() - first),
                                    .snapshots = static_cast<std::uint32_t>(
                                        std::min(snapshots.size(), max_snapshot_versions))});
  }
}

void DoubtFinder::add_stored(WordIndex word, Snapshots snapshots) {
  const bool by_dma = inbound_->was_placed_in_cache(word);
  const auto add = [&](std::uint64_t value, std::uint64_t version, bool must = false) {
    add_value(value, by_dma ? all_versions : version, must);
  };
  const std::uint64_t durable = images_->durable_word(word);
  add(durable, durable_version);
  for (std::size_t i = 0; i < snapshots.size(); ++i) {
    const bool newer = snapshots[i]->taken_at > images_->durable_tick(word);
    add(newer ? snapshots[i]->words[word % words_per_line] : durable, snapshot_version(i));
  }
  add(images_->visible_word(word), visible_version, true);
}

void DoubtFinder::add_arrivals(std::uint64_t below, Arrivals arrivals, bool acknowledged_are_kept) {
  if (arrivals.empty()) {
    if (values_.empty()) {
      add_value(below, all_versions);
    }
    return;
  }
  const bool stored = !values_.empty();
  Orders(arrivals, acknowledged_are_kept).walk(below, [&](std::uint64_t value) {
    // The visible value itself is listed already where caches are lost, bound to its version.
    if (!stored || value != below) {
      add_value(value, all_versions);
    }
  });
  for (const InboundWord& arrival : arrivals) {
    newest_ = arrival.over(newest_);
  }
  if (!stored || newest_ != below) {
    add_value(newest_, all_versions, true);
  }
}

void DoubtFinder::add_value(std::uint64_t value, std::uint64_t versions, bool must) {
  for (Candidate& candidate : values_) {
    if (candidate.value == value) {
      candidate.versions |= versions;
      return;
    }
  }
  if (must || values_.size() < max_candidates) {
    values_.push_back(Candidate{.value = value, .versions = versions});
  }
}

void DoubtFinder::close_word(WordIndex word, Doubt& out) {
  const auto newest = [&](const Candidate& candidate) { return candidate.value == newest_; };
  const auto kept = std::find_if(values_.begin(), values_.end(), newest);
  if (values_.size() == 1) {
    if (platform_.domain == Domain::wsp && newest_ != images_->visible_word(word)) {
      out.certain.push_back(CertainWord{.word = word, .value = newest_});
    }
    return;
  }
  out.words.push_back(WordInDoubt{.word = word,
                                  .first = static_cast<std::uint32_t>(out.candidates.size()),
                                  .count = static_cast<std::uint32_t>(values_.size()),
                                  .kept = static_cast<std::uint32_t>(kept - values_.begin())});
  out.candidates.insert(out.candidates.end(), values_.begin(), values_.end());
}

}  // namespace remora
