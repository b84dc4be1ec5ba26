#include "fabric/nic/device/nic_core.h"

#include <algorithm>
#include <utility>

#include "fabric/nic/queue_pair/message_mover.h"
#include "fabric/nic/queue_pair/overseen_qp.h"
#include "fabric/nic/queue_pair/shared_queue.h"

namespace remora::fabric::nic {
namespace {

// What the wire does not carry, no peer is asked for.
Support support_of(DurableVerb verb, VendorVerbs offered, Support flush) {
  const VendorVerbs bit = vendor_verb(verb);
  return bit == 0 || (offered & bit) != 0 ? flush : Support::none;
}

std::string how_of(DurableVerb verb) {
  switch (verb) {
    case DurableVerb::wflush:
      return "the FLUSH of the standard, behind WRITEs";
    case DurableVerb::sflush:
      return "the responder moves messages to a log in persistent memory";
    case DurableVerb::rflush:
      return "the responder makes persistent what arrives, then tells the sender";
    case DurableVerb::flush_imm:
      return "consumes a receive of the peer's when the bytes are persistent";
    case DurableVerb::flush_payload:
      return "stores a word, persistent, behind what it covers";
  }
  return {};
}

void add_durable_verbs(DeviceAttributes& attributes, VendorVerbs offered) {
  const bool persists = attributes.flush_worth == FlushWorth::persistent;
  const Support flush = persists ? Support::native : Support::emulated;
  for (const DurableVerb verb : durable_verbs) {
    const Support support = support_of(verb, offered, flush);
    attributes.durable[static_cast<std::size_t>(verb)] = support;
    const std::string how = support == Support::none ? "not agreed on on this wire"
                            : persists               ? how_of(verb)
                                       : how_of(verb) + "; worth what flush to persistence is";
    attributes.capabilities.push_back({std::string(to_string(verb)), support, how});
  }
}

DeviceAttributes attributes_of(const NicOptions& options, const Engine& engine) {
  const WireTraits wire = engine.wire.traits();
  DeviceAttributes attributes = {
      .name = options.name.empty() ? std::string("soft-") + wire.name : options.name,
      .wire = wire.name,
      .gid = wire.gid,
      .path_mtu_bytes = wire.links.mtu_bytes,
      .max_message_bytes = message_bytes_max(wire.links.mtu_bytes),
      .max_queue_pairs = limits::queue_pairs,
      .max_work_requests = limits::work_requests,
      .max_pieces = limits::pieces,
      .max_inline_bytes = limits::inline_bytes,
      .max_completions = limits::completions,
      .max_regions = limits::regions,
      .max_reads_in_flight = limits::reads_in_flight,
      .max_datagram_bytes = std::min(datagram_bytes_max, wire.links.mtu_bytes),
      .costs_by_message = wire.links.gathers,
      .asks_guards = true,
      .capabilities = {
          {"flush to visibility", Support::native, "the responder places all before it answers"},
          options.flush_worth == FlushWorth::persistent
              ? Capability{"flush to persistence", Support::native,
                           "the responder answers when the region's ticket is persistent"}
              : Capability{"flush to persistence", Support::emulated,
                           "bytes leave the responder's NIC: persistent with DDIO off or caches "
                           "that survive (eADR), else visible alone"},
          {"atomic write", Support::native, "the responder stores one aligned word"},
          {"unreliable connections", Support::native, "what is lost is not sent again"},
          {"datagrams", Support::native, "one packet each, to any peer that the wire reaches"},
          {"shared receives", Support::native, "queue pairs of all kinds may take from one queue"},
      }};
  attributes.flush_worth = options.flush_worth;
  add_durable_verbs(attributes, wire.links.agreed.verbs);
  if (engine.shortcut != nullptr || wire.links.streams) {
    attributes.placement_order = PlacementOrder::last_word_last;
  }
  if (engine.lender != nullptr) {
    attributes.capabilities.push_back(
        {"lent payload", Support::native,
         "large payload stays where it lies, and peers of the same user take it from there"});
  }
  if (engine.shortcut != nullptr) {
    attributes.capabilities.push_back({"short cut", Support::native, engine.shortcut->describe()});
  }
  return attributes;
}

}  // namespace

NicCore::NicCore(Runtime& runtime, Wire& wire, Dma& dma, const NicOptions& options)
    : QpOwner(runtime, wire, dma, options.keys, options.pin_down_entries),
      attributes_(attributes_of(options, engine_)),
      violation_limit_(options.access_violation_limit),
      overseer_(options.overseer) {
  engine_.faults = options.faults;
  runtime.add_poller(*this);
  if (engine_.shortcut != nullptr) {
    engine_.shortcut->attach(this);
  }
}

NicCore::~NicCore() {
  if (engine_.shortcut != nullptr) {
    engine_.shortcut->attach(nullptr);
  }
}

DeviceCounters NicCore::counters() const {
  DeviceCounters counters = engine_.counters;
  if (engine_.shortcut != nullptr) {
    counters.requests_short_cut += engine_.shortcut->executed_by_windows();
  }
  counters.translation_hits = engine_.memory.pages().hits();
  counters.translation_misses = engine_.memory.pages().misses();
  return counters;
}

Result<std::unique_ptr<QueuePair>> NicCore::create(DomainId domain,
                                                   const QueuePairOptions& options) {
  if (dynamic_cast<Completions*>(options.send_queue) == nullptr ||
      dynamic_cast<Completions*>(options.receive_queue) == nullptr) {
    return Status(Code::invalid_argument, "a queue pair needs two completion queues of its device");
  }
  if (options.shared_receives != nullptr) {
    const auto* shared = dynamic_cast<const SharedQueue*>(options.shared_receives);
    if (shared == nullptr || shared->domain() != domain) {
      return Status(Code::invalid_argument, "the shared receive queue is of another domain");
    }
  }
  if (options.log != nullptr) {
    const char* reason = options.shared_receives != nullptr
                             ? "a queue pair with a log has receives of its own"
                             : why_not_bind(*options.log, domain, engine_.memory);
    if (reason != nullptr) {
      return Status(Code::invalid_argument, reason);
    }
  }
  if (options.max_sends > limits::work_requests || options.max_receives > limits::work_requests ||
      options.max_pieces > limits::pieces || options.max_inline_bytes > limits::inline_bytes) {
    return Status(Code::invalid_argument,
                  "the options exceed the limits of the device; see its attributes");
  }
  return options.transport == Transport::rc
             ? add(std::make_unique<Qp>(*this, domain, options), queue_pairs_)
             : add(std::make_unique<UnreliableQp>(static_cast<UnreliableQp::Owner&>(*this), engine_,
                                                  domain, options),
                   unreliable_);
}

// A number that the other table has too is given back, for another one.
template <typename Pair, typename Pairs>
Result<std::unique_ptr<QueuePair>> NicCore::add(std::unique_ptr<Pair> qp, Pairs& pairs) {
  QpNumber number = pairs.add(*qp, engine_.keys);
  while (queue_pairs_.find(number) != nullptr && unreliable_.find(number) != nullptr) {
    pairs.remove(number);
    number = pairs.add(*qp, engine_.keys);
  }
  if (number == 0) {
    return Status(Code::no_space, "the device has no queue pair left");
  }
  qp->set_number(number);
  if (overseer_ != nullptr) {
    return std::unique_ptr<QueuePair>(std::make_unique<OverseenQp>(std::move(qp), *overseer_));
  }
  return std::unique_ptr<QueuePair>(std::move(qp));
}

Result<std::unique_ptr<AddressHandle>> NicCore::create_address(DomainId domain, const Gid& peer) {
  auto address = std::make_unique<Address>(engine_.addresses, domain, peer);
  if (!address->link(engine_.wire)) {
    return Status(Code::not_found, "the wire does not reach this peer");
  }
  if (!address->add(engine_.keys)) {
    return Status(Code::no_space, "the device has no address handle left");
  }
  return std::unique_ptr<AddressHandle>(std::move(address));
}

void NicCore::place_all(DomainId domain) {
  const auto place = [this, domain](const auto& qp) {
    if (qp.domain() == domain) {
      engine_.dma.place_all(qp.number());
    }
  };
  queue_pairs_.for_each(place);
  unreliable_.for_each(place);
}

void NicCore::forget(Qp& qp) {
  if (qp.number() != 0) {
    queue_pairs_.remove(qp.number());
  }
}

void NicCore::forget(UnreliableQp& qp) {
  if (qp.number() != 0) {
    unreliable_.remove(qp.number());
  }
}

std::optional<Reachable> NicCore::reachable(LinkId link, QpNumber own, QpNumber peer,
                                            RemoteKey key) const {
  const Qp* qp = queue_pairs_.find(own);
  if (qp == nullptr || qp->state() != QpState::ready_to_send || !qp->is_linked(link) ||
      !qp->has_peer(peer)) {
    return std::nullopt;
  }
  const RegisteredMemory* memory = engine_.memory.find(qp->domain(), key);
  if (memory == nullptr || memory->translation != nullptr) {
    return std::nullopt;
  }
  AccessFlags rights = memory->access & (qp->remote_access() | relaxed_order);
  if ((memory->access & flushes_writes) != 0) {
    rights &= ~AccessFlags{remote_write};  // the responder has a part in it
  }
  return Reachable{memory->bytes, rights, memory->persistence};
}

// --- The turn ---

bool NicCore::poll() {
  engine_.in_turn = true;
  engine_.turn_ns = 0;
  active_.take_all(awaiting_);
  expected_first_ = expected_behind_ = 0;
  const std::size_t received = engine_.wire.poll(*this, limits::packets_per_turn);
  serve_active();
  if (!notices_.empty()) [[unlikely]] {
    send_notices();
  }
  if (engine_.overruns != overruns_seen_) [[unlikely]] {
    fail_overrun();
  }
  const bool sent = std::exchange(engine_.unflushed, false);
  if (sent) {
    engine_.wire.flush();
  }
  if (!offenders_.empty()) [[unlikely]] {
    cut_off_offenders();
  }
  engine_.in_turn = false;
  return received != 0 || sent;
}

void NicCore::serve_active() {
  if (active_.empty()) {
    return;
  }
  IntrusiveList<Qp> batch;
  batch.take_all(active_);
  while (!batch.empty()) {
    Qp& qp = batch.pop_front();
    if (qp.waits_for_company()) {
      waiting_.push_back(qp);
      if (!company_.armed()) {
        engine_.runtime.run_last(company_);
      }
    } else {
      serve(qp);
    }
  }
  if (!awaiting_.empty() && !persistence_.armed()) {
    engine_.runtime.arm(persistence_, engine_.now_ns() + limits::persistence_poll_ns);
  }
}

void NicCore::serve(Qp& qp) {
  const bool left = qp.serve();
  if (qp.awaits_persistence()) {
    qp.unlink();
    awaiting_.push_back(qp);
  } else if (left) {
    activate(qp);
  }
}

void NicCore::serve_waiting() {
  engine_.in_turn = true;
  engine_.turn_ns = 0;
  while (!waiting_.empty()) {
    serve(waiting_.pop_front());
  }
  if (std::exchange(engine_.unflushed, false)) {
    engine_.wire.flush();
  }
  engine_.in_turn = false;
}

[[gnu::always_inline]] inline const Parsed* NicCore::parsed(ConstBytes bytes) {
  if (expected_first_ != expected_behind_) {
    const Expected& next = expected_[expected_first_];
    if (next.at == bytes.data() && next.size_bytes == bytes.size()) [[likely]] {
      ++expected_first_;
      return &next.parsed;
    }
  }
  return parse(bytes, parsed_) ? &parsed_ : nullptr;
}

void NicCore::receive(LinkId from, ConstBytes bytes) {
  ++engine_.counters.packets_received;
  const Parsed* const found = parsed(bytes);
  if (found == nullptr) [[unlikely]] {
    ++engine_.counters.packets_dropped;
    return;
  }
  const Packet& packet = found->packet;
  if (Qp* qp = queue_pairs_.find(packet.queue_pair)) [[likely]] {
    if (!qp->handle_straight(from, packet, found->payload)) {
      qp->handle(from, packet, found->payload);
    } else if (!qp->linked() && qp->is_to_be_served()) {
      activate(*qp);
    }
    return;
  }
  if (UnreliableQp* qp = unreliable_.find(packet.queue_pair)) {
    qp->handle(from, packet, found->payload);
    return;
  }
  const bool lossless =
      engine_.wire.traits(from).lossless && !is_unreliable_kind(row_of(packet.opcode).kind);
  if (lossless && packet.opcode != PacketOpcode::acknowledge) {
    send_notice(from, packet.queue_pair, packet.sequence, syndrome_gone);
  } else if (lossless && packet.queue_pair == notice_number) {
    receive_notice(from, packet);
    return;
  }
  ++engine_.counters.packets_dropped;
}

// Its headers are taken, and the first lines of its target asked for, if it may use them: a cold
// one keeps all that is stored after it waiting.
void NicCore::expect(ConstBytes bytes) {
  if (expected_first_ == expected_behind_) {
    expected_first_ = expected_behind_ = 0;
  }
  if (expected_behind_ == expected_.size()) {
    return;
  }
  Expected& expected = expected_[expected_behind_];
  if (!parse(bytes, expected.parsed)) {
    return;
  }
  expected.at = bytes.data();
  expected.size_bytes = bytes.size();
  ++expected_behind_;
  const Packet& packet = expected.parsed.packet;
  const bool is_write = packet.opcode == PacketOpcode::write_only;
  if (!is_write && packet.opcode != PacketOpcode::read_request) {
    return;
  }
  const Qp* qp = queue_pairs_.find(packet.queue_pair);
  if (qp == nullptr) {
    return;
  }
  const Reach reach = {.domain = qp->domain(),
                       .key = packet.key,
                       .address = packet.address,
                       .size_bytes = packet.length,
                       .rights = is_write ? remote_write : remote_read};
  if (!engine_.memory.allows_in_place(reach)) {
    return;
  }
  const std::uint64_t end = std::min<std::uint64_t>(packet.length, limits::expected_bytes);
  for (std::uint64_t at = 0; at < end; at += cache_line_bytes) {
    const auto* line = reinterpret_cast<const void*>(packet.address + at);
    if (is_write) {
      __builtin_prefetch(line, 1);
    } else {
      __builtin_prefetch(line);
    }
  }
}

// --- Trouble ---

void NicCore::link_down(LinkId link) {
  queue_pairs_.for_each([&](Qp& qp) {
    if (qp.is_linked(link)) {
      qp.link_lost();
    }
  });
  unreliable_.for_each([link](UnreliableQp& qp) { qp.link_lost(link); });
  engine_.addresses.for_each([link](Address& address) { address.link_down(link); });
  violations_.erase(link);
  std::erase_if(notices_, [link](const Notice& notice) { return notice.link == link; });
}

void NicCore::receive_notice(LinkId from, const Packet& packet) {
  queue_pairs_.for_each([&](Qp& qp) {
    if (qp.is_linked(from) && qp.has_peer(packet.message_count)) {
      qp.peer_notice(packet);
    }
  });
}

void NicCore::send_notice(LinkId link, QpNumber about, PacketSequence sequence,
                          std::uint8_t syndrome) {
  const Notice notice = {link, about, sequence, syndrome};
  if (!try_notice(notice) && notices_.size() < limits::queue_pairs) {
    notices_.push_back(notice);
  }
}

bool NicCore::try_notice(const Notice& notice) {
  Packet packet;
  packet.opcode = PacketOpcode::acknowledge;
  packet.queue_pair = notice_number;
  packet.syndrome = notice.syndrome;
  packet.message_count = notice.about;
  packet.sequence = notice.sequence;
  Bytes payload;
  if (!engine_.begin(notice.link, packet, payload)) {
    return false;
  }
  engine_.commit(packet);
  return true;
}

void NicCore::send_notices() {
  std::erase_if(notices_, [&](const Notice& notice) { return try_notice(notice); });
}

void NicCore::fail_overrun() {
  overruns_seen_ = engine_.overruns;
  const auto fail = [](auto& qp) {
    if (qp.uses_overrun_queue()) {
      qp.fail();
    }
  };
  queue_pairs_.for_each(fail);
  unreliable_.for_each(fail);
}

void NicCore::violated(LinkId link) {
  if (violations_.size() == limits::offending_links && !violations_.contains(link)) {
    violations_.erase(violations_.begin());
  }
  if (++violations_[link] == violation_limit_) {
    offenders_.push_back(link);
  }
}

void NicCore::cut_off_offenders() {
  const std::vector<LinkId> offenders = std::exchange(offenders_, {});
  for (const LinkId link : offenders) {
    engine_.wire.cut_off(link);
    link_down(link);
  }
}

}  // namespace remora::fabric::nic
