#include "fabric/nic/dma/plain_dma.h"

#include "base/racy_copy.h"
#include "fabric/nic/dma/ascending_copy.h"
#include "fabric/nic/dma/streaming_copy.h"

namespace remora::fabric::nic {
void PlainDma::write(QpNumber, std::byte* to, ConstBytes from) {
  copy_ascending(to, from);
  changed(to, from.size());
}

void PlainDma::write_part(QpNumber, std::byte* to, ConstBytes from, bool last) {
  copy_streaming(to, from, last);
  changed(to, from.size());
}

void PlainDma::bring(QpNumber, std::byte* to, ConstBytes from) {
  const std::size_t done = copy_lines_ascending(to, from);
  copy_ascending(to + done, from.subspan(done));
  changed(to, from.size());
}

void PlainDma::read(QpNumber, Bytes to, const std::byte* from) {
  racy_copy_words(to, ConstBytes(from, to.size()));
}

std::uint64_t PlainDma::compare_swap(QpNumber, std::byte* word, std::uint64_t compare,
                                     std::uint64_t swap) {
  std::uint64_t before = compare;
  if (word_at(word).compare_exchange_strong(before, swap)) {
    changed(word, word_bytes);
  }
  return before;
}

std::uint64_t PlainDma::fetch_add(QpNumber, std::byte* word, std::uint64_t summand) {
  const std::uint64_t before = word_at(word).fetch_add(summand);
  changed(word, word_bytes);
  return before;
}

void PlainDma::atomic_write(QpNumber, std::byte* word, std::uint64_t value) {
  word_at(word).store(value);
  changed(word, word_bytes);
}

// What was written is visible already.
Ticket PlainDma::flush(QpNumber, ConstBytes range, FlushPlacement placement, Region* persistence) {
  return placement == FlushPlacement::persistence ? persistence->persist(range) : Ticket{};
}

}  // namespace remora::fabric::nic
