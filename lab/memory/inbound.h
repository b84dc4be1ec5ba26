// Inbound: remote WRITEs that a NIC has taken in and not yet placed. Each queue pair has a queue;
// only the write at its head can be half placed. Placing stores into the visible image, and, with
// DDIO off, into the durable one.
//
// Used by one thread, through CrashMemory. Keeps its buffers over a reset.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "lab/memory/platform.h"
#include "lab/memory/two_images.h"

namespace remora {

using QpNumber = std::uint32_t;

// One word of a write that waits: the bytes of `mask` become those of `value`.
struct InboundWord {
  WordIndex word = 0;
  std::uint32_t queue = 0;
  std::uint64_t order = 0;  // within the queue
  bool acknowledged = false;
  std::uint64_t value = 0;
  std::uint64_t mask = 0;

  std::uint64_t over(std::uint64_t below) const { return (below & ~mask) | (value & mask); }
};

class Inbound {
 public:
  explicit Inbound(TwoImages& images) : images_(images) {}

  // Power-on: no queue pair, nothing waits. `platform` is the one in force.
  void reset(const Platform& platform);

  std::uint64_t post(QpNumber qp, std::uint64_t offset, ConstBytes bytes);
  void acknowledge(QpNumber qp, std::uint64_t upto);

  // Each returns whether anything was placed.
  bool place_some(Random& random);
  bool place_all(QpNumber qp);

  // What is placed in this range goes past the caches, whatever DDIO says, until it is taken back
  // as often.
  void bypass(std::uint64_t offset, std::uint64_t size) { bypassed_.push_back({offset, size}); }
  void end_bypass(std::uint64_t offset, std::uint64_t size);

  // The words that the queue pair placed in [offset, offset + size), and that no FLUSH of its own
  // covered since, become durable.
  void make_durable(QpNumber qp, std::uint64_t offset, std::uint64_t size);

  // Places what was acknowledged and by chance some more, in order; forgets the rest and the queue
  // pair.
  void drop(QpNumber qp, Random& random);
  void drop_all(Random& random);

  // Copies the visible bytes, mixed by chance with words of other queue pairs' writes that are
  // being placed at this moment.
  void read(QpNumber qp, std::uint64_t offset, Bytes out, Random& random);

  // Writes of the queue pair that are not wholly placed.
  std::size_t waiting(QpNumber qp) const;

  // Appends every word that waits, each queue in its order.
  void list(std::vector<InboundWord>& into) const;

  // Whether the word was placed by DMA into the CPU cache since power-on.
  bool was_placed_in_cache(WordIndex word) const { return bit(in_cache_, word); }

  // A line near the last placement.
  LineIndex last_line() const { return last_line_; }

 private:
  enum class WordState : std::uint8_t { waiting, seen_by_read, placed };
  using Bitmap = std::vector<std::uint64_t>;

  struct Write {
    std::uint64_t offset;
    std::uint64_t size;
    std::size_t at;  // of its bytes, in the queue's
    std::uint64_t sequence;
  };

  struct Queue {
    QpNumber qp = 0;
    std::uint64_t posted = 0;        // sequence number of the newest write
    std::uint64_t acknowledged = 0;  // sequence number
    std::size_t head = 0;
    std::vector<Write> writes;
    std::vector<std::byte> bytes;
    bool head_begun = false;  // the head is being placed; perhaps no CPU sees any of it yet
    std::vector<WordState> head_words;
    Bitmap placed;  // words placed in the CPU cache, and covered by no FLUSH since

    std::size_t waiting() const { return writes.size() - head; }
    void clear();
  };

  // The part of a write that falls into one word.
  struct Piece {
    WordIndex word;
    std::uint64_t offset;  // of its first byte in memory
    std::size_t from;      // in the queue's bytes
    std::size_t size;
  };

  struct Range {
    std::uint64_t offset;
    std::uint64_t size;
    bool operator==(const Range&) const = default;
  };

  bool goes_by_caches(WordIndex word) const;
  static std::size_t words_of(const Write& write);
  static Piece piece_of(const Write& write, std::size_t index);
  static bool bit(const Bitmap& map, WordIndex word) { return (map[word / 64] >> word % 64) & 1; }
  static void set_bit(Bitmap& map, WordIndex word) {
    map[word / 64] |= std::uint64_t{1} << word % 64;
  }

  Queue& queue_of(QpNumber qp);
  Queue* find(QpNumber qp);
  const Queue* find(QpNumber qp) const;
  void begin_head(Queue& queue);
  void place_word(Queue& queue, std::size_t index);
  void place_head(Queue& queue);
  bool place_part_of_head(Queue& queue, Random& random);
  void leave_head(Queue& queue);
  void read_over(Queue& queue, std::uint64_t offset, Bytes out, Random& random);

  TwoImages& images_;
  Platform platform_;
  std::vector<Queue> queues_;  // those past used_ are empty, kept for their buffers
  std::size_t used_ = 0;
  Bitmap in_cache_;
  std::vector<Range> bypassed_;
  LineIndex last_line_ = 0;
};

}  // namespace remora
