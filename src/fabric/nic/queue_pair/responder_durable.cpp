// The responder's part in verbs that the standard does not have. FLUSH with immediate or payload
// and SFLUSH are answered when their last step is persistent, as FLUSH is. A message that the
// device makes persistent by itself (RFlush) is held back: its last packet is taken, and counts as
// arrived only when the bytes are persistent; until then the peer's next one is turned away.
#include "fabric/nic/faults.h"
#include "fabric/nic/queue_pair/responder.h"
#include "fabric/nic/queue_pair/rnr_timer.h"

namespace remora::fabric::nic {

// --- Requests that are answered ---

// Of the word of a FLUSH with payload: the peer must be allowed to WRITE it and to make it
// persistent.
std::uint8_t Responder::check_word(const Packet& packet, const PlacedWord& word) const {
  const bool is_persistence =
      (packet.flush_placement & static_cast<std::uint8_t>(FlushPlacement::persistence)) != 0;
  if (!is_persistence || word.address % word_bytes != 0) {
    return syndrome_nak_invalid_request;
  }
  return allows(reach(word.address, word.key, object_bytes(word.value),
                      AccessFlags{remote_write} | flush_persistence))
             ? syndrome_acknowledge
             : syndrome_nak_access;
}

void Responder::keep_steps(Resource& resource, const Packet& packet, const PlacedWord& word) {
  resource.immediate = packet.immediate;
  resource.solicited = packet.solicited;
  if (packet.opcode == PacketOpcode::flush_payload) {
    resource.word_key = word.key;
    resource.compare = word.address;
    resource.operand = word.value;
  }
}

Responder::Answer Responder::begin_steps(Resource& resource) {
  steps_.begin();
  const bool covers = resource.opcode != PacketOpcode::sflush;
  const Answer begun = covers ? cover(resource) : move_held();
  if (begun != Answer::sent) {
    return begun;
  }
  waiting_ = true;
  const bool is_wrong_way =
      engine_.faults.planted(payload_before_bytes) || engine_.faults.planted(operator_before_data);
  if (is_wrong_way) {
    (void)steps_.store_words_first();
  }
  if (resource.opcode == PacketOpcode::flush_imm &&
      engine_.faults.planted(immediate_before_bytes)) {
    tell_immediate(resource);
  }
  if (resource.opcode == PacketOpcode::sflush && engine_.faults.planted(sflush_before_copy)) {
    waiting_ = false;
    resource.value_before = mover_->tell();
    return Answer::sent;
  }
  return await_steps(resource);
}

Responder::Answer Responder::cover(Resource& resource) {
  if (resource.opcode == PacketOpcode::flush_imm && queue_.empty() && !queue_.take_shared()) {
    return Answer::not_now;
  }
  if (resource.opcode == PacketOpcode::flush_payload) {
    steps_.add_word({resource.compare, resource.word_key}, resource.operand);
  }
  if (resource.length == 0 && !resource.whole_region) {
    return Answer::sent;
  }
  const RegisteredMemory* memory = engine_.memory.find(connection_.domain, resource.key);
  if (memory == nullptr) {
    refuse(syndrome_nak_access);
    return Answer::refused;
  }
  const std::uint64_t offset =
      resource.address - reinterpret_cast<std::uintptr_t>(memory->bytes.data());
  const ConstBytes range =
      resource.whole_region ? memory->bytes : memory->bytes.subspan(offset, resource.length);
  if (memory->translation == nullptr && resource.placement == FlushPlacement::persistence) {
    steps_.flush(resource.key, range);
    return Answer::sent;
  }
  if (const Answer flushed = flush_range(resource, *memory, range); flushed != Answer::sent) {
    return flushed;
  }
  if (resource.placement == FlushPlacement::persistence) {
    engine_.wire.charge(Wire::Cost::persist, range.size());
    steps_.cover(resource.key, resource.ticket);
  }
  return Answer::sent;
}

// DMA B. Without room for all that is held, the peer asks again after a while.
Responder::Answer Responder::move_held() {
  if (mover_ == nullptr || mover_->by_itself() || mover_->held() == 0) {
    refuse(syndrome_nak_invalid_request);
    return Answer::refused;
  }
  if (!mover_->has_room() && !engine_.faults.planted(place_before_free)) {
    return Answer::not_now;
  }
  if (!mover_->move(steps_)) {
    refuse(syndrome_nak_operation);
    return Answer::refused;
  }
  return Answer::sent;
}

Responder::Answer Responder::await_steps(Resource& resource) {
  const PersistSteps::State state = steps_.go_on();
  if (state == PersistSteps::State::under_way) {
    tell_that_it_waits(resource);
    return Answer::later;
  }
  waiting_ = false;
  if (state == PersistSteps::State::failed) {
    refuse(syndrome_nak_operation);
    return Answer::refused;
  }
  if (resource.opcode == PacketOpcode::sflush) {
    resource.value_before = mover_->tell();
  } else if (resource.opcode == PacketOpcode::flush_imm &&
             !engine_.faults.planted(immediate_before_bytes)) {
    tell_immediate(resource);
  }
  return Answer::sent;
}

void Responder::tell_immediate(const Resource& resource) {
  engine_.dma.place_all(connection_.number);
  connection_.receive_completions->push({.id = queue_.front_id(),
                                         .status = WorkStatus::success,
                                         .opcode = Opcode::receive_imm,
                                         .has_immediate = true,
                                         .immediate = resource.immediate,
                                         .qp = connection_.number},
                                        resource.solicited);
  queue_.pop();
}

// --- Messages ---

// The last packet of a SEND is in the oldest receive of a queue pair with a log. False if it is not
// to be had now: then it comes again.
bool Responder::take_for_log(const Packet& packet) {
  const bool has_immediate = (row_of(packet.opcode).parts & part_imm) != 0;
  if (has_immediate || !mover_->fits(message_bytes_) || !mover_->may_hold()) {
    fail_receive(WorkStatus::local_length_error, syndrome_nak_invalid_request);
    return true;
  }
  if (mover_->by_itself() && !mover_->has_room(1) && !engine_.faults.planted(place_before_free)) {
    return false;
  }
  mover_->hold(queue_, message_bytes_);
  if (engine_.faults.planted(told_before_move)) {
    engine_.dma.place_all(connection_.number);
    mover_->tell_early();
  }
  if (!mover_->by_itself()) {
    accept(packet);
    return true;
  }
  steps_.begin();
  if (!mover_->move(steps_)) {
    refuse(syndrome_nak_operation);
    return true;
  }
  if (engine_.faults.planted(operator_before_data)) {
    (void)steps_.store_words_first();
  }
  hold_back(packet);
  return true;
}

// The last packet of a WRITE to a region that is flushed.
void Responder::flush_write(const Packet& packet) {
  steps_.begin();
  const RegisteredMemory* memory = engine_.memory.find(connection_.domain, write_key_);
  const std::uint64_t offset =
      memory == nullptr ? 0
                        : write_address_ - reinterpret_cast<std::uintptr_t>(memory->bytes.data());
  if (memory == nullptr || !within(offset, write_length_, memory->bytes.size())) {
    refuse(syndrome_nak_operation);
    return;
  }
  steps_.flush(write_key_, memory->bytes.subspan(offset, write_length_));
  hold_back(packet);
}

// Not to be acknowledged until it is persistent.
void Responder::hold_back(const Packet& packet) {
  held_packet_ = packet;
  held_back_ = waiting_ = true;
  held_repeated_ = false;
  ++owed_resources_;
  // Where it has to wait, those before it do not.
  if (go_on_with_held() && owed_ == Owed::acknowledge &&
      send_syndrome(psn_add(expected_, sequence_mask), syndrome_acknowledge)) {
    owed_ = Owed::nothing;
    delivered_ = false;
  }
}

// True if it has to wait.
bool Responder::go_on_with_held() {
  PersistSteps::State state = steps_.go_on();
  if (engine_.faults.planted(rflush_before_drain)) {
    state = PersistSteps::State::persistent;
  }
  if (state == PersistSteps::State::under_way) {
    if (held_repeated_ && send_syndrome(held_packet_.sequence, waiting_syndrome())) {
      held_repeated_ = false;
      ++engine_.counters.rnr_naks_sent;
    }
    return true;
  }
  held_back_ = waiting_ = false;
  --owed_resources_;
  if (state == PersistSteps::State::failed) {
    refuse(syndrome_nak_operation);
    return false;
  }
  if (!names_memory(row_of(held_packet_.opcode).part_of)) {
    (void)mover_->tell();
    delivered_ = true;
  } else if ((row_of(held_packet_.opcode).parts & part_imm) != 0) {
    finish_message(held_packet_, Opcode::receive_imm);
  }
  accept(held_packet_);
  return false;
}

// Peers that have agreed on nothing hear that there is no receive: all that they understand.
std::uint8_t Responder::waiting_syndrome() const {
  const std::uint8_t kind = connection_.traits.agreed.verbs != 0 ? syndrome_waits : syndrome_rnr;
  return kind | rnr_code(limits::persistence_pause_ns);
}

}  // namespace remora::fabric::nic
