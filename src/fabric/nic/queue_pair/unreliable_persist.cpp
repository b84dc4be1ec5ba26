#include "fabric/nic/queue_pair/unreliable_persist.h"

#include <algorithm>

#include "fabric/nic/faults.h"

namespace remora::fabric::nic {

UnreliablePersist::UnreliablePersist(Connection& connection, MessageMover* mover,
                                     std::uint32_t messages)
    : connection_(connection),
      engine_(connection.engine),
      mover_(mover),
      steps_(connection),
      waiting_(std::max(messages, 1U)) {
  steps_.reserve(waiting_.size());
}

void UnreliablePersist::hold_message(ReceiveQueue& queue, std::uint32_t size_bytes,
                                     std::uint32_t skipped_bytes, const Sender& sender) {
  mover_->hold(queue, size_bytes, skipped_bytes);
  add({.sender = sender});
}

void UnreliablePersist::hold_write(const Reach& written, const WorkCompletion* told, bool solicited,
                                   const Sender& sender) {
  Waiting waiting = {.sender = sender, .written = written, .solicited = solicited};
  if (told != nullptr) {
    waiting.told = *told;
    waiting.is_told = true;
  }
  add(waiting);
}

void UnreliablePersist::add(const Waiting& waiting) {
  at(count_) = waiting;
  ++count_;
  if (batch_ == 0) {
    go_on();
  }
}

void UnreliablePersist::go_on() {
  while (count_ != 0) {
    if (batch_ == 0 && !begin()) {
      stop();
      return;
    }
    PersistSteps::State state = steps_.go_on();
    if (engine_.faults.planted(rflush_before_drain)) {
      state = PersistSteps::State::persistent;
    }
    if (state == PersistSteps::State::under_way) {
      engine_.runtime.arm(*this, engine_.now_ns() + limits::persistence_poll_ns);
      return;
    }
    if (state == PersistSteps::State::failed) {
      stop();
      return;
    }
    finish();
  }
}

// All that has gathered.
bool UnreliablePersist::begin() {
  steps_.begin();
  batch_ = count_;
  if (mover_ != nullptr && mover_->held() != 0 && !mover_->move(steps_)) {
    return false;
  }
  engine_.dma.place_all(connection_.number);
  for (std::uint32_t i = 0; i < batch_; ++i) {
    const Reach& written = at(i).written;
    if (written.size_bytes == 0) {
      continue;
    }
    const RegisteredMemory* memory = engine_.memory.find(connection_.domain, written.key);
    if (memory == nullptr) {
      return false;
    }
    const std::uint64_t offset =
        written.address - reinterpret_cast<std::uintptr_t>(memory->bytes.data());
    steps_.flush(written.key, memory->bytes.subspan(offset, written.size_bytes));
  }
  return true;
}

void UnreliablePersist::finish() {
  if (mover_ != nullptr && mover_->held() != 0) {
    (void)mover_->tell();
  }
  for (; batch_ != 0; --batch_, --count_) {
    const Waiting& oldest = at(0);
    if (oldest.is_told) {
      connection_.receive_completions->push(oldest.told, oldest.solicited);
    }
    tell(oldest.sender);
    first_ = static_cast<std::uint32_t>((first_ + 1) % waiting_.size());
  }
}

// Without room on the way it is lost, as it may be anywhere else.
void UnreliablePersist::tell(const Sender& sender) {
  if ((engine_.wire.traits(sender.link).agreed.verbs & vendor_verb(DurableVerb::rflush)) == 0) {
    return;
  }
  const Packet packet = {.opcode = PacketOpcode::persisted,
                         .queue_pair = sender.queue_pair,
                         .sequence = sender.sequence};
  Bytes payload;
  if (engine_.begin(sender.link, packet, payload)) {
    engine_.commit(packet);
  }
}

void UnreliablePersist::stop() {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (at(i).is_told) {
      connection_.receive_completions->push({.id = at(i).told.id,
                                             .status = WorkStatus::flushed,
                                             .opcode = Opcode::receive,
                                             .qp = connection_.number});
    }
  }
  if (mover_ != nullptr) {
    mover_->flush();
  }
  clear();
}

void UnreliablePersist::clear() {
  disarm();
  if (mover_ != nullptr) {
    mover_->clear();
  }
  first_ = count_ = batch_ = 0;
}

}  // namespace remora::fabric::nic
