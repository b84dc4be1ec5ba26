#include "fabric/nic/wire/mapped/mapped_lane.h"

#include <algorithm>

#include "fabric/nic/queue_pair/pieces.h"
#include "fabric/nic/wire/mapped/mapped_stores.h"
#include "fabric/posting.h"

namespace remora::fabric::nic::mapped {
namespace {

// Whether the FLUSH is of exactly these bytes.
bool is_of_the_same(const RemoteAddress& at, std::uint64_t size_bytes, const SendWork& flush) {
  return flush.flush_select == FlushSelect::range && flush.remote.address == at.address &&
         flush.flush_bytes == size_bytes;
}

// Whether the FLUSH makes all of a WRITE persistent.
bool is_persisted_by(const RemoteAddress& at, std::uint64_t size_bytes, const SendWork& flush) {
  if (flush.flush_placement != FlushPlacement::persistence || flush.remote.key != at.key) {
    return false;
  }
  const std::uint64_t offset = at.address - flush.remote.address;
  return flush.flush_select == FlushSelect::region || within(offset, size_bytes, flush.flush_bytes);
}

}  // namespace

MappedLane::~MappedLane() {
  owner_.lanes_.erase(connection_.number);
}

// --- Keys ---

[[gnu::noinline]] MappedLane::Known* MappedLane::find_among_all(RemoteKey key) {
  for (Known& known : known_) {
    if (known.key == key) {
      latest_ = &known;
      return &known;
    }
  }
  return nullptr;
}

MappedLane::Known* MappedLane::find_or_ask(RemoteKey key) {
  Known* known = find(key);
  if (known == nullptr) {
    if (link_ == nullptr || known_.size() == limits::keys) {
      return nullptr;
    }
    // Known even where the question could not be sent: what is written meanwhile is remembered.
    known_.emplace_back();
    known_.back().key = key;
    known_.back().state = owner_.say_ask(*this, key) ? Known::State::asked : Known::State::denied;
    latest_ = &known_.back();
    return latest_;
  }
  if (known->state != Known::State::granted && link_ != nullptr &&
      ++known->waited >= known->patience) {
    known->waited = 0;
    known->patience = std::min(4 * known->patience, limits::asks_again_at_most_after);
    if (owner_.say_ask(*this, key)) {
      known->state = Known::State::asked;
    }
  }
  return known;
}

// A place that the target grants at this moment, or nothing. Within the epoch.
[[gnu::always_inline]] inline MappedLane::Place MappedLane::reach(const RemoteAddress& remote,
                                                                  std::uint64_t size_bytes,
                                                                  AccessFlags rights) {
  Known* known = find(remote.key);
  if (known == nullptr || known->state != Known::State::granted) [[unlikely]] {
    return {};
  }
  if (link_->gate->word(known->slot).load(std::memory_order_acquire) != known->grant) [[unlikely]] {
    drain_streamed();
    known->state = Known::State::denied;  // taken back
    known->mapping.reset();
    forget_short_ways();
    return {};
  }
  const std::uint64_t offset = remote.address - known->base;
  if ((rights & ~known->rights) != 0 || !within(offset, size_bytes, known->mapping->bytes.size()))
      [[unlikely]] {
    return {};
  }
  return {known, known->mapping->bytes.data() + offset};
}

// --- Requests ---

// What goes by the wire is in the target's caches when it is acknowledged.
void MappedLane::passed(const SendWork& work) {
  std::uint64_t size_bytes = 0;
  switch (work.opcode) {
    case Opcode::send:
    case Opcode::send_imm:
    case Opcode::sflush:
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

bool MappedLane::lost() const {
  return std::ranges::any_of(known_, [](const Known& known) {
    return known.mapping && known.mapping->pages && known.mapping->pages->lost();
  });
}

bool MappedLane::execute(const SendWork& work, const SendWork* behind) {
  const bool is_simple = work.pieces.size() == 1 && !work.inline_data;
  if (is_simple && work.opcode == Opcode::read) {
    return execute_read(work);
  }
  if (is_simple && work.opcode == Opcode::write) {
    return execute_write(work, behind);
  }
  return execute_seldom(work, behind);
}

bool MappedLane::execute_seldom(const SendWork& work, const SendWork* behind) {
  switch (work.opcode) {
    case Opcode::write:
      return execute_gathered_write(work, behind);
    case Opcode::read:
      return execute_scattered_read(work);
    case Opcode::compare_swap:
    case Opcode::fetch_add:
    case Opcode::atomic_write:
      return execute_word(work);
    case Opcode::flush:
      return execute_flush(work);
    case Opcode::flush_payload:
      return execute_flush_payload(work);
    default:
      return false;
  }
}

// A length that a message can have.
bool MappedLane::is_fit(std::uint64_t size_bytes) const {
  return size_bytes != 0 && size_bytes <= connection_.max_message_bytes;
}

[[gnu::always_inline]] inline bool MappedLane::execute_write(const SendWork& work,
                                                             const SendWork* behind) {
  const Sge& piece = work.pieces[0];
  if (!is_fit(piece.size_bytes) || !allows_in_place(connection_, piece, local_read)) [[unlikely]] {
    return false;
  }
  const Place place = reach(work.remote, piece.size_bytes, remote_write);
  if (place.at == nullptr) [[unlikely]] {
    return false;
  }
  pause_inside();
  store(place, work.remote, ConstBytes(piece.address, piece.size_bytes), behind);
  complete(work, 0);
  return true;
}

// Inline, or of several pieces: a word of the target may lie in two of them, and is never seen
// torn.
bool MappedLane::execute_gathered_write(const SendWork& work, const SendWork* behind) {
  const std::uint64_t size_bytes = total_bytes(work.pieces);
  const bool is_fine =
      work.pieces.size() <= connection_.max_pieces && is_fit(size_bytes) &&
      size_bytes <= limits::gathered_bytes &&
      (work.inline_data ? size_bytes <= connection_.max_inline_bytes
                        : allows_all_in_place(connection_, work.pieces, local_read));
  const Place place = is_fine ? reach(work.remote, size_bytes, remote_write) : Place{};
  if (place.at == nullptr) {
    return false;
  }
  pause_inside();
  Bytes room = scratch(size_bytes);
  for (const Sge& piece : work.pieces) {
    racy_copy(room, ConstBytes(piece.address, piece.size_bytes));
    room = room.subspan(piece.size_bytes);
  }
  store(place, work.remote, scratch(size_bytes), behind);
  complete(work, 0);
  return true;
}

Bytes MappedLane::scratch(std::size_t size_bytes) {
  if (scratch_.size() < size_bytes) {
    scratch_.resize(size_bytes);
  }
  return Bytes(scratch_).first(size_bytes);
}

[[gnu::always_inline]] inline void MappedLane::store(const Place& place, const RemoteAddress& at,
                                                     ConstBytes from, const SendWork* behind) {
  const bool is_flushed =
      behind != nullptr && behind->opcode == Opcode::flush &&
      place.known->medium == static_cast<std::uint8_t>(Granularity::cache_line) &&
      is_persisted_by(at, from.size(), *behind);
  if (is_flushed || from.size() >= limits::past_cache_bytes) [[unlikely]] {
    const bool is_streamed = store_perhaps_past_caches(place, at.address, from, is_flushed);
    // Nothing of these lines is in a cache any more, whatever was written there before.
    streamed_for_ =
        is_streamed && is_flushed && is_of_the_same(at, from.size(), *behind) ? behind : nullptr;
    return;
  }
  copy_last_word_last(place.at, from);
  place.known->dirty.add(at.address, from.size());
}

[[gnu::always_inline]] inline bool MappedLane::execute_read(const SendWork& work) {
  const Sge& piece = work.pieces[0];
  if (!is_fit(piece.size_bytes) || !allows_in_place(connection_, piece, local_write)) [[unlikely]] {
    return false;
  }
  const Place place = reach(work.remote, piece.size_bytes, remote_read);
  if (place.at == nullptr) [[unlikely]] {
    return false;
  }
  pause_inside();
  copy_out(piece.address, ConstBytes(place.at, piece.size_bytes));
  complete(work, piece.size_bytes);
  return true;
}

bool MappedLane::execute_scattered_read(const SendWork& work) {
  const std::uint64_t size_bytes = total_bytes(work.pieces);
  if (work.inline_data || work.pieces.size() > connection_.max_pieces || !is_fit(size_bytes) ||
      size_bytes > limits::gathered_bytes ||
      !allows_all_in_place(connection_, work.pieces, local_write)) {
    return false;
  }
  const Place place = reach(work.remote, size_bytes, remote_read);
  if (place.at == nullptr) {
    return false;
  }
  pause_inside();
  ConstBytes from = scratch(size_bytes);
  racy_copy_words(scratch(size_bytes), ConstBytes(place.at, size_bytes));
  for (const Sge& piece : work.pieces) {
    racy_copy(Bytes(piece.address, piece.size_bytes), from.first(piece.size_bytes));
    from = from.subspan(piece.size_bytes);
  }
  complete(work, static_cast<std::uint32_t>(size_bytes));
  return true;
}

bool MappedLane::execute_word(const SendWork& work) {
  const bool brings_value = work.opcode != Opcode::atomic_write;
  if (work.inline_data ||
      (brings_value &&
       (total_bytes(work.pieces) != word_bytes || work.pieces.size() > connection_.max_pieces ||
        !allows_all_in_place(connection_, work.pieces, local_write)))) {
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

// The covered bytes first, then the word: a fence lies between the two.
bool MappedLane::execute_flush_payload(const SendWork& work) {
  Known* known = find(work.word.key);
  const Place place = known == nullptr ? Place{}
                                       : reach(work.word, word_bytes,
                                               AccessFlags{remote_write} | flush_persistence);
  const bool is_possible = place.at != nullptr && is_aligned(place.at, word_bytes) &&
                           is_agreed(work.opcode, connection_.traits.agreed.verbs) &&
                           why_not_post_payload(work) == nullptr &&
                           place.known->medium != static_cast<std::uint8_t>(Granularity::page);
  if (!is_possible || !flush_bytes_of(work)) {
    return false;
  }
  pause_inside();
  word_at(place.at).store(work.operand);
  Region& region = *place.known->mapping->medium;
  region.flush(ConstBytes(place.at, word_bytes));
  (void)region.drain();
  complete(work, 0);
  return true;
}

bool MappedLane::execute_flush(const SendWork& work) {
  if (!flush_bytes_of(work)) {
    return false;
  }
  complete(work, 0);
  return true;
}

bool MappedLane::flush_bytes_of(const SendWork& work) {
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
    const auto write_back = [&](const DirtyRanges::Range& part) {
      if (medium == Granularity::cache_line) {
        region.flush(
            known->mapping->bytes.subspan(part.begin - known->base, part.end - part.begin));
      }
    };
    if (streamed_for_ != &work) {
      windows_.writes = {};  // what is written from here on is to be remembered anew
      known->dirty.take(from.address, from.address + size_bytes, write_back);
    }
    (void)region.drain();
    streamed_ = nullptr;
  }
  return true;
}

}  // namespace remora::fabric::nic::mapped
