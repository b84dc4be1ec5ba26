// Lending: payload that stays where it lies (lending.h).
#include <algorithm>
#include <utility>

#include "base/racy_copy.h"
#include "fabric/nic/wire/ring/ring_wire.h"

namespace remora::fabric::nic::ring {
namespace {

// Whom a process in a user namespace sees in place of everybody who has no number there.
constexpr uid_t uid_of_unknown_users = 65534;

// Else its words could not be taken whole.
bool is_word_aligned(ConstBytes bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % word_bytes == 0;
}

LendingMessage message_of(LendingKind kind, std::uint32_t number) {
  return {.kind = static_cast<std::uint16_t>(kind), .number = number};
}

}  // namespace

WireTraits RingWire::traits() const {
  return {.name = side_ == nullptr ? "ring" : side_->wire_name(),
          .gid = terms_.gid,
          .links = {.mtu_bytes = terms_.shape.mtu_bytes,
                    .lossless = true,
                    .carries_riders = true,
                    .agreed = {verbs_of(terms_.features), terms_.flush_worth}}};
}

WireParts RingWire::parts() {
  return {.shortcut = side_ == nullptr ? nullptr : &side_->shortcut(),
          .lender = lending_.to ? this : nullptr,
          .riders = this,
          .waker = this};
}

LinkTraits RingWire::traits(LinkId link) const {
  LinkTraits traits = this->traits().links;
  const Slot* slot = find_up(link);
  if (slot != nullptr && slot->lends) {
    traits.lent_from_bytes = lending_.from_bytes;
  }
  if (slot != nullptr) {
    traits.agreed = slot->link->agreed();
  }
  return traits;
}

void RingWire::begin_lending(Slot& slot) {
  const uid_t uid = slot.link->peer().identity.uid;
  slot.lends = (slot.link->features() & feature_lending) != 0 && lending_.to &&
               uid == *lending_.to && uid != uid_of_unknown_users;
  slot.lendable = {};
  slot.shown.clear();
  slot.to_forget.clear();
  slot.requests_to_show = 0;
  slot.borrowed.emplace();
}

// --- The lender ---

void RingWire::withdraw(ConstBytes memory) {
  recall();
  const std::optional<std::uint32_t> number = offers_.remove(memory);
  if (!number) {
    return;
  }
  for (const std::uint32_t index : active_) {
    Slot& slot = slots_[index];
    slot.lendable = {};
    if (std::erase_if(slot.shown, [&](const Shown& shown) { return shown.number == *number; }) !=
        0) {
      slot.to_forget.push_back(*number);
      tell_to_forget(slot);
    }
  }
}

// The memory stays as long as the peer has it mapped. One that leaves its messages unread is told
// later.
void RingWire::tell_to_forget(Slot& slot) {
  while (!slot.to_forget.empty() && slot.state == LinkState::up) {
    const LendingMessage message = message_of(LendingKind::forget, slot.to_forget.back());
    if (!slot.link->send_lending(object_bytes(message), -1).ok()) {
      return;
    }
    slot.to_forget.pop_back();
  }
}

void RingWire::show(Slot& slot, const Offers::Offer& offer) {
  LendingMessage message = message_of(LendingKind::show, offer.number);
  message.size_bytes = offer.memory.size();
  message.offset = offer.offset;
  if (slot.link->send_lending(object_bytes(message), offer.file.number()).ok()) {
    slot.shown.push_back({offer.number, false});
  } else {
    slot.requests_to_show = limits::shows_again_after;
  }
}

void RingWire::show_all(LinkId link) {
  Slot* slot = find_up(link);
  if (slot == nullptr || !slot->lends) {
    return;
  }
  for (const Offers::Offer& offer : offers_.all()) {
    if (std::ranges::find(slot->shown, offer.number, &Shown::number) == slot->shown.end()) {
      show(*slot, offer);
    }
  }
}

bool RingWire::has_seen_all(LinkId link) const {
  const Slot* slot = find_up(link);
  return slot != nullptr && std::ranges::all_of(offers_.all(), [&](const Offers::Offer& offer) {
           const auto shown = std::ranges::find(slot->shown, offer.number, &Shown::number);
           return shown != slot->shown.end() && shown->is_seen;
         });
}

// Whether the peer can take this payload from where it lies. It is shown the memory when it is
// first of use.
bool RingWire::find_lendable(Slot& slot, ConstBytes payload) {
  const auto begin = reinterpret_cast<std::uintptr_t>(payload.data());
  if (within(begin - reinterpret_cast<std::uintptr_t>(slot.lendable.base), payload.size(),
             slot.lendable.size_bytes)) [[likely]] {
    return true;
  }
  const Offers::Offer* offer = offers_.find(payload);
  if (offer == nullptr) {
    return false;
  }
  const auto shown = std::ranges::find(slot.shown, offer->number, &Shown::number);
  if (shown == slot.shown.end()) {
    if (slot.requests_to_show != 0) {
      --slot.requests_to_show;
    } else {
      show(slot, *offer);
    }
    return false;
  }
  if (shown->is_seen) {
    slot.lendable = {offer->memory.data(), offer->memory.size(), offer->number};
  }
  return shown->is_seen;
}

Bytes RingWire::lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) {
  Slot* slot = find_up(link);
  if (slot == nullptr || !slot->lends || payload.size() < lending_.from_bytes ||
      payload.size() % cache_line_bytes != 0 || !is_word_aligned(payload) ||
      !find_lendable(*slot, payload)) {
    return {};
  }
  RingProducer& producer = slot->link->producer();
  const Bytes room = producer.may_lend(payload.size())
                         ? reserve_at(link, {}, header_bytes + payload.size())
                         : Bytes();
  if (room.empty()) {
    later = true;
    if (producer.broken()) [[unlikely]] {
      cut_off(link);
    }
    return {};
  }
  const byte_ring::Loan loan = {
      .offset = static_cast<std::uint64_t>(payload.data() - slot->lendable.base),
      .memory = slot->lendable.number,
      .size_bytes = static_cast<std::uint32_t>(payload.size())};
  if (!producer.lend(loan, payload)) {
    reserved_ = nullptr;
    return {};
  }
  ++packets_lent_;
  return room.first(header_bytes);
}

void RingWire::recall() {
  for (const std::uint32_t index : active_) {
    if (slots_[index].state == LinkState::up) {
      slots_[index].link->producer().recall();
    }
  }
}

bool RingWire::recall(LinkId link) {
  Slot* slot = find_up(link);
  return slot != nullptr && slot->link->producer().recall();
}

// --- The borrower ---

void RingWire::serve_lending(Slot& slot, ConstBytes bytes, Descriptor passed) {
  const std::optional<LendingMessage> message = parse_lending(bytes);
  if (!message) {
    drop(slot, LinkState::gone);
    return;
  }
  if (!slot.lends) {
    return;  // the two see each other's user differently: nothing is shown, and nothing seen
  }
  switch (static_cast<LendingKind>(message->kind)) {
    case LendingKind::show:
      // One that is not to be had is never said to be seen, and so never referred to.
      if (slot.borrowed->map(*message, std::move(passed)).ok()) {
        const LendingMessage answer = message_of(LendingKind::seen, message->number);
        (void)slot.link->send_lending(object_bytes(answer), -1);
      }
      break;
    case LendingKind::seen:
      for (Shown& shown : slot.shown) {
        shown.is_seen |= shown.number == message->number;
      }
      break;
    case LendingKind::forget:
      slot.borrowed->unmap(message->number);
      break;
  }
}

// The packet with its payload; empty when the peer refers to what it did not show. It is copied
// before it is used: if the lender has it back meanwhile, nothing of what it then does with its
// memory has gone anywhere.
ConstBytes RingWire::borrow(Slot& slot, ConstBytes packet) {
  const RingConsumer& consumer = slot.link->consumer();
  const std::optional<byte_ring::Loan> loan = consumer.loan();
  if (!loan) {
    return packet;
  }
  const ConstBytes payload = slot.borrowed->find(loan->memory, loan->offset, loan->size_bytes);
  if (payload.empty() || payload.size() >= packet.size() ||
      packet.size() - payload.size() > max_header_bytes) {
    return consumer.is_out() ? ConstBytes() : packet;
  }
  const std::size_t header_bytes = packet.size() - payload.size();
  if (borrowed_.empty()) {
    borrowed_.resize(
        1 + round_up(std::size_t{terms_.shape.mtu_bytes} + max_header_bytes, cache_line_bytes) /
                cache_line_bytes);
  }
  const Bytes room(borrowed_.front().bytes, borrowed_.size() * cache_line_bytes);
  const std::size_t begin = cache_line_bytes - header_bytes;
  racy_copy(room.subspan(begin, header_bytes), packet.first(header_bytes));
  racy_copy_words(room.subspan(cache_line_bytes, payload.size()), payload);
  return consumer.is_out() ? ConstBytes(room).subspan(begin, packet.size()) : packet;
}

}  // namespace remora::fabric::nic::ring
