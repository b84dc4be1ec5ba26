// The responder's FLUSH: it is answered when the medium has what it asks for, however long that
// takes.
#include "fabric/nic/queue_pair/responder.h"
#include "fabric/nic/queue_pair/rnr_timer.h"

namespace remora::fabric::nic {

Responder::Answer Responder::begin_flush(Resource& resource) {
  const RegisteredMemory* memory = engine_.memory.find(connection_.domain, resource.key);
  if (resource.length == 0 && !resource.whole_region) {
    return Answer::sent;
  }
  if (memory == nullptr) {
    refuse(syndrome_nak_access);
    return Answer::refused;
  }
  const std::uint64_t offset =
      resource.address - reinterpret_cast<std::uintptr_t>(memory->bytes.data());
  const ConstBytes range =
      resource.whole_region ? memory->bytes : memory->bytes.subspan(offset, resource.length);
  if (const Answer flushed = flush_range(resource, *memory, range); flushed != Answer::sent) {
    return flushed;
  }
  if (resource.placement == FlushPlacement::visibility) {
    return Answer::sent;
  }
  engine_.wire.charge(Wire::Cost::persist, range.size());
  if (memory->persistence->persistent(resource.ticket)) {
    return Answer::sent;
  }
  memory->persistence->request(resource.ticket);
  resource.give_up_ns = engine_.now_ns() + limits::persistence_patience_ns;
  waiting_ = true;
  return Answer::later;
}

// The ticket of the last part is persistent when those of all are.
Responder::Answer Responder::flush_range(Resource& resource, const RegisteredMemory& memory,
                                         ConstBytes range) {
  const auto flush_part = [&](ConstBytes part) {
    resource.ticket =
        engine_.dma.flush(connection_.number, part, resource.placement, memory.persistence);
  };
  if (memory.translation == nullptr) [[likely]] {
    flush_part(range);
    return Answer::sent;
  }
  auto offset = static_cast<std::uint64_t>(range.data() - memory.bytes.data());
  for (std::uint64_t left = range.size(); left != 0;) {
    const Located found = memory.translation->locate(offset, left, 0);
    if (found.answer == Whereabouts::not_now) {
      return Answer::not_now;
    }
    if (found.answer == Whereabouts::refused || found.part.empty() || found.part.size() > left) {
      refuse(syndrome_nak_operation);
      return Answer::refused;
    }
    flush_part(found.part);
    offset += found.part.size();
    left -= found.part.size();
  }
  return Answer::sent;
}

Responder::Answer Responder::await_flush(Resource& resource) {
  const RegisteredMemory* memory = engine_.memory.find(connection_.domain, resource.key);
  if (memory != nullptr && memory->persistence->persistent(resource.ticket)) {
    waiting_ = false;
    return Answer::sent;
  }
  const bool has_failed = memory != nullptr && !memory->persistence->failure().ok();
  if (memory != nullptr && !has_failed && engine_.now_ns() < resource.give_up_ns) {
    tell_that_it_waits(resource);
    return Answer::later;
  }
  waiting_ = false;
  refuse(memory == nullptr ? syndrome_nak_access : syndrome_nak_operation);
  return Answer::refused;
}

// A medium may be slower than the peer's patience with one that is gone: who asks again hears that
// nobody is. All before it is answered by now.
void Responder::tell_that_it_waits(Resource& resource) {
  const std::uint8_t syndrome = resource.opcode == PacketOpcode::flush
                                    ? syndrome_rnr | rnr_code(limits::persistence_pause_ns)
                                    : waiting_syndrome();
  if (resource.repeated && send_syndrome(resource.first, syndrome)) {
    resource.repeated = false;
    ++engine_.counters.rnr_naks_sent;
  }
}

}  // namespace remora::fabric::nic
