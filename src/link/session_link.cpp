#include "link/session_link.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "fabric/verbs/device_list.h"

namespace remora::link {

using fabric::nic::Keys;
using fabric::nic::LinkId;
using fabric::nic::Nic;

SessionLink::SessionLink(Runtime& runtime, const SessionOptions& options)
    : runtime_(runtime), options_(options) {}

SessionLink::~SessionLink() = default;

Task<Result<std::unique_ptr<SessionLink>>> SessionLink::connect(Runtime& runtime, std::string path,
                                                                SessionOptions options) {
  if (options.verbs && fabric::verbs::device_names().empty()) {
    co_return fabric::verbs::no_device();  // whatever the host is
  }
  std::unique_ptr<SessionLink> link(new SessionLink(runtime, options));
  Result<Wires> wire = Status(Code::closed, "not connected");
  if (options.network) {
    fabric::nic::roce::RoceNetOptions net;
    net.tls = options.tls;
    net.tls_host = options.tls_host;
    wire = co_await Wires::connect_to(runtime, *link, *options.network, std::move(net));
  } else {
    wire = Wires::create(runtime, link.get(), options.fabric);
  }
  REMORA_CO_TRY(wire.status());
  link->wire_ = std::make_unique<Wires>(std::move(wire).value());
  link->nic_ = std::make_unique<Nic>(runtime, link->wire_->device_wire(), link->dma_,
                                     fabric::nic::NicOptions{.keys = Keys::from_system()});
  REMORA_CO_TRY(co_await link->ask(std::move(path)));
  co_return link;
}

Task<Status> SessionLink::ask(std::string path) {
  if (const std::optional<LinkId> linked = wire_->network_link()) {
    link_ = *linked;
  } else {
    REMORA_CO_TRY_RESULT(link, co_await wire_->wire().connect(std::move(path)));
    link_ = *link;
  }
  talk_.client = fresh_nonce();
  const SessionMessage ask{
      .kind = SessionKind::ask, .service = options_.service, .nonce = talk_.client};
  REMORA_CO_TRY_RESULT(offer, co_await exchange(ask, SessionKind::offer));
  if (!options_.design.empty() && options_.design != offer->design) {
    co_return Status(Code::invalid_argument,
                     fmt::format("{} serves the {} here, not {}", offer->design, options_.service,
                                 options_.design));
  }
  design_ = offer->design;
  talk_.host = offer->nonce;
  co_return choose_device(*offer);
}

// The device that the host is reached through: the software RNIC, or one of this machine's own.
Status SessionLink::choose_device(const SessionMessage& offer) {
  if (offer.text != offers_verbs) {
    return options_.verbs ? Status(Code::invalid_argument,
                                   "this store is not reached through an RDMA device; serve it "
                                   "with --fabric verbs, or leave that out here")
                          : Status();
  }
  if (options_.fabric == WireKind::roce) {
    return Status(Code::invalid_argument,
                  "this store is reached through RDMA devices, not by RoCE in software; leave "
                  "--fabric out, or say --fabric verbs");
  }
  auto opened =
      fabric::verbs::VerbsDevice::open(options_.verbs.value_or(fabric::verbs::VerbsOptions()));
  if (!opened.ok()) {
    return Status(opened.code(), "this store is reached through RDMA devices: " +
                                     std::string(opened.status().message()));
  }
  rdma_ = std::move(opened).value();
  return Status();
}

fabric::ConnectOptions SessionLink::patience() const {
  if (rdma_) {
    return rdma_connect;
  }
  return is_network() ? network_connect : patient_connect;
}

Task<Result<fabric::QueuePairAddress>> SessionLink::join(fabric::QueuePairAddress own) {
  SessionMessage join{
      .kind = SessionKind::join, .service = options_.service, .design = design_, .queue_pair = own};
  add_proof(join);
  REMORA_CO_TRY_RESULT(welcome, co_await exchange(join, SessionKind::welcome));
  if (!options_.token.empty() && !is_proven(options_.token, ProofSide::host, talk_, 0, *welcome)) {
    co_return Status(Code::permission_denied,
                     "the store has not proved that it knows the token: it may be another one");
  }
  role_ = welcome->text;
  co_return welcome->queue_pair;
}

Task<Result<Facts>> SessionLink::grow(std::uint64_t size_bytes, std::string pool_file) {
  std::string text = std::to_string(size_bytes);
  if (!pool_file.empty()) {
    struct stat file {};
    if (::stat(pool_file.c_str(), &file) != 0) {
      co_return os_failure("cannot look at " + pool_file, errno);
    }
    text += " " + std::to_string(file.st_dev) + " " + std::to_string(file.st_ino);
  }
  co_return co_await facts(SessionKind::grow, std::move(text));
}

Task<Result<Facts>> SessionLink::facts(SessionKind kind, std::string text) {
  SessionMessage question{.kind = kind, .text = std::move(text)};
  add_proof(question);
  REMORA_CO_TRY_RESULT(told, co_await exchange(question, SessionKind::facts));
  co_return parse_facts(told->facts);
}

void SessionLink::add_proof(SessionMessage& message) {
  if (!options_.token.empty()) {
    message.proof = prove(options_.token, ProofSide::client, talk_, proofs_++, message);
  }
}

// --- Messages ---

Task<Result<SessionMessage>> SessionLink::exchange(const SessionMessage& message,
                                                   SessionKind expected) {
  Answer answer(runtime_);
  REMORA_CO_TRY(wire_->send_control(link_, encode(message)));
  answer_ = &answer;
  runtime_.arm(patience_, runtime_.after(options_.timeout_ns));
  Result<SessionMessage> result = co_await answer;
  patience_.disarm();
  REMORA_CO_TRY(result.status());
  if (result->kind == SessionKind::refusal) {
    co_return result->reason;
  }
  if (result->kind != expected) {
    co_return Status(Code::closed, "the store host sent an answer to no question");
  }
  co_return result;
}

void SessionLink::answered(Result<SessionMessage> result) {
  if (answer_ != nullptr) {
    std::exchange(answer_, nullptr)->set(std::move(result));
  }
}

void SessionLink::control(LinkId link, ConstBytes bytes) {
  if (link == link_) {
    answered(decode(bytes));
  }
}

void SessionLink::link_down(LinkId link) {
  if (link == link_) {
    answered(Status(Code::closed, "the store host has closed the link, or is gone"));
  }
}

void SessionLink::Patience::expire() {
  link_.answered(Status(Code::timed_out, "the store host does not answer"));
}

}  // namespace remora::link
