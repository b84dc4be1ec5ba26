#include "fabric/nic/core/plain_dma.h"

#include <atomic>

#include "base/racy_copy.h"

namespace remora::fabric::nic {
namespace {

std::atomic_ref<std::uint64_t> word_at(std::byte* word) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(word));
}

void store_byte(std::byte* to, std::byte value) {
  std::atomic_ref<std::byte>(*to).store(value, std::memory_order_release);
}

// memcpy may store the end before the middle. Whoever watches the last byte must find all the
// others in place, so each store releases those before it; on x86 that costs nothing.
void copy_ascending(std::byte* to, ConstBytes from) {
  const std::byte* at = from.data();
  const std::byte* const end = at + from.size();
  for (; at < end && reinterpret_cast<std::uintptr_t>(to) % word_bytes != 0; ++at, ++to) {
    store_byte(to, *at);
  }
  for (; static_cast<std::size_t>(end - at) >= word_bytes; at += word_bytes, to += word_bytes) {
    word_at(to).store(load<std::uint64_t>(at), std::memory_order_release);
  }
  for (; at < end; ++at, ++to) {
    store_byte(to, *at);
  }
}

}  // namespace

void PlainDma::write(QpNumber, std::byte* to, ConstBytes from) {
  copy_ascending(to, from);
  changed(to, from.size());
}

void PlainDma::read(QpNumber, Bytes to, const std::byte* from) {
  racy_copy(to, ConstBytes(from, to.size()));
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
