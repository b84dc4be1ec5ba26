#include "fabric/nic/queue_pair/qp.h"

#include "fabric/nic/queue_pair/shared_queue.h"

namespace remora::fabric::nic {
namespace {

Completions* completions_of(CompletionQueue* queue) {
  return static_cast<Completions*>(queue);
}

bool is_response(PacketOpcode opcode) {
  return row_of(opcode).kind == PacketKind::response;
}

constinit const Windows no_windows;  // match no request

}  // namespace

Qp::Qp(QpOwner& owner, DomainId domain, const QueuePairOptions& options)
    : owner_(owner),
      connection_{.engine = owner.engine(),
                  .domain = domain,
                  .send_completions = completions_of(options.send_queue),
                  .receive_completions = completions_of(options.receive_queue),
                  .max_pieces = options.max_pieces,
                  .max_inline_bytes = options.max_inline_bytes},
      options_(options),
      first_packet_(owner.engine().keys.next() & sequence_mask),
      sends_(options),
      receives_(receive_queue_of(options)),
      requester_(*this, connection_, sends_),
      mover_(options.log == nullptr
                 ? nullptr
                 : std::make_unique<MessageMover>(connection_, *options.log, options)),
      responder_(connection_, receives_, mover_.get()),
      windows_(&no_windows) {}

Qp::~Qp() {
  reset();
  owner_.forget(*this);
}

QueuePairAddress Qp::address() const {
  return {connection_.number, first_packet_, connection_.engine.wire.traits().gid};
}

// --- States ---

Status Qp::initialise() {
  if (state_ != QpState::reset) {
    return Status(Code::invalid_argument, "the queue pair is in use; reset it first");
  }
  state_ = QpState::init;
  return {};
}

Status Qp::connect(const QueuePairAddress& peer, const ConnectOptions& options) {
  if (state_ != QpState::init) {
    return Status(Code::invalid_argument, "a queue pair is connected once, after initialise");
  }
  if (options.reads_in_flight == 0 || options.reads_in_flight > limits::reads_in_flight) {
    return Status(Code::invalid_argument,
                  "reads_in_flight is 0, or exceeds the limit of the device");
  }
  const std::optional<LinkId> link = connection_.engine.wire.link_to(peer.gid);
  if (!link) {
    return Status(Code::not_found, "the wire does not reach this peer");
  }
  connection_.link = *link;
  connection_.traits = connection_.engine.wire.traits(*link);
  connection_.max_message_bytes = message_bytes_max(connection_.traits.mtu_bytes);
  connection_.peer = peer.number;
  connection_.options = options;
  requester_.start(first_packet_);
  peer_first_packet_ = peer.first_packet & sequence_mask;
  responder_.start(peer_first_packet_);
  state_ = QpState::ready_to_send;
  if (Shortcut* shortcut = connection_.engine.shortcut) {
    lane_ = shortcut->open_lane(connection_, *this);
  }
  return {};
}

void Qp::fail() {
  if (state_ != QpState::error) {
    const bool connected = is_connected();
    enter_error();
    if (connected) {
      tell_gone();
    }
  }
}

void Qp::reset() {
  if (is_connected() && state_ != QpState::error) {
    tell_gone();
  }
  requester_.stop();
  responder_.stop();
  drop_lane();
  held_.reset();
  if (is_connected()) {
    retire();
    connection_.engine.dma.drop(connection_.number);
  }
  sends_.clear();
  receives_.clear();
  if (mover_ != nullptr) {
    mover_->clear();
  }
  first_packet_ = connection_.engine.keys.next() & sequence_mask;
  state_ = QpState::reset;
}

// Nothing is sent twice on a wire that loses nothing, so the peer would wait for ever.
void Qp::tell_gone() {
  if (connection_.traits.lossless) {
    owner_.send_notice(connection_.link, connection_.number, first_packet_, syndrome_gone);
  }
}

// A responder that refused something goes on telling the peer so.
void Qp::enter_error() {
  state_ = QpState::error;
  requester_.stop();
  drop_lane();
  retire();
  if (!responder_.failed()) {
    responder_.stop();
  }
  connection_.engine.dma.drop(connection_.number);
  end_held(WorkStatus::flushed);
  flush_queues();
}

void Qp::drop_lane() {
  windows_ = &no_windows;
  lane_.reset();
}

// What the peer may do without asking, and what it was lent: buffers are the program's again.
void Qp::retire() {
  connection_.engine.recall();
  if (Shortcut* shortcut = connection_.engine.shortcut) {
    shortcut->retire(connection_.number);
  }
}

bool Qp::quiet() const {
  const Shortcut* shortcut = connection_.engine.shortcut;
  return shortcut == nullptr || shortcut->quiet(connection_.number);
}

void Qp::flush_queues() {
  for (; !sends_.empty(); sends_.pop()) {
    push_flushed(*connection_.send_completions, sends_.front().id, sends_.front().opcode);
  }
  if (mover_ != nullptr) {
    mover_->flush();
  }
  for (; !receives_.empty(); receives_.pop()) {
    push_flushed(*connection_.receive_completions, receives_.front_id(), Opcode::receive);
  }
}

void Qp::push_flushed(Completions& completions, std::uint64_t id, Opcode opcode) {
  completions.push(
      {.id = id, .status = WorkStatus::flushed, .opcode = opcode, .qp = connection_.number});
}

void Qp::deal_with_failure() {
  if (state_ == QpState::error || !(requester_.failed() || responder_.failed())) [[likely]] {
    return;
  }
  const bool violated = responder_.was_violated();
  const bool refused = responder_.failed();
  enter_error();
  if (violated) {
    owner_.violated(connection_.link);
  }
  if (!refused) {
    tell_gone();
  }
}

void Qp::link_lost() {
  if (held_) {
    drop_lane();
    end_held(WorkStatus::retry_exceeded);
  } else {
    requester_.give_up();
  }
  if (state_ != QpState::error) {
    enter_error();
  }
  responder_.stop();
}

void Qp::peer_notice(const Packet& notice) {
  const bool is_current =
      notice.sequence == peer_first_packet_ || requester_.is_outstanding(notice.sequence);
  if (state_ != QpState::ready_to_send || !is_current) {
    return;
  }
  if (notice.syndrome == syndrome_gone) {
    requester_.peer_gone();
  } else if (notice.syndrome == syndrome_asks) {
    owner_.send_notice(connection_.link, connection_.number, first_packet_, syndrome_alive);
  } else if (notice.syndrome == syndrome_alive) {
    requester_.peer_alive();
  } else {
    requester_.peer_not_ready(notice.syndrome);
  }
  go_on();
}

// --- Packets ---

void Qp::handle(LinkId from, const Packet& packet, ConstBytes payload) {
  Engine& engine = connection_.engine;
  if (!is_connected() || (state_ == QpState::error && !responder_.failed())) {
    ++engine.counters.packets_dropped;
    if (engine.wire.traits(from).lossless && !is_response(packet.opcode)) {
      const bool gone = state_ == QpState::error;
      owner_.send_notice(from, connection_.number, packet.sequence,
                         gone ? syndrome_gone : syndrome_rnr | 1);
    }
    return;
  }
  if (from != connection_.link) {
    ++engine.counters.packets_dropped;
    return;
  }
  if (!is_response(packet.opcode)) {
    responder_.handle_request(packet, payload);
  } else if (packet.opcode == PacketOpcode::acknowledge) {
    requester_.handle_acknowledge(packet);
  } else {
    requester_.handle_response(packet, payload);
  }
  deal_with_failure();
  if (is_to_be_served()) {
    owner_.activate(*this);
  }
}

bool Qp::serve() {
  bool left = responder_.respond();
  left |= requester_.transmit();
  deal_with_failure();
  return left;
}

void Qp::ask_peer() {
  owner_.send_notice(connection_.link, connection_.number, first_packet_, syndrome_asks);
}

void Qp::go_on() {
  owner_.activate(*this);
}

// --- Posting ---

// With a turn behind it that was asked for before: so it calls nothing.
bool Qp::execute(const SendWork& work) {
  return connection_.engine.kick.linked() && windows_->run(work);
}

Status Qp::post_sends(std::span<const SendWork> works) {
  // Nothing follows a request that has failed, though the error state begins with the next turn.
  // The lane takes it for granted that one piece may be moved.
  if (lane_ != nullptr && sends_.empty() && !held_ && !requester_.failed() &&
      options_.max_pieces != 0) {
    windows_ = moves_lines() ? &lane_->windows() : &no_windows;
    if (works.size() == 1 && windows_->run(works[0])) {
      connection_.engine.ask_for_turn();
      return {};
    }
    if (works.size() == 1 && lane_->run_one(works[0])) {
      count_short_cut(1);
      return {};
    }
    const Lane::Ran ran = lane_->run(works);
    count_short_cut(ran.executed);
    works = works.subspan(ran.executed);
    if (ran.pending) {
      hold(works.front());
      works = works.subspan(1);
    }
    if (works.empty()) [[likely]] {
      return {};
    }
  }
  return post_by_wire(works);
}

Status Qp::post_by_wire(std::span<const SendWork> works) {
  windows_ = &no_windows;
  if (!is_connected()) {
    return Status(Code::closed, "the queue pair is not connected");
  }
  Status status;
  connection_.engine.wire.prepare(connection_.link);
  for (const SendWork& work : works) {
    if (is_plain(work) && state_ != QpState::error && !sends_.full()) [[likely]] {
      push(work, work.pieces[0].size_bytes);
      continue;
    }
    status = post_one(work);
    if (!status.ok()) {
      break;
    }
  }
  if (state_ == QpState::ready_to_send) {
    if (requester_.transmit()) {
      owner_.activate(*this);
    }
    deal_with_failure();
  }
  return status;
}

void Qp::hold(const SendWork& work) {
  windows_ = &no_windows;
  held_ = {work.id, work.opcode, work.signalled,
           brings_bytes(work.opcode) ? static_cast<std::uint32_t>(total_bytes(work.pieces)) : 0};
  requester_.hold(true);
  count_short_cut(1);
}

void Qp::lane_finished() {
  end_held(WorkStatus::success);
  requester_.hold(false);
  owner_.activate(*this);
}

void Qp::end_held(WorkStatus status) {
  if (!held_) [[likely]] {
    return;
  }
  const bool success = status == WorkStatus::success;
  if (held_->signalled || !success) {
    connection_.send_completions->push({.id = held_->id,
                                        .status = status,
                                        .opcode = held_->opcode,
                                        .size_bytes = success ? held_->size_bytes : 0,
                                        .qp = connection_.number});
  }
  held_.reset();
}

Status Qp::post_one(const SendWork& work) {
  if (const char* reason = why_not_post(work, options_)) [[unlikely]] {
    return Status(Code::invalid_argument, reason);
  }
  if (state_ == QpState::error) {
    push_flushed(*connection_.send_completions, work.id, work.opcode);
    return {};
  }
  if (sends_.full()) {
    return Status(Code::no_space, "the send queue is full; poll its completions");
  }
  if (is_vendor(work.opcode) && !is_agreed(work.opcode, connection_.traits.agreed.verbs)) {
    return Status(Code::unsupported, not_agreed);
  }
  const std::uint64_t size = is_flush(work.opcode) ? work.flush_bytes : total_bytes(work.pieces);
  push(work, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX)));
  return {};
}

// A request of a kind that nothing can be wrong with until it is sent.
bool Qp::is_plain(const SendWork& work) const {
  return may_span_packets(work.opcode) && !work.inline_data && work.pieces.size() == 1 &&
         options_.max_pieces != 0;
}

void Qp::push(const SendWork& work, std::uint32_t size_bytes) {
  ++connection_.engine.counters.requests_by_wire;
  if (lane_ != nullptr) {
    lane_->passed(work);
  }
  requester_.number(sends_.push(work, size_bytes));
}

Status Qp::post_receive(std::span<const ReceiveWork> works) {
  if (state_ == QpState::reset) {
    return Status(Code::closed, "the queue pair is reset; initialise it first");
  }
  for (const ReceiveWork& work : works) {
    if (work.pieces.size() > options_.max_pieces) {
      return Status(Code::invalid_argument,
                    "the request has more pieces than the queue pair's max_pieces");
    }
    if (state_ == QpState::error && options_.shared_receives == nullptr) {
      push_flushed(*connection_.receive_completions, work.id, Opcode::receive);
    } else if (receives_.full()) {
      return options_.shared_receives == nullptr
                 ? Status(Code::no_space, "the receive queue is full")
                 : Status(Code::invalid_argument, why_not_receive(work, options_));
    } else {
      receives_.push(work);
    }
  }
  return {};
}

}  // namespace remora::fabric::nic
