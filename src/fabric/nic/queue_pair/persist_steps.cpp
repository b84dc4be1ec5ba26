#include "fabric/nic/queue_pair/persist_steps.h"

namespace remora::fabric::nic {

void PersistSteps::begin() {
  words_.clear();
  ranges_.clear();
  covers_.clear();
}

bool PersistSteps::flush_ranges() {
  for (const Range& range : ranges_) {
    const RegisteredMemory* memory = engine_.memory.find(connection_.domain, range.key);
    if (memory == nullptr || memory->persistence == nullptr ||
        !within(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(range.bytes.data()) -
                                           reinterpret_cast<std::uintptr_t>(memory->bytes.data())),
                range.bytes.size(), memory->bytes.size())) {
      return false;
    }
    cover(range.key, engine_.dma.flush(connection_.number, range.bytes, FlushPlacement::persistence,
                                       memory->persistence));
    engine_.wire.charge(Wire::Cost::persist, range.bytes.size());
  }
  ranges_.clear();
  return true;
}

void PersistSteps::cover(RemoteKey key, const Ticket& ticket) {
  for (Cover& cover : covers_) {
    if (cover.key == key) {
      cover = {key, ticket};
      return;
    }
  }
  covers_.push_back({key, ticket});
}

PersistSteps::State PersistSteps::await(Cover& cover) {
  const RegisteredMemory* memory = engine_.memory.find(connection_.domain, cover.key);
  if (memory == nullptr || memory->persistence == nullptr) {
    return State::failed;
  }
  Region& medium = *memory->persistence;
  if (medium.persistent(cover.ticket)) {
    return State::persistent;
  }
  if (!cover.requested) {
    cover.requested = true;
    medium.request(cover.ticket);
    give_up_ns_ = engine_.now_ns() + limits::persistence_patience_ns;
  }
  const bool goes_on = medium.failure().ok() && engine_.now_ns() < give_up_ns_;
  return goes_on ? State::under_way : State::failed;
}

PersistSteps::State PersistSteps::go_on() {
  if (!ranges_.empty()) {
    if (!engine_.dma.ready_to_go_on(connection_.number)) {
      return State::under_way;
    }
    if (!flush_ranges()) {
      return State::failed;
    }
  }
  for (;;) {
    for (Cover& cover : covers_) {
      if (const State state = await(cover); state != State::persistent) {
        return state;
      }
    }
    if (!engine_.dma.ready_to_go_on(connection_.number)) {
      return State::under_way;
    }
    covers_.clear();
    if (words_.empty()) {
      return State::persistent;
    }
    if (!store_words()) {
      return State::failed;
    }
  }
}

// Null where it does not lie in one piece at this moment.
std::byte* PersistSteps::place_of(const Word& word, const RegisteredMemory*& memory) {
  memory = engine_.memory.find(connection_.domain, word.at.key);
  if (memory == nullptr || memory->persistence == nullptr) {
    return nullptr;
  }
  const std::uint64_t offset =
      word.at.address - reinterpret_cast<std::uintptr_t>(memory->bytes.data());
  if (!within(offset, word_bytes, memory->bytes.size())) {
    return nullptr;
  }
  if (memory->translation == nullptr) {
    return memory->bytes.data() + offset;
  }
  const Located found = memory->translation->locate(offset, word_bytes, remote_write);
  return found.answer == Whereabouts::there && found.part.size() == word_bytes ? found.part.data()
                                                                               : nullptr;
}

bool PersistSteps::store_words() {
  for (const Word& word : words_) {
    const RegisteredMemory* memory = nullptr;
    std::byte* const at = place_of(word, memory);
    if (at == nullptr) {
      return false;
    }
    engine_.dma.atomic_write(connection_.number, at, word.value);
    engine_.wire.charge(Wire::Cost::memory_write, word_bytes);
    const Ticket ticket = engine_.dma.flush(connection_.number, ConstBytes(at, word_bytes),
                                            FlushPlacement::persistence, memory->persistence);
    engine_.wire.charge(Wire::Cost::persist, word_bytes);
    cover(word.at.key, ticket);
  }
  words_.clear();
  return true;
}

bool PersistSteps::store_words_first() {
  return store_words();
}

}  // namespace remora::fabric::nic
