#include "fabric/verbs/connection_manager.h"

#include <endian.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace remora::fabric::verbs {
namespace {

constexpr int resolve_ms = 2000;
constexpr int backlog = 64;
constexpr std::uint8_t cm_reads_in_flight = 16;
constexpr std::uint8_t cm_retries = 6;
constexpr std::size_t word_size = 56;

using Packed = std::array<std::byte, word_size>;

// number 4, first packet 4, GID 16, message 24, and nothing in the rest; little-endian.
Packed pack(const CmWord& word) {
  Packed packed = {};
  store(packed.data(), word.address.number);
  store(packed.data() + 4, word.address.first_packet);
  std::memcpy(packed.data() + 8, word.address.gid.data(), word.address.gid.size());
  std::memcpy(packed.data() + 24, word.message.data(), word.message.size());
  return packed;
}

// Whoever calls may say anything, and less than is asked for.
Result<CmWord> unpack(const rdma_conn_param& said) {
  if (said.private_data == nullptr || said.private_data_len < 48) {
    return Status(Code::invalid_argument, "the other side does not speak as Remora does");
  }
  const auto* bytes = static_cast<const std::byte*>(said.private_data);
  CmWord word;
  word.address.number = load<std::uint32_t>(bytes) & 0xffffff;
  word.address.first_packet = load<std::uint32_t>(bytes + 4) & 0xffffff;
  std::memcpy(word.address.gid.data(), bytes + 8, word.address.gid.size());
  std::memcpy(word.message.data(), bytes + 24, word.message.size());
  return word;
}

rdma_conn_param parameters(const CmWord& own, const Packed& packed) {
  rdma_conn_param param = {};
  param.private_data = packed.data();
  param.private_data_len = static_cast<std::uint8_t>(packed.size());
  param.responder_resources = cm_reads_in_flight;
  param.initiator_depth = cm_reads_in_flight;
  param.retry_count = cm_retries;
  param.rnr_retry_count = 7;
  param.qp_num = own.address.number;
  return param;
}

Result<CmChannel> make_channel() {
  CmChannel channel(rdma_create_event_channel());
  if (channel == nullptr) {
    return Status(Code::unsupported, std::string("librdmacm cannot be used: ") +
                                         std::strerror(errno) + "; modprobe rdma_ucm");
  }
  if (fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK) != 0) {
    return os_failure("cannot set the channel of librdmacm", errno);
  }
  return channel;
}

Result<CmId> make_id(rdma_event_channel* channel) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) != 0) {
    return os_failure("cannot make an end of a connection", errno);
  }
  return CmId(id);
}

std::string device_of(const rdma_cm_id* id) {
  return id->verbs == nullptr ? "" : ibv_get_device_name(id->verbs->device);
}

}  // namespace

// --- Calling ---

Result<std::unique_ptr<CmCall>> CmCall::start(const sockaddr* address) {
  std::unique_ptr<CmCall> call(new CmCall());
  REMORA_TRY_RESULT(channel, make_channel());
  call->channel_ = std::move(channel).value();
  REMORA_TRY_RESULT(id, make_id(call->channel_.get()));
  call->id_ = std::move(id).value();
  if (rdma_resolve_addr(call->id_.get(), nullptr, const_cast<sockaddr*>(address), resolve_ms) !=
      0) {
    return Status(Code::not_found,
                  std::string("no RDMA device leads there: ") + std::strerror(errno));
  }
  return call;
}

Result<CmCall::State> CmCall::progress() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_.get(), &event) == 0) {
    Status status = take(*event);
    rdma_ack_cm_event(event);
    REMORA_TRY(std::move(status));
  }
  return state_;
}

Status CmCall::take(const rdma_cm_event& event) {
  switch (event.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return rdma_resolve_route(id_.get(), resolve_ms) == 0
                 ? Status()
                 : os_failure("cannot find a route", errno);
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      state_ = State::resolved;
      return Status();
    case RDMA_CM_EVENT_CONNECT_RESPONSE: {
      REMORA_TRY_RESULT(word, unpack(event.param.conn));
      answer_ = *word;
      state_ = State::answered;
      return Status();
    }
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return Status(Code::not_found, "no RDMA device leads there");
    case RDMA_CM_EVENT_REJECTED:
      return Status(Code::closed, "nobody listens there, or the other side refused");
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return Status(Code::timed_out, "the other side does not answer");
    default:
      return Status();
  }
}

std::string CmCall::device() const {
  return device_of(id_.get());
}

Status CmCall::ask(const CmWord& own) {
  const Packed packed = pack(own);
  rdma_conn_param param = parameters(own, packed);
  if (rdma_connect(id_.get(), &param) != 0) {
    return os_failure("cannot ask for a connection", errno);
  }
  state_ = State::asking;
  return Status();
}

Status CmCall::establish() {
  return rdma_establish(id_.get()) == 0 ? Status()
                                        : os_failure("cannot establish the connection", errno);
}

// --- Being called ---

CmRequest::~CmRequest() {
  if (!accepted_ && id_ != nullptr) {
    rdma_reject(id_.get(), nullptr, 0);
  }
}

std::string CmRequest::device() const {
  return device_of(id_.get());
}

Status CmRequest::accept(const CmWord& own) {
  const Packed packed = pack(own);
  rdma_conn_param param = parameters(own, packed);
  if (rdma_accept(id_.get(), &param) != 0) {
    return os_failure("cannot accept a connection", errno);
  }
  accepted_ = true;
  return Status();
}

Result<std::unique_ptr<CmListener>> CmListener::listen(const sockaddr* address) {
  std::unique_ptr<CmListener> listener(new CmListener());
  REMORA_TRY_RESULT(channel, make_channel());
  listener->channel_ = std::move(channel).value();
  REMORA_TRY_RESULT(id, make_id(listener->channel_.get()));
  listener->id_ = std::move(id).value();
  if (rdma_bind_addr(listener->id_.get(), const_cast<sockaddr*>(address)) != 0 ||
      rdma_listen(listener->id_.get(), backlog) != 0) {
    return os_failure("cannot listen for RDMA connections", errno);
  }
  return listener;
}

// Other events are of connections that are made already: those who have them know.
std::unique_ptr<CmRequest> CmListener::next() {
  rdma_cm_event* event = nullptr;
  std::unique_ptr<CmRequest> request;
  while (request == nullptr && rdma_get_cm_event(channel_.get(), &event) == 0) {
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      CmId id(event->id);
      const Result<CmWord> word = unpack(event->param.conn);
      if (word.ok()) {
        request = std::make_unique<CmRequest>(std::move(id), *word);
      } else {
        rdma_reject(id.get(), nullptr, 0);
        rdma_ack_cm_event(std::exchange(event, nullptr));  // before the end of its connection
      }
    }
    if (event != nullptr) {
      rdma_ack_cm_event(event);
    }
  }
  return request;
}

std::uint16_t CmListener::port() const {
  return be16toh(rdma_get_src_port(id_.get()));
}

}  // namespace remora::fabric::verbs
