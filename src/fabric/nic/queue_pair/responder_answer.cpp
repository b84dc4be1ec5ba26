// The responder's answers: acknowledgements, and the responses to READ, atomics, ATOMIC_WRITE and
// FLUSH (which has a file of its own, responder_flush.cpp).
#include <algorithm>

#include "base/lost_memory.h"
#include "fabric/nic/queue_pair/responder.h"
#include "fabric/nic/queue_pair/rnr_timer.h"

namespace remora::fabric::nic {
namespace {

using enum PacketOpcode;

bool is_aligned(std::uint64_t address) {
  return address % word_bytes == 0;
}

bool asks_for(const Packet& packet, FlushPlacement placement) {
  return (packet.flush_placement & static_cast<std::uint8_t>(placement)) != 0;
}

bool is_persistence(const Packet& packet) {
  return asks_for(packet, FlushPlacement::persistence);
}

// A FLUSH may ask for both placements at once, and then needs both rights.
AccessFlags flush_rights(const Packet& packet) {
  AccessFlags rights = 0;
  if (is_persistence(packet)) {
    rights |= flush_persistence;
  }
  if (asks_for(packet, FlushPlacement::visibility)) {
    rights |= flush_visibility;
  }
  return rights;
}

PacketOpcode read_opcode(bool first, bool last) {
  if (last) {
    return first ? read_response_only : read_response_last;
  }
  return first ? read_response_first : read_response_middle;
}

}  // namespace

// --- Requests ---

// The syndrome for a request that is not to be executed, or that of an acknowledgement.
std::uint8_t Responder::check(const Packet& packet) const {
  const PacketRow& row = row_of(packet.opcode);
  if (row.kind != PacketKind::request || !is_agreed(row.part_of, connection_.traits.agreed.verbs)) {
    return syndrome_nak_invalid_request;
  }
  const bool is_word = changes_word(row.part_of);
  if (is_word && !is_aligned(packet.address)) {
    return syndrome_nak_invalid_request;
  }
  const std::uint64_t size = is_word ? word_bytes : packet.length;
  const bool is_flush = fabric::is_flush(row.part_of);
  const AccessFlags rights = is_flush ? flush_rights(packet) : row_of(row.part_of).rights;
  if (is_flush) {
    if (packet.flush_placement == 0 || packet.flush_placement > 3 || packet.flush_select > 1) {
      return syndrome_nak_invalid_request;
    }
    if (packet.flush_select == static_cast<std::uint8_t>(FlushSelect::region)) {
      const RegisteredMemory* memory = engine_.memory.find(connection_.domain, packet.key);
      const AccessFlags granted =
          memory == nullptr ? 0 : memory->access & connection_.options.remote_access;
      const bool is_granted =
          (rights & ~granted) == 0 &&
          (memory->guard == nullptr ||
           memory->guard->allows({.rights = rights, .size_bytes = memory->bytes.size()}));
      return is_granted ? syndrome_acknowledge : syndrome_nak_access;
    }
  }
  const bool is_allowed =
      size == 0 ? grants(rights) : allows(reach(packet.address, packet.key, size, rights));
  if (is_allowed) {
    return size > connection_.max_message_bytes && packet.opcode == read_request
               ? syndrome_nak_invalid_request
               : syndrome_acknowledge;
  }
  return syndrome_nak_access;
}

// Takes a request that is answered by a response. It is executed when its answer's turn comes.
void Responder::remember(const Packet& packet, ConstBytes payload) {
  if (const std::uint8_t verdict = check(packet); verdict != syndrome_acknowledge) {
    refuse(verdict);
    return;
  }
  PlacedWord placed;
  if (packet.opcode == flush_payload) {
    placed = decode_placed_word(payload);
    if (const std::uint8_t verdict = check_word(packet, placed); verdict != syndrome_acknowledge) {
      refuse(verdict);
      return;
    }
  }
  Resource& resource = resources_[remembered_ % resources_.size()];
  if (resource.owed && !resource.answered) {
    refuse(syndrome_nak_invalid_request);  // more at a time than was agreed
    return;
  }
  const bool unanswered = owed_ == Owed::acknowledge && owed_resources_ == 0;
  const PacketSequence before = psn_add(expected_, sequence_mask);
  // Within what was agreed, the peer has the answer of the oldest: it needs no repetition.
  owed_resources_ -= resource.owed ? 1U : 0U;
  resource = {.opcode = packet.opcode,
              .first = packet.sequence,
              .begin = packet.sequence,
              .next = packet.sequence,
              .packets = 1,
              .length = packet.length,
              .key = packet.key,
              .address = packet.address,
              .operand = packet.swap_or_add,
              .compare = packet.compare,
              .placement =
                  is_persistence(packet) ? FlushPlacement::persistence : FlushPlacement::visibility,
              .whole_region = packet.flush_select != 0,
              .owed = true};
  if (is_vendor(row_of(packet.opcode).part_of)) [[unlikely]] {
    keep_steps(resource, packet, placed);
  }
  if (packet.opcode == read_request && packet.length > connection_.traits.mtu_bytes) {
    resource.packets = (packet.length - 1) / connection_.traits.mtu_bytes + 1;
  } else if (packet.opcode == atomic_write) {
    std::byte word[word_bytes];
    std::copy(payload.begin(), payload.end(), word);
    resource.operand = load<std::uint64_t>(word);
  }
  ++remembered_;
  ++owed_resources_;
  expected_ = psn_add(expected_, resource.packets);
  ++messages_;
  // Its answer acknowledges all before it; where it has to wait, they do not.
  if (answer_all() && unanswered && send_syndrome(before, syndrome_acknowledge)) {
    owed_ = Owed::nothing;
    delivered_ = false;
  }
}

// The newest first: after 2^24 packets an old one could have the same number.
Responder::Resource* Responder::find(PacketSequence sequence) {
  const auto count = static_cast<std::uint32_t>(resources_.size());
  for (std::uint32_t back = 1; back <= count && back <= remembered_; ++back) {
    Resource& resource = resources_[(remembered_ - back) % count];
    const std::int32_t into = psn_distance(resource.first, sequence);
    if (into >= 0 && into < static_cast<std::int32_t>(resource.packets)) {
      return &resource;
    }
  }
  return nullptr;
}

// A request that came before. SEND and WRITE are acknowledged again; the others are answered again,
// a READ from memory, the rest from what is remembered.
void Responder::repeat(const Packet& packet) {
  if (row_of(packet.opcode).kind == PacketKind::message) {
    owe(Owed::acknowledge);
    return;
  }
  Resource* resource = find(packet.sequence);
  const bool is_read = packet.opcode == read_request;
  const bool known = resource != nullptr && resource->opcode == packet.opcode &&
                     (is_read || resource->first == packet.sequence);
  if (!known) {
    ++engine_.counters.packets_dropped;
    return;
  }
  if (is_read) {
    resource->begin = resource->next = packet.sequence;
  }
  resource->repeated = resource->owed;
  owed_resources_ += resource->owed ? 0 : 1;
  resource->owed = true;
}

// Whether something that was taken has yet to be executed: nothing may overtake it. A READ may be
// overtaken, in what it returns.
bool Responder::is_busy() const {
  if (owed_resources_ == 0) [[likely]] {
    return false;
  }
  if (held_back_) {
    return true;
  }
  for (const Resource& resource : resources_) {
    if (resource.owed && !resource.executed && resource.opcode != read_request) {
      return true;
    }
  }
  return false;
}

// --- Answers ---

bool Responder::respond() {
  return running_ && (answer_all() || send_owed());
}

// Oldest first; true if an answer has to wait.
bool Responder::answer_all() {
  const auto count = static_cast<std::uint32_t>(resources_.size());
  // Most often there is one, and it came last.
  if (owed_resources_ == 1) {
    Resource& newest = resources_[(remembered_ - 1) % count];
    if (newest.owed) [[likely]] {
      return answer_owed(newest) == Answer::later;
    }
  }
  for (std::uint32_t i = 0; i < count && owed_resources_ != 0; ++i) {
    Resource& resource = resources_[(remembered_ + i) % count];
    if (resource.owed && answer_owed(resource) == Answer::later) {
      return true;
    }
  }
  return held_back_ && go_on_with_held();
}

Responder::Answer Responder::answer_owed(Resource& resource) {
  const Answer answered = answer(resource);
  if (answered == Answer::not_now) [[unlikely]] {
    return put_off(resource);
  }
  if (answered == Answer::refused) {
    expected_ = resource.next;  // the failure is that of this request
    drop_answers();
  } else if (answered == Answer::sent) {
    resource.owed = false;
    resource.answered = true;
    --owed_resources_;
    if (owed_ == Owed::acknowledge && psn_add(resource.first, resource.packets) == expected_) {
      owed_ = Owed::nothing;
      delivered_ = false;
    }
  }
  return answered;
}

// What it asks for is not there now: it comes again, and all that follows it. Where nothing of the
// answer has gone out and nothing has followed, it is as if it had not come. Else it is a READ, and
// comes as a repetition; what has followed is executed, and is answered again.
Responder::Answer Responder::put_off(Resource& resource) {
  const bool is_last = psn_add(resource.first, resource.packets) == expected_;
  if (is_last && message_ == Message::none && !resource.begun && !resource.answered) {
    expected_ = resource.first;
    resource.packets = 0;
    --messages_;
    --remembered_;
    not_now();
  } else if (send_syndrome(resource.next,
                           syndrome_rnr | rnr_code(connection_.options.rnr_delay_ns))) {
    ++engine_.counters.rnr_naks_sent;
  } else {
    return Answer::later;
  }
  resource.owed = false;
  --owed_resources_;
  return Answer::not_now;
}

void Responder::drop_answers() {
  owed_resources_ = 0;
  waiting_ = held_back_ = false;
  for (Resource& resource : resources_) {
    resource.owed = false;
  }
}

Responder::Answer Responder::answer(Resource& resource) {
  if (resource.opcode == read_request) {
    return answer_read(resource);
  }
  if (!resource.executed) {
    if (const Answer executed = execute_resource(resource); executed != Answer::sent) {
      return executed;
    }
    resource.executed = true;
  }
  return answer_one(resource);
}

Responder::Answer Responder::answer_read(Resource& resource) {
  const std::uint32_t mtu = connection_.traits.mtu_bytes;
  const PacketSequence end = psn_add(resource.first, resource.packets);
  for (std::uint32_t sent = 0; resource.next != end; ++sent) {
    if (sent == limits::responses_per_turn) {
      return Answer::later;
    }
    const auto index = static_cast<std::uint32_t>(psn_distance(resource.first, resource.next));
    const std::uint64_t offset = std::uint64_t{index} * mtu;
    const std::uint64_t size = std::min<std::uint64_t>(mtu, resource.length - offset);
    std::byte* from = nullptr;  // or the bytes lie in parts
    if (size != 0) {
      const Reach wanted = reach(resource.address + offset, resource.key, size, remote_read);
      from = engine_.translate(wanted);
      parts_.clear();
      const Whereabouts where =
          from != nullptr ? Whereabouts::there : engine_.locate(wanted, parts_);
      if (where == Whereabouts::not_now) {
        return Answer::not_now;
      }
      if (where == Whereabouts::refused && resource.answered) {
        // A repetition that comes late: the peer has its answer, or it would not have let the
        // memory go.
        ++engine_.counters.packets_dropped;
        return Answer::sent;
      }
      if (where == Whereabouts::refused) {
        refuse(syndrome_nak_access);
        return Answer::refused;
      }
      if (from != nullptr) {
        (void)parts_.add(Bytes(from, size));
      }
      if (!may_read_parts()) [[unlikely]] {
        return Answer::later;
      }
    }
    Packet packet;
    packet.opcode = read_opcode(resource.next == resource.begin, index + 1 == resource.packets);
    packet.queue_pair = connection_.peer;
    packet.sequence = resource.next;
    packet.payload_bytes = static_cast<std::uint32_t>(size);
    if (packet.opcode != read_response_middle) {
      packet.syndrome = syndrome_acknowledge;
      packet.message_count = messages_ & sequence_mask;
    }
    Bytes payload;
    // One packet is lent, or waits a while until it can be. Of many, all are if the peer waits for
    // them; if it is behind, they are copied, and both have enough to do.
    const bool is_only = resource.packets == 1;
    if (index == 0) {
      resource.lends =
          size >= connection_.traits.lent_from_bytes && (is_only || !have_loans_back());
    }
    const bool may_lend =
        resource.lends && from != nullptr && size >= connection_.traits.lent_from_bytes;
    bool later = false;
    const bool is_lent =
        may_lend && engine_.begin_lent(connection_.link, packet, ConstBytes(from, size), later);
    if (is_lent) {
      lent_ = true;
    } else if (later && is_only && lent_ && ++resource.waits < limits::turns_for_a_loan) {
      return Answer::later;
    } else {
      if (index == 0) {
        (void)have_loans_back();
      }
      if (!engine_.begin(connection_.link, packet, payload)) {
        return Answer::later;
      }
    }
    if (size != 0 && !is_lent && !read_parts(payload)) [[unlikely]] {
      refuse(syndrome_nak_operation);
      return Answer::refused;
    }
    if (size != 0) {
      engine_.wire.charge(Wire::Cost::memory_read, size);
    }
    engine_.dma.acknowledged(connection_.number);
    engine_.commit(packet);
    resource.begun = true;
    resource.next = psn_add(resource.next, 1);
  }
  return Answer::sent;
}

// Of the parts that were found: whether they can be read now, and what is there; false when some of
// it is gone.
bool Responder::may_read_parts() {
  return std::ranges::all_of(parts_.all(), [this](Bytes part) {
    return engine_.dma.ready_to_read(connection_.number, part.data(), part.size());
  });
}

bool Responder::read_parts(Bytes out) {
  for (const Bytes part : parts_.all()) {
    engine_.dma.read(connection_.number, out.first(part.size()), part.data());
    if (any_memory_lost() && is_memory_lost(part.data())) [[unlikely]] {
      return false;
    }
    out = out.subspan(part.size());
  }
  return true;
}

Responder::Answer Responder::answer_one(Resource& resource) {
  Packet packet;
  const bool brings_value = is_atomic(row_of(resource.opcode).part_of);
  packet.opcode = brings_value                ? atomic_acknowledge
                  : resource.opcode == sflush ? place_acknowledge
                                              : read_response_only;
  packet.queue_pair = connection_.peer;
  packet.sequence = resource.first;
  packet.syndrome = syndrome_acknowledge;
  packet.message_count = messages_ & sequence_mask;
  packet.value_before = resource.value_before;
  Bytes payload;
  if (!engine_.begin(connection_.link, packet, payload)) {
    return Answer::later;
  }
  engine_.dma.acknowledged(connection_.number);
  engine_.commit(packet);
  return Answer::sent;
}

Responder::Answer Responder::execute_resource(Resource& resource) {
  if (resource.opcode == flush) {
    return waiting_ ? await_flush(resource) : begin_flush(resource);
  }
  if (is_vendor(row_of(resource.opcode).part_of)) {
    return waiting_ ? await_steps(resource) : begin_steps(resource);
  }
  const bool is_plain = resource.opcode == atomic_write;
  std::byte operand[word_bytes];
  store(operand, resource.operand);
  const Reach wanted = reach(resource.address, resource.key, ConstBytes(operand),
                             is_plain ? remote_write : remote_atomic);
  std::byte* word = engine_.translate(wanted);
  if (word == nullptr) {
    parts_.clear();
    const Whereabouts where = engine_.locate(wanted, parts_);
    if (where == Whereabouts::not_now) {
      return Answer::not_now;
    }
    if (where == Whereabouts::refused || parts_.all().size() != 1) {
      // Two parts of a word cannot be changed as one.
      refuse(where == Whereabouts::refused ? syndrome_nak_access : syndrome_nak_operation);
      return Answer::refused;
    }
    word = parts_.all().front().data();
  }
  (void)have_loans_back();
  Dma& dma = engine_.dma;
  const QpNumber qp = connection_.number;
  if (is_plain) {
    dma.atomic_write(qp, word, resource.operand);
  } else if (resource.opcode == compare_swap) {
    resource.value_before = dma.compare_swap(qp, word, resource.compare, resource.operand);
  } else {
    resource.value_before = dma.fetch_add(qp, word, resource.operand);
  }
  engine_.wire.charge(Wire::Cost::memory_write, word_bytes);
  if (any_memory_lost() && is_memory_lost(word)) [[unlikely]] {
    refuse(syndrome_nak_operation);
    return Answer::refused;
  }
  return Answer::sent;
}

bool Responder::send_syndrome(PacketSequence sequence, std::uint8_t syndrome) {
  const Packet packet = acknowledgement(sequence, syndrome);
  Bytes payload;
  if (!engine_.begin(connection_.link, packet, payload)) {
    return false;
  }
  engine_.dma.acknowledged(connection_.number);
  engine_.commit(packet);
  return true;
}

// The acknowledgement, of whatever kind, for all that has arrived. True if it could not be sent.
bool Responder::send_owed() {
  if (owed_ == Owed::nothing) {
    return false;
  }
  std::uint8_t syndrome = syndrome_acknowledge;
  if (owed_ == Owed::sequence) {
    syndrome = syndrome_nak_sequence;
  } else if (owed_ == Owed::patience) {
    syndrome = syndrome_rnr | rnr_code(connection_.options.rnr_delay_ns);
  } else if (owed_ == Owed::reason) {
    syndrome = reason_;
  }
  delivered_ = false;  // it has waited for company: without room, it waits for room alone
  const PacketSequence before = psn_add(expected_, sequence_mask);
  if (!send_syndrome(owed_ == Owed::acknowledge ? before : expected_, syndrome)) {
    return true;
  }
  engine_.counters.naks_sent += owed_ == Owed::sequence || owed_ == Owed::reason ? 1 : 0;
  engine_.counters.rnr_naks_sent += owed_ == Owed::patience ? 1 : 0;
  owed_ = Owed::nothing;
  return false;
}

}  // namespace remora::fabric::nic
