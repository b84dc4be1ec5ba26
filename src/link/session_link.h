// SessionLink: a process's way to a host of services, on the same machine or across the network.
// It asks for a service, is told which design serves it, and joins that with a queue pair. What
// both say to each other by their queue pairs is the service's; StoreLink is the link of a store.
//
// When the host goes, queue pairs end, for good: connect anew.
//
// One thread, the loop's. The loop outlives the link. What uses its device goes before it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "fabric/nic/device/nic.h"
#include "fabric/verbs/verbs_device.h"
#include "host/host.h"
#include "link/facts.h"
#include "link/session_message.h"
#include "link/token_proof.h"
#include "link/wires.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::link {

struct SessionOptions {
  std::string service = std::string(store_service);
  std::string design = {};  // that must serve it; empty: whichever does
  // On this machine. `roce` goes with `network`, and says that no RDMA device may be in between.
  WireKind fabric = WireKind::mapped;
  // Which RDMA device to use, and that the host must be reached through one; otherwise, where the
  // host is, the first that works.
  std::optional<fabric::verbs::VerbsOptions> verbs = {};
  // Where a host listens on the network: then the path means nothing, and a token is needed.
  std::optional<fabric::nic::roce::IpEndpoint> network = {};
  // By TLS: the certificate must be of that host.
  std::shared_ptr<TlsContext> tls = {};
  std::string tls_host = {};
  std::uint64_t timeout_ns = 10'000'000'000;  // for each answer while connecting
  std::string token = {};  // to prove that it is known, it does not travel; empty: by the user
};

class SessionLink final : private fabric::nic::LinkOwner {
 public:
  // Ends when the host has offered the service. Fails with not_found when nobody listens at the
  // path, with timed_out when nobody answers, with unsupported when an RDMA device is asked for and
  // this machine has none, or with the host's reason.
  static Task<Result<std::unique_ptr<SessionLink>>> connect(Runtime& runtime, std::string path,
                                                            SessionOptions options = {});
  SessionLink(const SessionLink&) = delete;
  SessionLink& operator=(const SessionLink&) = delete;
  ~SessionLink() override;

  // Which design serves the service.
  const std::string& design() const { return design_; }
  // Joins it, once, with a queue pair of this link's device: the host's, to connect to.
  Task<Result<fabric::QueuePairAddress>> join(fabric::QueuePairAddress own);
  // What the host lets this client do, once it has joined.
  const std::string& role() const { return role_; }

  // What the host tells of itself. One question at a time.
  Task<Result<Facts>> stat() { return facts(SessionKind::stat); }
  // Asks the host to stop; its last facts.
  Task<Result<Facts>> stop() { return facts(SessionKind::stop); }
  // Asks the host to verify all that lives in its store; its facts before that.
  Task<Result<Facts>> scrub() { return facts(SessionKind::scrub); }
  // Asks the host to make its pool so large; its facts when that has begun. With a file, only if
  // that is the pool.
  Task<Result<Facts>> grow(std::uint64_t size_bytes, std::string pool_file);

  bool is_network() const { return wire_->network_link().has_value(); }
  // The RDMA device that the host is reached through, or null: by the software RNIC.
  const fabric::Device* rdma() const { return rdma_.get(); }
  // How long queue pairs on the way to this host are patient.
  fabric::ConnectOptions patience() const;
  Host host() { return Host(runtime_, device()); }
  fabric::DeviceCounters counters() const { return rdma_ ? rdma_->counters() : nic_->counters(); }
  // Requests that the software RNIC has done by itself, on memory of the host.
  std::uint64_t short_cuts() const { return nic_->counters().requests_short_cut; }

 private:
  fabric::Device& device() { return rdma_ ? *rdma_ : *nic_; }
  using Answer = Completion<Result<SessionMessage>>;
  // The host has had its time to answer.
  class Patience final : public Timer {
   public:
    explicit Patience(SessionLink& link) : link_(link) {}
    void expire() override;

   private:
    SessionLink& link_;
  };

  SessionLink(Runtime& runtime, const SessionOptions& options);

  Task<Status> ask(std::string path);
  Status choose_device(const SessionMessage& offer);
  // Sends, and waits for an answer of that kind. The message is the caller's until it ends.
  Task<Result<SessionMessage>> exchange(const SessionMessage& message, SessionKind expected);
  void answered(Result<SessionMessage> result);
  void control(fabric::nic::LinkId link, ConstBytes bytes) override;
  void link_down(fabric::nic::LinkId link) override;
  void refused(const Status& reason) override { answered(reason); }

  Task<Result<Facts>> facts(SessionKind kind, std::string text = {});
  // Puts the proof into it that this side knows its token, if it has one.
  void add_proof(SessionMessage& message);

  Runtime& runtime_;
  const SessionOptions options_;
  ProofTalk talk_;
  std::uint32_t proofs_ = 0;  // that were sent
  std::string design_;
  std::string role_;
  // Members are destroyed from the last to the first.
  std::unique_ptr<Wires> wire_;
  fabric::nic::LinkId link_ = 0;
  fabric::nic::PlainDma dma_;
  std::unique_ptr<fabric::nic::Nic> nic_;
  std::unique_ptr<fabric::Device> rdma_;  // that the host is reached through, if it is not nic_
  Answer* answer_ = nullptr;              // while one is waited for
  Patience patience_{*this};
};

}  // namespace remora::link
