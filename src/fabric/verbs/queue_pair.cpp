#include "fabric/verbs/queue_pair.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "fabric/nic/queue_pair/rnr_timer.h"
#include "fabric/verbs/address.h"
#include "fabric/verbs/completion_queue.h"
#include "fabric/verbs/domain.h"
#include "fabric/verbs/shared_queue.h"
#include "fabric/verbs/translate.h"
#include "runtime/system_random.h"

namespace remora::fabric::verbs {
namespace {

constexpr std::uint32_t sequence_mask = 0xffffff;
constexpr std::uint8_t most_retries = 6;  // Linux rxe takes 7 for ever
constexpr std::uint8_t most_rnr_retries = 7;

PacketSequence fresh_sequence() {
  return static_cast<PacketSequence>(random_word() & sequence_mask);
}

ibv_qp_type type_of(Transport transport) {
  switch (transport) {
    case Transport::uc:
      return IBV_QPT_UC;
    case Transport::ud:
      return IBV_QPT_UD;
    case Transport::rc:
      break;
  }
  return IBV_QPT_RC;
}

Status check_options(const Context& context, const DomainCore& domain,
                     const QueuePairOptions& options) {
  if (dynamic_cast<Completions*>(options.send_queue) == nullptr ||
      dynamic_cast<Completions*>(options.receive_queue) == nullptr) {
    return Status(Code::invalid_argument, "a queue pair needs two completion queues of its device");
  }
  if (options.shared_receives != nullptr) {
    const auto* shared = dynamic_cast<const SharedQueue*>(options.shared_receives);
    if (shared == nullptr || shared->domain() != &domain) {
      return Status(Code::invalid_argument, "the shared receive queue is of another domain");
    }
  }
  if (options.log != nullptr || options.told_when_persistent) {
    return Status(
        Code::unsupported,
        "no RDMA device makes persistent by itself what it receives (SFlush, RFlush); the "
        "receiver's CPU has to");
  }
  const DeviceAttributes& most = context.attributes();
  if (options.max_sends > most.max_work_requests || options.max_receives > most.max_work_requests ||
      options.max_pieces > most.max_pieces || options.max_inline_bytes > most.max_inline_bytes) {
    return Status(Code::invalid_argument,
                  "the options exceed the limits of the device; see its attributes");
  }
  return Status();
}

// What a connection is told of its peer.
int mask_of_connection(Transport transport) {
  const int all = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                  IBV_QP_ACCESS_FLAGS;
  const int of_reliable = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return transport == Transport::rc ? all | of_reliable : all;
}

ibv_qp_init_attr_ex init_of(const Context& context, const DomainCore& domain,
                            const QueuePairOptions& options) {
  ibv_qp_init_attr_ex init = {};
  init.send_cq = static_cast<Completions*>(options.send_queue)->queue();
  init.recv_cq = static_cast<Completions*>(options.receive_queue)->queue();
  init.qp_type = type_of(options.transport);
  if (options.shared_receives != nullptr) {
    init.srq = static_cast<SharedQueue*>(options.shared_receives)->queue();
  }
  init.cap = {.max_send_wr = std::max(options.max_sends, 1U),
              .max_recv_wr = std::max(options.max_receives, 1U),
              .max_send_sge = std::max(options.max_pieces, 1U),
              .max_recv_sge = std::max(options.max_pieces, 1U),
              .max_inline_data =
                  std::max(options.max_inline_bytes, static_cast<std::uint32_t>(word_bytes))};
  init.pd = domain.domain();
  init.comp_mask = IBV_QP_INIT_ATTR_PD;
  if (options.transport != Transport::rc) {
    return init;
  }
#ifdef REMORA_VERBS_HAVE_FLUSH
  if (context.methods().flush == FlushMethod::native) {
    init.send_ops_flags |= IBV_QP_EX_WITH_FLUSH;
  }
#endif
#ifdef REMORA_VERBS_HAVE_ATOMIC_WRITE
  if (context.methods().atomic_write == AtomicWriteMethod::native) {
    init.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_WRITE;
  }
#endif
  if (init.send_ops_flags != 0) {
    init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  }
  return init;
}

}  // namespace

Qp::Qp(Context& context, std::shared_ptr<DomainCore> domain, const QueuePairOptions& options)
    : context_(context),
      domain_(std::move(domain)),
      options_(options),
      first_packet_(fresh_sequence()),
      sends_(options.max_sends),
      receives_(options.max_receives),
      requests_{},
      words_{},
      pieces_(batch * std::max(options.max_pieces, 1U)),
      kept_(std::size_t{std::bit_ceil(std::max(options.max_sends, 1U))} * options.max_pieces),
      headers_(is_datagram() ? WorkRing::slots_of(options.max_receives) : 0) {}

Result<std::unique_ptr<QueuePair>> Qp::create(Context& context, std::shared_ptr<DomainCore> domain,
                                              const QueuePairOptions& options) {
  REMORA_TRY(check_options(context, *domain, options));
  std::unique_ptr<Qp> made(new Qp(context, std::move(domain), options));
  const std::optional<Context::Place> place = context.add(*made);
  if (!place) {
    return Status(Code::no_space, "the device has no queue pair left");
  }
  made->place_ = *place;
  made->placed_ = true;
  ibv_qp_init_attr_ex init = init_of(context, *made->domain_, options);
  made->pair_ = ibv_create_qp_ex(context.device(), &init);
  if (made->pair_ == nullptr) {
    return errno == ENOMEM
               ? Status(Code::no_space, "the device has no queue pair left")
               : os_failure("cannot make a queue pair on " + context.attributes().name, errno);
  }
  if (init.send_ops_flags != 0) {
    made->extended_ = ibv_qp_to_qp_ex(made->pair_);
#ifndef REMORA_VERBS_HAVE_FLUSH
    if (context.methods().flush == FlushMethod::native) {
      made->ring_ = RxeRing::find(made->extended_);
      if (!made->ring_) {
        return Status(Code::unsupported, "the queue of " + context.attributes().name +
                                             " is not what it was when the device was opened");
      }
    }
#endif
  }
  return std::unique_ptr<QueuePair>(std::move(made));
}

Qp::~Qp() {
  if (pair_ != nullptr) {
    note_breach();
    ibv_destroy_qp(pair_);
  }
  if (placed_) {
    context_.remove(place_.slot);
  }
}

QueuePairAddress Qp::address() const {
  return {number(), first_packet_, context_.attributes().gid};
}

bool Qp::uses(const Completions& queue) const {
  return options_.send_queue == &queue || options_.receive_queue == &queue;
}

// --- States ---

Status Qp::modify(ibv_qp_attr& attributes, int mask, const char* what) {
  const int error = ibv_modify_qp(pair_, &attributes, mask);
  return error == 0 ? Status() : os_failure(what, error);
}

// A responder that refuses something goes to error without telling.
QpState Qp::state() const {
  if (state_ == QpState::ready_to_send) {
    ibv_qp_attr attributes = {};
    ibv_qp_init_attr init = {};
    if (ibv_query_qp(pair_, &attributes, IBV_QP_STATE, &init) == 0 &&
        to_state(attributes.qp_state) == QpState::error) {
      state_ = QpState::error;
    }
  }
  return state_;
}

Status Qp::initialise() {
  if (state_ != QpState::reset) {
    return Status(Code::invalid_argument, "the queue pair is in use; reset it first");
  }
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = context_.port();
  attributes.pkey_index = 0;
  attributes.qp_access_flags = 0;  // until it is connected
  attributes.qkey = options_.queue_key;
  REMORA_TRY(modify(attributes,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                        (is_datagram() ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS),
                    "cannot initialise the queue pair"));
  state_ = QpState::init;
  return Status();
}

Status Qp::connect(const QueuePairAddress& peer, const ConnectOptions& options) {
  if (state_ != QpState::init) {
    return Status(Code::invalid_argument, "a queue pair is connected once, after initialise");
  }
  if (options.reads_in_flight == 0 ||
      options.reads_in_flight > context_.attributes().max_reads_in_flight) {
    return Status(Code::invalid_argument,
                  "reads_in_flight is 0, or exceeds the limit of the device");
  }
  if (!is_datagram() && context_.is_refused(peer.gid)) {
    return Status(Code::permission_denied,
                  to_text(peer.gid) + " asked too often for what it has no right to");
  }
  REMORA_TRY(become_ready_to_receive(peer, options));
  state_ = QpState::ready_to_receive;
  if (Status status = become_ready_to_send(options); !status.ok()) {
    reset();
    (void)initialise().ok();  // the state from before; what comes next will tell if it is not
    return status;
  }
  peer_ = peer.gid;
  failed_here_ = flushing_ = false;
  state_ = QpState::ready_to_send;
  return Status();
}

Status Qp::become_ready_to_receive(const QueuePairAddress& peer, const ConnectOptions& options) {
  AccessFlags rights = options.remote_access & (remote_write | remote_read | remote_atomic);
  if (options_.transport == Transport::uc) {
    rights &= remote_write;
  } else if (context_.grants_flush()) {
    rights |= options.remote_access & (flush_visibility | flush_persistence);
  }
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = to_mtu(context_.attributes().path_mtu_bytes);
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first_packet & sequence_mask;
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(options.reads_in_flight);
  attributes.min_rnr_timer = nic::rnr_code(options.rnr_delay_ns);
  attributes.qp_access_flags = rights;
  attributes.ah_attr = way_to(context_, peer.gid);
  const int mask = is_datagram() ? IBV_QP_STATE : mask_of_connection(options_.transport);
  if (const int error = ibv_modify_qp(pair_, &attributes, mask)) {
    return Status(Code::not_found, context_.attributes().name + " does not reach the peer " +
                                       to_text(peer.gid) + ": " + std::strerror(error));
  }
  return Status();
}

Status Qp::become_ready_to_send(const ConnectOptions& options) {
  ibv_qp_attr attributes = {};
  const int of_reliable =
      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = timeout_code(options.timeout_ns);
  attributes.retry_cnt = std::min(options.retry_count, most_retries);
  attributes.rnr_retry = std::min(options.rnr_retry, most_rnr_retries);
  attributes.sq_psn = first_packet_;
  attributes.max_rd_atomic = static_cast<std::uint8_t>(options.reads_in_flight);
  return modify(
      attributes,
      IBV_QP_STATE | IBV_QP_SQ_PSN | (options_.transport == Transport::rc ? of_reliable : 0),
      "cannot make the queue pair ready to send");
}

void Qp::fail() {
  if (state() == QpState::error) {
    return;
  }
  failed_here_ = flushing_ = true;
  state_ = QpState::error;
  enter_error();
}

void Qp::enter_error() {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_ERR;
  (void)modify(attributes, IBV_QP_STATE, "cannot fail the queue pair").ok();
}

void Qp::reset() {
  note_breach();
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RESET;
  (void)modify(attributes, IBV_QP_STATE, "cannot reset the queue pair").ok();
  place_.generation = context_.renew(place_.slot);
  sends_.clear();
  receives_.clear();
  unsignalled_ = 0;
  failed_here_ = flushing_ = false;
  first_packet_ = fresh_sequence();
  state_ = QpState::reset;
}

// In error, and no request of this side failed: the peer asked for what it may not have.
void Qp::note_breach() {
  const bool was_connected = state_ == QpState::ready_to_send || state_ == QpState::error;
  if (was_connected && !failed_here_ && state() == QpState::error) {
    failed_here_ = true;
    context_.violated(peer_);
  }
}

// --- Completions ---

bool Qp::completed(const WorkName& name, const ibv_wc& completion, WorkCompletion& out) {
  std::byte* const begin =
      name.receive && is_datagram() ? headers_[receives_.place(name.sequence)] : nullptr;
  const std::optional<PostedWork> work =
      name.receive ? receives_.take(name.sequence) : sends_.take(name.sequence);
  if (!work) [[unlikely]] {
    return false;
  }
  const bool success = completion.status == IBV_WC_SUCCESS;
  out = {.id = work->id,
         .status = to_status(completion.status),
         .opcode = work->opcode,
         .size_bytes = success ? work->size_bytes : 0,
         .qp = number()};
  if (!success) [[unlikely]] {
    if (work->refused) {
      out.status = flushing_ ? WorkStatus::flushed : WorkStatus::remote_invalid_request;
    }
    // Linux rxe says no more than that the request was flushed, of the one that ends the queue
    // pair.
    if (!name.receive && !flushing_ && out.status == WorkStatus::flushed &&
        has_wrong_piece(name.sequence, *work)) {
      out.status = WorkStatus::local_protection_error;
    }
    failed_here_ = failed_here_ || out.status != WorkStatus::flushed;
    flushing_ = flushing_ || !name.receive;
    state_ = QpState::error;
    return true;
  }
  if (name.receive) {
    fill_received(completion, begin, out);
  }
  return work->signalled;
}

void Qp::fill_received(const ibv_wc& completion, std::byte* begin, WorkCompletion& out) {
  out.size_bytes = completion.byte_len;
  if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
    out.opcode = Opcode::receive_imm;
  }
  if ((completion.wc_flags & IBV_WC_WITH_IMM) != 0) {
    out.has_immediate = true;
    out.immediate = be32toh(completion.imm_data);
  }
  if (is_datagram() && begin != nullptr) {
    write_header(context_, completion, begin);
  }
}

bool Qp::received(SharedQueue& shared, const WorkName& name, const ibv_wc& completion,
                  WorkCompletion& out) {
  const std::optional<SharedQueue::Posted> posted = shared.take(name.sequence);
  if (!posted) {
    return false;
  }
  out = {.id = posted->id,
         .status = to_status(completion.status),
         .opcode = Opcode::receive,
         .qp = number()};
  if (completion.status == IBV_WC_SUCCESS) {
    fill_received(completion, posted->begin, out);
    return true;
  }
  failed_here_ = failed_here_ || out.status != WorkStatus::flushed;
  state_ = QpState::error;
  return true;
}

}  // namespace remora::fabric::verbs
