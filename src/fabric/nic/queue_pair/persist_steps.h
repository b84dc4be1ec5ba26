// PersistSteps: what comes after what until something is persistent: bytes first, then words that
// vouch for them, then whoever waits is told. A medium may take its time over each.
//
// One thread; words beyond those that were reserved for allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/nic/queue_pair/engine.h"

namespace remora::fabric::nic {

class PersistSteps {
 public:
  enum class State : std::uint8_t { under_way, persistent, failed };

  explicit PersistSteps(Connection& connection)
      : connection_(connection), engine_(connection.engine) {}

  void reserve(std::size_t words) {
    words_.reserve(words);
    ranges_.reserve(words);
    covers_.reserve(2);
  }

  // Anew. Then what is to be persistent is said, and go_on asked until it is.
  void begin();
  // These bytes, of the region of this key, which is no translated one: they are flushed first.
  void flush(RemoteKey key, ConstBytes range) { ranges_.push_back({key, range}); }
  // The bytes of this ticket, of the region of this key. Of one region, those of the last are
  // persistent when those of all are.
  void cover(RemoteKey key, const Ticket& ticket);
  // This word is stored and made persistent after all bytes are.
  void add_word(const RemoteAddress& at, std::uint64_t value) { words_.push_back({at, value}); }
  // Stores the words at once, as no device should; for planted bugs.
  bool store_words_first();

  State go_on();

 private:
  struct Word {
    RemoteAddress at;
    std::uint64_t value;
  };
  struct Cover {
    RemoteKey key = 0;
    Ticket ticket = {};
    bool requested = false;
  };

  struct Range {
    RemoteKey key = 0;
    ConstBytes bytes;
  };

  bool flush_ranges();
  State await(Cover& cover);
  std::byte* place_of(const Word& word, const RegisteredMemory*& memory);
  bool store_words();

  Connection& connection_;
  Engine& engine_;
  std::vector<Word> words_;
  std::vector<Range> ranges_;
  std::vector<Cover> covers_;
  std::uint64_t give_up_ns_ = 0;
};

}  // namespace remora::fabric::nic
