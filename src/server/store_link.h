// StoreLink: a process's way to a StoreHost, on the same machine or across the network, and the
// StoreClient at its end.
//
//   Result<std::unique_ptr<StoreLink>> link = co_await StoreLink::connect(loop, path);
//   Status status = co_await (*link)->store().put(key, value);
//
// When the host goes, every operation fails with `closed`, for good: connect anew.
//
// One thread, the loop's. The loop outlives the link. No operation is in flight when the link goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "fabric/nic/core/nic.h"
#include "fabric/verbs/verbs_device.h"
#include "kv/store.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "server/facts.h"
#include "server/local_wire.h"
#include "server/session_message.h"
#include "server/token_proof.h"

namespace remora::server {

struct StoreLinkOptions {
  // On this machine. `roce` goes with `network`, and says that no RDMA device may be in between.
  LocalFabric fabric = LocalFabric::mapped;
  // Which RDMA device to use, and that the host must be reached through one; otherwise, where the
  // host is, the first that works.
  std::optional<fabric::verbs::VerbsOptions> verbs = {};
  // Where a host listens on the network: then the path means nothing, and a token is needed.
  std::optional<fabric::nic::IpEndpoint> network = {};
  // By TLS: the certificate must be of that host.
  std::shared_ptr<TlsContext> tls = {};
  std::string tls_host = {};
  std::string engine = {};  // that it must be; empty: whichever serves there
  // Where it does not say how values travel, small ones are put within requests on this machine.
  kv::ClientOptions client = {.connect = patient_connect};
  std::uint64_t timeout_ns = 10'000'000'000;  // for each answer while connecting
  std::string token = {};  // to prove that it is known, it does not travel; empty: by the user
};

class StoreLink final : private fabric::nic::LinkOwner {
 public:
  // Fails with not_found when nobody listens at the path, with timed_out when nobody answers, with
  // unsupported when an RDMA device is asked for and this machine has none, or with the host's
  // reason.
  static Task<Result<std::unique_ptr<StoreLink>>> connect(Runtime& runtime, std::string path,
                                                          StoreLinkOptions options = {});
  StoreLink(const StoreLink&) = delete;
  StoreLink& operator=(const StoreLink&) = delete;
  ~StoreLink() override;

  kv::StoreClient& store() { return *store_; }
  const kv::Engine& engine() const { return *engine_; }
  // What the host lets this client do.
  const std::string& role() const { return role_; }
  // What the host tells of itself. One question at a time.
  Task<Result<Facts>> stat();
  // Asks the host to stop; its last facts.
  Task<Result<Facts>> stop();
  // Asks the host to verify all that lives; its facts before that.
  Task<Result<Facts>> scrub();
  // Which way requests go, found out by making some: `mapped` when this process works on the pool
  // by itself, `ring` when the host does it; `roce` across the network. Of the software RNIC.
  Task<LocalFabric> wire_taken();
  // The RDMA device that they go by instead, if it is so.
  const fabric::Device* rdma() const { return rdma_.get(); }
  Host host() { return Host(runtime_, device()); }
  fabric::DeviceCounters counters() const { return device().counters(); }

 private:
  const fabric::Device& device() const { return rdma_ ? *rdma_ : *nic_; }
  fabric::Device& device() { return rdma_ ? *rdma_ : *nic_; }
  using Answer = Completion<Result<SessionMessage>>;
  // The host has had its time to answer.
  class Patience final : public Timer {
   public:
    explicit Patience(StoreLink& link) : link_(link) {}
    void expire() override;

   private:
    StoreLink& link_;
  };

  StoreLink(Runtime& runtime, const StoreLinkOptions& options);

  Task<Status> join(std::string path);
  Status choose_device(const SessionMessage& offer);
  // Sends, and waits for an answer of that kind. The message is the caller's until it ends.
  Task<Result<SessionMessage>> exchange(const SessionMessage& message, SessionKind expected);
  void answered(Result<SessionMessage> result);
  void control(fabric::nic::LinkId link, ConstBytes bytes) override;
  void link_down(fabric::nic::LinkId link) override;
  void refused(const Status& reason) override { answered(reason); }

  Task<Result<Facts>> facts(SessionKind kind);
  // Puts the proof into it that this side knows its token, if it has one.
  void add_proof(SessionMessage& message);

  Runtime& runtime_;
  StoreLinkOptions options_;
  ProofTalk talk_;
  std::uint32_t proofs_ = 0;  // that were sent
  std::string role_;
  const kv::Engine* engine_ = nullptr;
  // Members are destroyed from the last to the first.
  std::unique_ptr<LocalWire> wire_;
  fabric::nic::LinkId link_ = 0;
  fabric::nic::PlainDma dma_;
  std::unique_ptr<fabric::nic::Nic> nic_;
  std::unique_ptr<fabric::Device> rdma_;  // that the store is reached through, if it is not nic_
  std::unique_ptr<kv::StoreClient> store_;
  Answer* answer_ = nullptr;  // while one is waited for
  Patience patience_{*this};
};

}  // namespace remora::server
