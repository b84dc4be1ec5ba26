#include "fabric/nic/wire/mapped/mapped_lane.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "base/racy_copy.h"
#include "fabric/nic/core/ascending_copy.h"
#include "fabric/nic/core/pieces.h"
#include "fabric/nic/wire/mapped/process_fence.h"

namespace remora::fabric::nic {
namespace {

bool is_aligned(const std::byte* at, std::size_t size_bytes) {
  return reinterpret_cast<std::uintptr_t>(at) % size_bytes == 0;
}

// A line that appears, and reaches the medium, as one: no word of it before another. Past the
// caches.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
bool stores_lines() {
  static const bool can = [] {
    constexpr unsigned movdir64b_bit = 1U << 28;
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & movdir64b_bit) != 0;
  }();
  return can;
}
__attribute__((target("movdir64b"))) void store_line(std::byte* to, const std::byte* from) {
  _movdir64b(to, from);
}
#else
bool stores_lines() {
  return false;
}
void store_line(std::byte*, const std::byte*) {}
#endif

// Whether the FLUSH makes all of a WRITE persistent.
bool is_persisted_by(const RemoteAddress& at, std::uint64_t size_bytes, const SendWork& flush) {
  if (flush.flush_placement != FlushPlacement::persistence || flush.remote.key != at.key) {
    return false;
  }
  const std::uint64_t offset = at.address - flush.remote.address;
  return flush.flush_select == FlushSelect::region || within(offset, size_bytes, flush.flush_bytes);
}

// All but the last word in any order, then that.
void copy_last_word_last(std::byte* to, ConstBytes from) {
#if !defined(__SANITIZE_THREAD__)
  if (from.size() > mapped_limits::by_word_bytes) {
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % word_bytes;
    const std::size_t body = round_down(from.size() - head - word_bytes, word_bytes);
    copy_ascending(to, from.first(head));
    // Aligned and a multiple of words: no vector store splits one.
    std::memcpy(to + head, from.data() + head, body);
    __asm__ volatile("" : : : "memory");
    to += head + body;
    from = from.subspan(head + body);
  }
#endif
  copy_ascending(to, from);
}

}  // namespace

MappedLane::~MappedLane() {
  owner_.lanes_.erase(connection_.number);
}

// --- Keys ---

MappedLane::Known* MappedLane::find(RemoteKey key) {
  if (latest_ < known_.size() && known_[latest_].key == key) [[likely]] {
    return &known_[latest_];
  }
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (known_[i].key == key) {
      latest_ = i;
      return &known_[i];
    }
  }
  return nullptr;
}

MappedLane::Known* MappedLane::find_or_ask(RemoteKey key) {
  Known* known = find(key);
  if (known == nullptr) {
    if (link_ == nullptr || known_.size() == mapped_limits::keys) {
      return nullptr;
    }
    // Known even where the question could not be sent: what is written meanwhile is remembered.
    known_.emplace_back();
    known_.back().key = key;
    known_.back().state = owner_.say_ask(*this, key) ? Known::State::asked : Known::State::denied;
    latest_ = known_.size() - 1;
    return &known_.back();
  }
  if (known->state != Known::State::granted && link_ != nullptr &&
      ++known->waited >= known->patience) {
    known->waited = 0;
    known->patience = std::min(4 * known->patience, mapped_limits::asks_again_at_most_after);
    if (owner_.say_ask(*this, key)) {
      known->state = Known::State::asked;
    }
  }
  return known;
}

// A place that the target grants at this moment, or nothing. Within the epoch.
MappedLane::Place MappedLane::reach(const RemoteAddress& remote, std::uint64_t size_bytes,
                                    AccessFlags rights) {
  Known* known = find(remote.key);
  if (known == nullptr || known->state != Known::State::granted) [[unlikely]] {
    return {};
  }
  if (link_->gate->word(known->slot).load(std::memory_order_acquire) != known->grant) [[unlikely]] {
    known->state = Known::State::denied;  // taken back
    known->mapping.reset();
    return {};
  }
  const std::uint64_t offset = remote.address - known->base;
  if ((rights & ~known->rights) != 0 || !within(offset, size_bytes, known->mapping->bytes.size()))
      [[unlikely]] {
    return {};
  }
  return {known, known->mapping->bytes.data() + offset};
}

bool MappedLane::is_fit(const SendWork& work, std::uint64_t size_bytes) const {
  return size_bytes != 0 && size_bytes <= connection_.engine.max_message_bytes &&
         (work.pieces.size() == 1 || size_bytes <= mapped_limits::gathered_bytes);
}

bool MappedLane::may_use(std::span<const Sge> pieces, AccessFlags rights) const {
  return pieces.size() <= connection_.max_pieces && allows_all(connection_, pieces, rights);
}

// --- Requests ---

Lane::Ran MappedLane::run(std::span<const SendWork> works) {
  if (link_ == nullptr || !link_->gate) [[unlikely]] {
    return {};
  }
  std::atomic<std::uint64_t>& epoch = link_->epoch->word(0);
  std::size_t executed = 0;
  bool goes_on = true;
  while (goes_on && executed < works.size()) {
    const std::size_t upto = std::min(works.size(), executed + mapped_limits::requests_per_entry);
    const std::uint64_t inside = epoch.load(std::memory_order_relaxed) + 1;
    epoch.store(inside, std::memory_order_relaxed);
    light_fence();  // the target, who takes rights back, makes it a full one
    while (executed < upto) {
      const SendWork* behind = executed + 1 < upto ? &works[executed + 1] : nullptr;
      goes_on = execute(works[executed], behind);
      if (!goes_on) {
        break;
      }
      ++executed;
    }
    epoch.store(inside + 1, std::memory_order_release);
  }
  return {executed, false};
}

// What goes by the wire is in the target's caches when it is acknowledged.
void MappedLane::passed(const SendWork& work) {
  std::uint64_t size_bytes = 0;
  switch (work.opcode) {
    case Opcode::send:
    case Opcode::send_imm:
      return;
    case Opcode::write:
    case Opcode::write_imm:
      size_bytes = total_bytes(work.pieces);
      break;
    case Opcode::compare_swap:
    case Opcode::fetch_add:
    case Opcode::atomic_write:
      size_bytes = word_bytes;
      break;
    default:
      break;
  }
  Known* known = find_or_ask(work.remote.key);
  if (known != nullptr && size_bytes != 0) {
    known->dirty.add(work.remote.address, size_bytes);
  }
}

bool MappedLane::execute(const SendWork& work, const SendWork* behind) {
  switch (work.opcode) {
    case Opcode::write:
      return execute_write(work, behind);
    case Opcode::read:
      return execute_read(work);
    case Opcode::compare_swap:
    case Opcode::fetch_add:
    case Opcode::atomic_write:
      return execute_word(work);
    case Opcode::flush:
      return execute_flush(work);
    default:
      return false;
  }
}

void MappedLane::complete(const SendWork& work, std::uint32_t size_bytes) {
  if (work.signalled) {
    connection_.send_completions->push({.id = work.id,
                                        .status = WorkStatus::success,
                                        .opcode = work.opcode,
                                        .size_bytes = size_bytes,
                                        .qp = connection_.number});
  }
}

bool MappedLane::execute_write(const SendWork& work, const SendWork* behind) {
  const std::uint64_t size_bytes = total_bytes(work.pieces);
  if (!is_fit(work, size_bytes)) [[unlikely]] {
    return false;
  }
  const bool is_fine = work.inline_data ? work.pieces.size() <= connection_.max_pieces &&
                                              size_bytes <= connection_.max_inline_bytes
                                        : may_use(work.pieces, local_read);
  const Place place = is_fine ? reach(work.remote, size_bytes, remote_write) : Place{};
  if (place.at == nullptr) [[unlikely]] {
    return false;
  }
  pause_inside();
  const bool line_last =
      behind != nullptr && behind->opcode == Opcode::flush &&
      place.known->medium == static_cast<std::uint8_t>(Granularity::cache_line) &&
      is_persisted_by(work.remote, size_bytes, *behind) && stores_lines() &&
      is_aligned(place.at + size_bytes, cache_line_bytes) && size_bytes >= cache_line_bytes;
  if (work.pieces.size() == 1) [[likely]] {
    store(*place.known, place.at, ConstBytes(work.pieces[0].address, size_bytes), line_last);
  } else {
    // A word of the target may lie in two pieces, and is never seen torn.
    Bytes room = scratch(size_bytes);
    for (const Sge& piece : work.pieces) {
      racy_copy(room, ConstBytes(piece.address, piece.size_bytes));
      room = room.subspan(piece.size_bytes);
    }
    store(*place.known, place.at, scratch(size_bytes), line_last);
  }
  complete(work, 0);
  return true;
}

Bytes MappedLane::scratch(std::size_t size_bytes) {
  if (scratch_.size() < size_bytes) {
    scratch_.resize(size_bytes);
  }
  return Bytes(scratch_).first(size_bytes);
}

void MappedLane::store(Known& known, std::byte* to, ConstBytes from, bool line_last) {
  if (from.size() >= mapped_limits::past_cache_bytes || line_last) {
    store_past_caches(known, to, from, line_last);
    return;
  }
  copy_last_word_last(to, from);
  known.dirty.add(known.base + static_cast<std::uint64_t>(to - known.mapping->bytes.data()),
                  from.size());
}

// With `line_last` the end is a whole line, and a FLUSH waits for it.
void MappedLane::store_past_caches(Known& known, std::byte* to, ConstBytes from, bool line_last) {
  const std::uint64_t at =
      known.base + static_cast<std::uint64_t>(to - known.mapping->bytes.data());
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(to) % cache_line_bytes;
  // One to 64 bytes are left for the end.
  const std::size_t body = round_down(from.size() - head - 1, cache_line_bytes);
  const std::size_t tail_at = head + body;
  if (!line_last) {
    __builtin_prefetch(to + tail_at, 1);
  }
  if (head != 0) {
    copy_ascending(to, from.first(head));
    known.dirty.add(at, head);
  }
  if (body != 0) {
    Region& medium = *known.mapping->medium;
    medium.copy(to + head, from.subspan(head, body));
    (void)medium.drain();
  }
  if (line_last) {
    store_line(to + tail_at, from.data() + tail_at);
    return;
  }
  copy_ascending(to + tail_at, from.subspan(tail_at));
  known.dirty.add(at + tail_at, from.size() - tail_at);
}

bool MappedLane::execute_read(const SendWork& work) {
  const std::uint64_t size_bytes = total_bytes(work.pieces);
  if (!is_fit(work, size_bytes) || work.inline_data || !may_use(work.pieces, local_write))
      [[unlikely]] {
    return false;
  }
  const Place place = reach(work.remote, size_bytes, remote_read);
  if (place.at == nullptr) [[unlikely]] {
    return false;
  }
  pause_inside();
  const ConstBytes there(place.at, size_bytes);
  if (work.pieces.size() == 1) [[likely]] {
    racy_copy(Bytes(work.pieces[0].address, size_bytes), there);
  } else {
    ConstBytes from = scratch(size_bytes);
    racy_copy(scratch(size_bytes), there);
    for (const Sge& piece : work.pieces) {
      racy_copy(Bytes(piece.address, piece.size_bytes), from.first(piece.size_bytes));
      from = from.subspan(piece.size_bytes);
    }
  }
  complete(work, static_cast<std::uint32_t>(size_bytes));
  return true;
}

bool MappedLane::execute_word(const SendWork& work) {
  const bool brings_value = work.opcode != Opcode::atomic_write;
  if (work.inline_data || (brings_value && (total_bytes(work.pieces) != word_bytes ||
                                            !may_use(work.pieces, local_write)))) {
    return false;
  }
  const Place place = reach(work.remote, word_bytes, brings_value ? remote_atomic : remote_write);
  if (place.at == nullptr || work.remote.address % word_bytes != 0 ||
      !is_aligned(place.at, word_bytes)) {
    return false;
  }
  pause_inside();
  place.known->dirty.add(work.remote.address, word_bytes);
  if (!brings_value) {
    word_at(place.at).store(work.operand);
    complete(work, 0);
    return true;
  }
  std::uint64_t before = work.compare;
  if (work.opcode == Opcode::compare_swap) {
    word_at(place.at).compare_exchange_strong(before, work.operand);
  } else {
    before = word_at(place.at).fetch_add(work.operand);
  }
  ConstBytes value = object_bytes(before);
  for (const Sge& piece : work.pieces) {
    racy_copy(Bytes(piece.address, piece.size_bytes), value.first(piece.size_bytes));
    value = value.subspan(piece.size_bytes);
  }
  complete(work, word_bytes);
  return true;
}

bool MappedLane::execute_flush(const SendWork& work) {
  const bool to_medium = work.flush_placement == FlushPlacement::persistence;
  const bool whole = work.flush_select == FlushSelect::region;
  if ((!whole && work.flush_bytes == 0) || work.inline_data || !work.pieces.empty()) {
    return false;
  }
  Known* known = find(work.remote.key);
  if (known == nullptr) {
    return false;
  }
  const RemoteAddress from = whole ? RemoteAddress{known->base, known->key} : work.remote;
  const Place place =
      reach(from, whole ? 0 : work.flush_bytes, to_medium ? flush_persistence : flush_visibility);
  const auto medium = static_cast<Granularity>(known->medium);
  if (place.at == nullptr || (to_medium && medium == Granularity::page)) {
    return false;
  }
  if (to_medium) {
    Region& region = *known->mapping->medium;
    const std::uint64_t size_bytes = whole ? known->mapping->bytes.size() : work.flush_bytes;
    known->dirty.take(from.address, from.address + size_bytes, [&](const DirtyRanges::Range& part) {
      if (medium == Granularity::cache_line) {
        region.flush(
            known->mapping->bytes.subspan(part.begin - known->base, part.end - part.begin));
      }
    });
    (void)region.drain();
  }
  complete(work, 0);
  return true;
}

}  // namespace remora::fabric::nic
