#include "lab/memory/inbound.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace remora {

void Inbound::Queue::clear() {
  posted = acknowledged = 0;
  head = 0;
  head_begun = false;
  writes.clear();
  bytes.clear();
  head_words.clear();
  std::fill(placed.begin(), placed.end(), 0);
}

void Inbound::reset(const Platform& platform) {
  platform_ = platform;
  used_ = 0;
  in_cache_.assign(round_up<std::size_t>(images_.word_count(), 64) / 64, 0);
}

std::size_t Inbound::words_of(const Write& write) {
  const std::uint64_t first = write.offset / word_bytes;
  const std::uint64_t end = round_up<std::uint64_t>(write.offset + write.size, word_bytes);
  return write.size == 0 ? 0 : end / word_bytes - first;
}

Inbound::Piece Inbound::piece_of(const Write& write, std::size_t index) {
  const std::uint64_t word = write.offset / word_bytes + index;
  const std::uint64_t begin = std::max(write.offset, word * word_bytes);
  const std::uint64_t end = std::min(write.offset + write.size, (word + 1) * word_bytes);
  return Piece{.word = static_cast<WordIndex>(word),
               .offset = begin,
               .from = write.at + (begin - write.offset),
               .size = end - begin};
}

Inbound::Queue* Inbound::find(QpNumber qp) {
  return const_cast<Queue*>(std::as_const(*this).find(qp));
}

const Inbound::Queue* Inbound::find(QpNumber qp) const {
  for (std::size_t i = 0; i < used_; ++i) {
    if (queues_[i].qp == qp) {
      return &queues_[i];
    }
  }
  return nullptr;
}

Inbound::Queue& Inbound::queue_of(QpNumber qp) {
  if (Queue* queue = find(qp); queue != nullptr) {
    return *queue;
  }
  if (used_ == queues_.size()) {
    queues_.emplace_back().placed.resize(in_cache_.size());
  }
  Queue& queue = queues_[used_++];
  queue.clear();
  queue.qp = qp;
  return queue;
}

std::uint64_t Inbound::post(QpNumber qp, std::uint64_t offset, ConstBytes bytes) {
  REMORA_CHECK(within(offset, bytes.size(), images_.size_bytes()), "a write outside the memory");
  Queue& queue = queue_of(qp);
  queue.writes.push_back(Write{.offset = offset,
                               .size = bytes.size(),
                               .at = queue.bytes.size(),
                               .sequence = ++queue.posted});
  queue.bytes.insert(queue.bytes.end(), bytes.begin(), bytes.end());
  if (queue.waiting() == 1) {
    begin_head(queue);
  }
  return queue.posted;
}

void Inbound::acknowledge(QpNumber qp, std::uint64_t upto) {
  Queue& queue = queue_of(qp);
  REMORA_CHECK(upto <= queue.posted, "an acknowledgement of a write that was not posted");
  queue.acknowledged = std::max(queue.acknowledged, upto);
}

void Inbound::begin_head(Queue& queue) {
  queue.head_words.assign(words_of(queue.writes[queue.head]), WordState::waiting);
}

void Inbound::end_bypass(std::uint64_t offset, std::uint64_t size) {
  const auto found = std::find(bypassed_.begin(), bypassed_.end(), Range{offset, size});
  REMORA_CHECK(found != bypassed_.end(), "a bypass ends that did not begin");
  bypassed_.erase(found);
}

// A word that reaches out of the range shares it with others, and goes as they do.
bool Inbound::goes_by_caches(WordIndex word) const {
  const std::uint64_t begin = std::uint64_t{word} * word_bytes;
  return platform_.ddio &&
         std::none_of(bypassed_.begin(), bypassed_.end(), [&](const Range& range) {
           return begin >= range.offset && begin + word_bytes <= range.offset + range.size;
         });
}

void Inbound::place_word(Queue& queue, std::size_t index) {
  if (queue.head_words[index] == WordState::placed) {
    return;
  }
  queue.head_words[index] = WordState::placed;
  const Piece piece = piece_of(queue.writes[queue.head], index);
  std::memcpy(images_.visible().data() + piece.offset, queue.bytes.data() + piece.from, piece.size);
  if (goes_by_caches(piece.word)) {
    set_bit(queue.placed, piece.word);
    set_bit(in_cache_, piece.word);
  } else {
    images_.write_back(piece.word);
  }
  last_line_ = static_cast<LineIndex>(piece.word / words_per_line);
}

void Inbound::place_head(Queue& queue) {
  for (std::size_t i = 0; i < queue.head_words.size(); ++i) {
    place_word(queue, i);
  }
  leave_head(queue);
}

bool Inbound::place_part_of_head(Queue& queue, Random& random) {
  queue.head_begun = true;
  const auto placed = [](WordState state) { return state == WordState::placed; };
  const auto before = std::count_if(queue.head_words.begin(), queue.head_words.end(), placed);
  if (platform_.ascending) {
    const std::size_t end =
        random.between(static_cast<std::uint64_t>(before), queue.head_words.size());
    for (std::size_t i = 0; i < end; ++i) {
      place_word(queue, i);
    }
  } else {
    for (std::size_t i = 0; i < queue.head_words.size(); ++i) {
      if (random.chance(1, 2)) {
        place_word(queue, i);
      }
    }
  }
  const auto after = std::count_if(queue.head_words.begin(), queue.head_words.end(), placed);
  if (static_cast<std::size_t>(after) == queue.head_words.size()) {
    leave_head(queue);
  }
  return after != before;
}

void Inbound::leave_head(Queue& queue) {
  ++queue.head;
  queue.head_begun = false;
  if (queue.waiting() != 0) {
    begin_head(queue);
    return;
  }
  queue.head = 0;
  queue.writes.clear();
  queue.bytes.clear();
  queue.head_words.clear();
}

bool Inbound::place_some(Random& random) {
  bool any = false;
  for (std::size_t i = 0; i < used_; ++i) {
    Queue& queue = queues_[i];
    if (queue.waiting() == 0 || random.chance(1, 2)) {
      continue;
    }
    for (std::uint64_t whole = random.below(queue.waiting() + 1); whole > 0; --whole) {
      place_head(queue);
      any = true;
    }
    if (queue.waiting() != 0) {
      any |= place_part_of_head(queue, random);
    }
  }
  return any;
}

bool Inbound::place_all(QpNumber qp) {
  Queue* queue = find(qp);
  if (queue == nullptr || queue->waiting() == 0) {
    return false;
  }
  while (queue->waiting() != 0) {
    place_head(*queue);
  }
  return true;
}

void Inbound::make_durable(QpNumber qp, std::uint64_t offset, std::uint64_t size) {
  REMORA_CHECK(within(offset, size, images_.size_bytes()), "a FLUSH outside the memory");
  Queue* queue = find(qp);
  if (queue == nullptr || size == 0) {
    return;
  }
  const std::uint64_t end = round_up<std::uint64_t>(offset + size, word_bytes) / word_bytes;
  for (std::uint64_t word = offset / word_bytes; word < end; ++word) {
    std::uint64_t& bits = queue->placed[word / 64];
    if (bits == 0) {
      word |= 63;  // on to the next 64 words
      continue;
    }
    if ((bits >> word % 64) & 1) {
      bits &= ~(std::uint64_t{1} << word % 64);
      images_.write_back(static_cast<WordIndex>(word));
    }
  }
}

void Inbound::drop(QpNumber qp, Random& random) {
  Queue* queue = find(qp);
  if (queue == nullptr) {
    return;
  }
  while (queue->waiting() != 0 &&
         (queue->writes[queue->head].sequence <= queue->acknowledged || random.chance(1, 2))) {
    place_head(*queue);
  }
  if (queue->waiting() != 0) {
    place_part_of_head(*queue, random);
  }
  std::swap(*queue, queues_[--used_]);
}

void Inbound::drop_all(Random& random) {
  while (used_ != 0) {
    drop(queues_[0].qp, random);
  }
}

void Inbound::read(QpNumber qp, std::uint64_t offset, Bytes out, Random& random) {
  REMORA_CHECK(within(offset, out.size(), images_.size_bytes()), "a READ outside the memory");
  std::memcpy(out.data(), images_.visible().data() + offset, out.size());
  for (std::size_t i = 0; i < used_; ++i) {
    if (queues_[i].qp != qp && queues_[i].head_begun) {
      read_over(queues_[i], offset, out, random);
    }
  }
}

void Inbound::read_over(Queue& queue, std::uint64_t offset, Bytes out, Random& random) {
  for (std::size_t i = 0; i < queue.head_words.size(); ++i) {
    const Piece piece = piece_of(queue.writes[queue.head], i);
    const std::uint64_t begin = std::max(offset, piece.offset);
    const std::uint64_t end = std::min(offset + out.size(), piece.offset + piece.size);
    WordState& state = queue.head_words[i];
    if (begin >= end || state == WordState::placed) {
      continue;
    }
    if (state == WordState::waiting && random.chance(1, 2)) {
      state = WordState::seen_by_read;
    }
    if (state == WordState::seen_by_read) {
      std::memcpy(out.data() + (begin - offset),
                  queue.bytes.data() + piece.from + (begin - piece.offset), end - begin);
    }
  }
}

std::size_t Inbound::waiting(QpNumber qp) const {
  const Queue* queue = find(qp);
  return queue == nullptr ? 0 : queue->waiting();
}

void Inbound::list(std::vector<InboundWord>& into) const {
  for (std::size_t q = 0; q < used_; ++q) {
    const Queue& queue = queues_[q];
    for (std::size_t w = queue.head; w < queue.writes.size(); ++w) {
      const Write& write = queue.writes[w];
      for (std::size_t i = 0; i < words_of(write); ++i) {
        if (w == queue.head && queue.head_words[i] == WordState::placed) {
          continue;
        }
        const Piece piece = piece_of(write, i);
        const std::size_t shift = piece.offset % word_bytes;
        InboundWord& word = into.emplace_back();
        word.word = piece.word;
        word.queue = static_cast<std::uint32_t>(q);
        word.order = write.sequence;
        word.acknowledged = write.sequence <= queue.acknowledged;
        std::byte bytes[word_bytes] = {};
        std::byte mask[word_bytes] = {};
        std::memcpy(bytes + shift, queue.bytes.data() + piece.from, piece.size);
        std::memset(mask + shift, 0xff, piece.size);
        word.value = load<std::uint64_t>(bytes);
        word.mask = load<std::uint64_t>(mask);
      }
    }
  }
}

}  // namespace remora
