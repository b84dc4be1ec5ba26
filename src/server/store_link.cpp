#include "server/store_link.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "fabric/verbs/device_list.h"

namespace remora::server {

using fabric::nic::Keys;
using fabric::nic::LinkId;
using fabric::nic::Nic;

namespace {

// Up to which a value travels within the request of a put through shared memory. There a message
// costs both sides less than the second half of such a put: the client's WRITE, and the checksum of
// a value that the server did not see come. Values of 4 KB are better copied once.
constexpr std::uint32_t local_whole_value_bytes = 512;

}  // namespace

StoreLink::StoreLink(Runtime& runtime, const StoreLinkOptions& options)
    : runtime_(runtime), options_(options) {}

StoreLink::~StoreLink() = default;

Task<Result<std::unique_ptr<StoreLink>>> StoreLink::connect(Runtime& runtime, std::string path,
                                                            StoreLinkOptions options) {
  if (options.verbs && fabric::verbs::device_names().empty()) {
    co_return fabric::verbs::no_device();  // whatever the store is
  }
  if (options.network) {
    options.client.connect = network_connect;
  }
  std::unique_ptr<StoreLink> link(new StoreLink(runtime, options));
  Result<LocalWire> wire = Status(Code::closed, "not connected");
  if (options.network) {
    fabric::nic::RoceNetOptions net;
    net.tls = options.tls;
    net.tls_host = options.tls_host;
    wire = co_await LocalWire::connect_to(runtime, *link, *options.network, std::move(net));
  } else {
    wire = LocalWire::create(runtime, link.get(), options.fabric);
  }
  if (!wire.ok()) {
    co_return wire.status();
  }
  link->wire_ = std::make_unique<LocalWire>(std::move(wire).value());
  link->nic_ = std::make_unique<Nic>(runtime, link->wire_->device_wire(), link->dma_,
                                     fabric::nic::NicOptions{.keys = Keys::from_system()});
  const Status status = co_await link->join(std::move(path));
  if (!status.ok()) {
    co_return status;
  }
  co_return link;
}

// The device that the store is reached through: the software RNIC, or one of this machine's own.
Status StoreLink::choose_device(const SessionMessage& offer) {
  if (offer.text != offers_verbs) {
    return options_.verbs ? Status(Code::invalid_argument,
                                   "this store is not reached through an RDMA device; serve it "
                                   "with --fabric verbs, or leave that out here")
                          : Status();
  }
  if (options_.fabric == LocalFabric::roce) {
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
  options_.client.connect = rdma_connect;
  return Status();
}

Task<Status> StoreLink::join(std::string path) {
  if (const std::optional<LinkId> linked = wire_->network_link()) {
    link_ = *linked;
  } else {
    const Result<LinkId> link = co_await wire_->wire().connect(std::move(path));
    if (!link.ok()) {
      co_return link.status();
    }
    link_ = *link;
  }
  talk_.client = fresh_nonce();
  const SessionMessage ask{.kind = SessionKind::ask, .nonce = talk_.client};
  const Result<SessionMessage> offer = co_await exchange(ask, SessionKind::offer);
  if (!offer.ok()) {
    co_return offer.status();
  }
  if (!options_.engine.empty() && options_.engine != offer->engine) {
    co_return Status(Code::invalid_argument, fmt::format("the store's engine is {}, not {}",
                                                         offer->engine, options_.engine));
  }
  const Result<const kv::Engine*> engine = kv::find_engine(offer->engine);
  if (!engine.ok()) {
    co_return engine.status();
  }
  engine_ = *engine;
  talk_.host = offer->nonce;
  if (const Status chosen = choose_device(*offer); !chosen.ok()) {
    co_return chosen;
  }
  if (!rdma_ && !options_.network && !options_.client.whole_value_bytes) {
    options_.client.whole_value_bytes = local_whole_value_bytes;
    options_.client.whole_gets = false;
  }
  Result<std::unique_ptr<kv::PendingClient>> pending =
      engine_->start_client(host(), options_.client);
  if (!pending.ok()) {
    co_return pending.status();
  }
  SessionMessage own{.kind = SessionKind::join,
                     .engine = offer->engine,
                     .queue_pair = (*pending)->address().queue_pair};
  add_proof(own);
  const Result<SessionMessage> welcome = co_await exchange(own, SessionKind::welcome);
  if (!welcome.ok()) {
    co_return welcome.status();
  }
  if (!options_.token.empty() && !is_proven(options_.token, ProofSide::host, talk_, 0, *welcome)) {
    co_return Status(Code::permission_denied,
                     "the store has not proved that it knows the token: it may be another one");
  }
  role_ = welcome->text;
  const kv::PeerAddress server{welcome->queue_pair};
  Result<std::unique_ptr<kv::StoreClient>> store = co_await (*pending)->connect(server);
  if (!store.ok()) {
    co_return store.status();
  }
  store_ = std::move(store).value();
  co_return Status();
}

// --- Questions about the host ---

Task<Result<Facts>> StoreLink::stat() {
  return facts(SessionKind::stat);
}

Task<Result<Facts>> StoreLink::stop() {
  return facts(SessionKind::stop);
}

Task<Result<Facts>> StoreLink::scrub() {
  return facts(SessionKind::scrub);
}

Task<Result<Facts>> StoreLink::facts(SessionKind kind) {
  SessionMessage question{.kind = kind};
  add_proof(question);
  const Result<SessionMessage> told = co_await exchange(question, SessionKind::facts);
  if (!told.ok()) {
    co_return told.status();
  }
  co_return parse_facts(told->facts);
}

void StoreLink::add_proof(SessionMessage& message) {
  if (!options_.token.empty()) {
    message.proof = prove(options_.token, ProofSide::client, talk_, proofs_++, message);
  }
}

// A key is asked about when it is first used, and the answer takes its time.
Task<LocalFabric> StoreLink::wire_taken() {
  constexpr int most_tries = 100;
  constexpr std::uint64_t between_ns = 100'000;
  if (wire_->network_link()) {
    co_return LocalFabric::roce;
  }
  const std::array<std::byte, 1> key = {};
  for (int i = 0; i < most_tries && nic_->counters().requests_short_cut == 0; ++i) {
    (void)co_await store_->get(key, {});
    co_await runtime_.sleep_for(between_ns);
  }
  co_return nic_->counters().requests_short_cut == 0 ? LocalFabric::ring : LocalFabric::mapped;
}

// --- Messages ---

Task<Result<SessionMessage>> StoreLink::exchange(const SessionMessage& message,
                                                 SessionKind expected) {
  Answer answer(runtime_);
  if (Status status = wire_->send_control(link_, encode(message)); !status.ok()) {
    co_return status;
  }
  answer_ = &answer;
  runtime_.arm(patience_, runtime_.after(options_.timeout_ns));
  Result<SessionMessage> result = co_await answer;
  patience_.disarm();
  if (!result.ok()) {
    co_return result.status();
  }
  if (result->kind == SessionKind::refusal) {
    co_return result->reason;
  }
  if (result->kind != expected) {
    co_return Status(Code::closed, "the store host answered what it was not asked");
  }
  co_return result;
}

void StoreLink::answered(Result<SessionMessage> result) {
  if (answer_ != nullptr) {
    std::exchange(answer_, nullptr)->set(std::move(result));
  }
}

void StoreLink::control(LinkId link, ConstBytes bytes) {
  if (link == link_) {
    answered(decode(bytes));
  }
}

void StoreLink::link_down(LinkId link) {
  if (link == link_) {
    answered(Status(Code::closed, "the store host has closed the link, or is gone"));
  }
}

void StoreLink::Patience::expire() {
  link_.answered(Status(Code::timed_out, "the store host does not answer"));
}

}  // namespace remora::server
