#include "fabric/verbs/context.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fabric/verbs/completion_queue.h"
#include "fabric/verbs/event_channel.h"
#include "fabric/verbs/port_counters.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/rxe_ring.h"
#include "fabric/verbs/shared_queue.h"
#include "fabric/verbs/translate.h"

namespace remora::fabric::verbs {
namespace {

constexpr std::size_t most_slots = 65'536;
constexpr std::size_t most_offenders = 1024;
constexpr std::uint32_t most_inline_bytes = 512;

GidKind kind_of(std::uint32_t type) {
  return type == IBV_GID_TYPE_ROCE_V2   ? GidKind::roce_v2
         : type == IBV_GID_TYPE_ROCE_V1 ? GidKind::roce_v1
                                        : GidKind::infiniband;
}

std::vector<GidEntry> gid_table(ibv_context* device, std::uint8_t port, int length) {
  std::vector<GidEntry> table;
  for (std::uint32_t index = 0; index < static_cast<std::uint32_t>(length); ++index) {
    ibv_gid_entry entry = {};
    if (ibv_query_gid_ex(device, port, index, &entry, 0) == 0) {
      GidEntry known = {.index = index, .kind = kind_of(entry.gid_type)};
      std::memcpy(known.gid.data(), entry.gid.raw, known.gid.size());
      table.push_back(known);
    }
  }
  return table;
}

bool reads_and_writes_on_demand(const ibv_odp_caps& caps) {
  constexpr std::uint32_t needed = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  return (caps.general_caps & IBV_ODP_SUPPORT) != 0 &&
         (caps.per_transport_caps.rc_odp_caps & needed) == needed;
}

// What a queue pair needs that is made only to see whether it can be.
class Trial {
 public:
  explicit Trial(ibv_context* device)
      : domain_(ibv_alloc_pd(device)), queue_(ibv_create_cq(device, 1, nullptr, nullptr, 0)) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    if (queue_ != nullptr) {
      ibv_destroy_cq(queue_);
    }
    if (domain_ != nullptr) {
      ibv_dealloc_pd(domain_);
    }
  }

  bool ok() const { return domain_ != nullptr && queue_ != nullptr; }
  ibv_pd* domain() const { return domain_; }

  // The smallest that there is, with so much inline data.
  template <typename Init>
  Init smallest(std::uint32_t inline_bytes) const {
    Init init = {};
    init.send_cq = init.recv_cq = queue_;
    init.qp_type = IBV_QPT_RC;
    init.cap = {.max_send_wr = 1,
                .max_recv_wr = 1,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = inline_bytes};
    return init;
  }

 private:
  ibv_pd* const domain_;
  ibv_cq* const queue_;
};

std::uint32_t positive(int value) {
  return value < 0 ? 0 : static_cast<std::uint32_t>(value);
}

}  // namespace

Context::Context(OpenContext device, const VerbsOptions& options)
    : device_(std::move(device)), options_(options) {}

Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::open(const VerbsOptions& options) {
  REMORA_TRY_RESULT(device, open_device(options.device));
  VerbsOptions chosen = options;
  if (chosen.port == 0) {
    chosen.port = std::max<std::uint8_t>(active_port(device->get()), 1);
  }
  std::unique_ptr<Context> context(new Context(std::move(device).value(), chosen));
  REMORA_TRY(context->look());
  // Asking for events must not wait for one.
  const int descriptor = context->device()->async_fd;
  if (fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0) {
    return os_failure("cannot set the device's event descriptor", errno);
  }
  REMORA_TRY_RESULT(events, EventChannel::create(context->device(), &context->queue_pairs_));
  context->events_ = std::move(events).value();
  return context;
}

Status Context::look() {
  ibv_device_attr_ex all = {};
  if (const int error = ibv_query_device_ex(device(), nullptr, &all)) {
    return os_failure("cannot ask the RDMA device for its attributes", error);
  }
  const std::string name = ibv_get_device_name(device()->device);
  if (const int error = ibv_query_port(device(), options_.port, &port_)) {
    return os_failure("cannot ask " + name + " for its port " + std::to_string(options_.port),
                      error);
  }
  if (port_.state != IBV_PORT_ACTIVE) {
    return Status(Code::unsupported, "port " + std::to_string(options_.port) + " of " + name +
                                         " is not active; is its cable in, its network card up?");
  }
  REMORA_TRY(look_for_gid());
  facts_ = facts_of(all.device_cap_flags_ex);
  facts_.by_hand = options_.flush == FlushMethod::native && !facts_.built_with_flush &&
                   facts_.device_flushes && facts_.built_with_atomic_write &&
                   facts_.device_writes_atomically && is_rxe(all.orig_attr) && knows_ring();
  REMORA_TRY_RESULT(methods, choose_methods(facts_, options_.flush));
  methods_ = *methods;
  pages_on_demand_ = reads_and_writes_on_demand(all.odp_caps);
  const ibv_device_attr& most = all.orig_attr;
  std::uint32_t mtu = mtu_bytes(port_.active_mtu);
  if (options_.mtu_bytes != 0) {
    mtu = std::min(mtu, mtu_bytes(to_mtu(options_.mtu_bytes)));
  }
  attributes_ = {
      .name = name,
      .wire = "verbs:" + name,
      .gid = is_infiniband() ? with_lid(gid_.gid, port_.lid) : gid_.gid,
      .path_mtu_bytes = mtu,
      .max_message_bytes = port_.max_msg_sz,
      .max_queue_pairs = std::min(positive(most.max_qp), static_cast<std::uint32_t>(most_slots)),
      .max_work_requests = positive(most.max_qp_wr),
      .max_pieces = std::min(positive(most.max_sge), 255U),
      .max_inline_bytes = largest_inline(),
      .max_completions = positive(most.max_cqe),
      .max_regions = positive(most.max_mr),
      .max_reads_in_flight =
          std::min({positive(most.max_qp_rd_atom), positive(most.max_qp_init_rd_atom), 255U}),
      .max_datagram_bytes = std::min(mtu, datagram_bytes_max),
      .placement_order = PlacementOrder::last_word_last,
      .flush_worth =
          methods_.flush == FlushMethod::native ? FlushWorth::persistent : FlushWorth::pushed,
      .capabilities = capabilities_of(methods_, facts_)};
  attributes_.durable = durable_of(methods_);
  for (Capability& capability : durable_capabilities(methods_)) {
    attributes_.capabilities.push_back(std::move(capability));
  }
  const std::string by = "the device's, by libibverbs";
  attributes_.capabilities.push_back({"unreliable connections", Support::native, by});
  attributes_.capabilities.push_back({"datagrams", Support::native, by});
  const bool shares = most.max_srq > 0;
  attributes_.capabilities.push_back({"shared receives", shares ? Support::native : Support::none,
                                      shares ? by : "the device has no shared receive queue"});
  return Status();
}

Status Context::look_for_gid() {
  const std::vector<GidEntry> table = gid_table(device(), options_.port, port_.gid_tbl_len);
  const std::optional<GidEntry> best = choose_gid(table, options_.gid_index);
  const std::string name = ibv_get_device_name(device()->device);
  if (!best && options_.gid_index) {
    return Status(Code::not_found,
                  name + " has no GID of index " + std::to_string(*options_.gid_index));
  }
  if (!best) {
    return Status(Code::unsupported,
                  name + " has no address yet; give its network card an IP address");
  }
  if (is_infiniband() && !carries_lid(best->gid)) {
    return Status(Code::unsupported, "the InfiniBand subnet of " + name +
                                         " has a prefix of its own; Remora connects within the "
                                         "default subnet fe80::/64 alone");
  }
  gid_ = *best;
  return Status();
}

// Devices do not tell: queue pairs are made, and the largest that can be says it.
std::uint32_t Context::largest_inline() const {
  const Trial trial(device());
  std::uint32_t largest = 0;
  for (std::uint32_t asked = most_inline_bytes; trial.ok() && largest == 0 && asked >= word_bytes;
       asked /= 2) {
    auto init = trial.smallest<ibv_qp_init_attr>(asked);
    if (ibv_qp* qp = ibv_create_qp(trial.domain(), &init)) {
      largest = asked;
      ibv_destroy_qp(qp);
    }
  }
  return largest;
}

// A queue pair is made, to look at its queue.
bool Context::knows_ring() const {
  bool known = false;
#ifdef REMORA_VERBS_HAVE_ATOMIC_WRITE
  const Trial trial(device());
  auto init = trial.smallest<ibv_qp_init_attr_ex>(word_bytes);
  init.pd = trial.domain();
  init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (ibv_qp* qp = trial.ok() ? ibv_create_qp_ex(device(), &init) : nullptr) {
    known = RxeRing::find(ibv_qp_to_qp_ex(qp)).has_value();
    ibv_destroy_qp(qp);
  }
#endif
  return known;
}

DeviceCounters Context::counters() const {
  DeviceCounters counters = read_port_counters(std::string(device()->device->ibdev_path) +
                                               "/ports/" + std::to_string(options_.port));
  counters.access_violations = violation_count_;
  counters.requests_by_wire = requests_;
  return counters;
}

// --- Queue pairs ---

std::optional<Context::Place> Context::add(Qp& qp) {
  auto free = std::ranges::find(slots_, nullptr, &Slot::qp);
  if (free == slots_.end()) {
    if (slots_.size() == most_slots) {
      return std::nullopt;
    }
    slots_.emplace_back();
    free = slots_.end() - 1;
  }
  free->qp = &qp;
  ++queue_pairs_;
  return Place{static_cast<std::uint16_t>(free - slots_.begin()), free->generation};
}

void Context::remove(std::uint16_t slot) {
  slots_[slot].qp = nullptr;
  --queue_pairs_;
  renew(slot);
}

std::uint16_t Context::renew(std::uint16_t slot) {
  Slot& renewed = slots_[slot];
  renewed.generation =
      static_cast<std::uint16_t>((renewed.generation + 1) % WorkName::shared_generation);
  return renewed.generation;
}

std::optional<std::uint16_t> Context::add(SharedQueue& queue) {
  auto free = std::ranges::find(shared_, nullptr);
  if (free == shared_.end()) {
    if (shared_.size() == most_slots) {
      return std::nullopt;
    }
    shared_.push_back(nullptr);
    free = shared_.end() - 1;
  }
  *free = &queue;
  return static_cast<std::uint16_t>(free - shared_.begin());
}

Qp* Context::find_number(QpNumber number) const {
  const auto found = std::ranges::find_if(slots_, [number](const Slot& slot) {
    return slot.qp != nullptr && slot.qp->number() == number;
  });
  return found == slots_.end() ? nullptr : found->qp;
}

// --- Trouble ---

void Context::violated(const Gid& peer) {
  ++violation_count_;
  if (violations_.size() == most_offenders && !violations_.contains(peer)) {
    violations_.erase(violations_.begin());
  }
  ++violations_[peer];
}

bool Context::is_refused(const Gid& peer) const {
  const auto found = violations_.find(peer);
  return found != violations_.end() && found->second >= options_.access_violation_limit;
}

void Context::take_events() {
  ibv_async_event event = {};
  while (ibv_get_async_event(device(), &event) == 0) {
    if (event.event_type == IBV_EVENT_CQ_ERR) {
      auto* queue = static_cast<Completions*>(event.element.cq->cq_context);
      queue->set_overrun();
      for_each([queue](Qp& qp) {
        if (qp.uses(*queue)) {
          qp.fail();
        }
      });
    }
    if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
      static_cast<SharedQueue*>(event.element.srq->srq_context)->note_event();
    }
    ibv_ack_async_event(&event);
  }
}

}  // namespace remora::fabric::verbs
