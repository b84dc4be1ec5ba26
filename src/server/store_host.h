// StoreHost: a store that other processes use. It has the pool, the engine's server, a software
// RNIC, and where clients come in (StoreLink is their side): a Unix socket for those of this
// machine, an address for those of others, or both. Other services of the same pool can be served
// at the same doors.
//
// The pool is a file, which is recovered when there is a store in it, or memory that goes with the
// host. A client is let in by the messages of session_message.h, with the role that the access
// rules give it (access.h) and no right beyond that; whatever it does, it can harm itself and no
// other client. One that says nothing, or nonsense, is cut off.
//
// One thread, the loop's, and a worker beside it if the options say so; nothing blocks after
// `open`, but for a commit that every client waits for. The loop outlives the host. Destroying it
// closes every connection: clients find their store closed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fabric/nic/device/nic.h"
#include "fabric/verbs/verbs_device.h"
#include "kv/store.h"
#include "link/access.h"
#include "link/facts.h"
#include "link/session_message.h"
#include "link/token_proof.h"
#include "link/wires.h"
#include "link/wrong_tries.h"
#include "pmem/pool_file.h"
#include "runtime/runtime.h"
#include "runtime/worker.h"
#include "server/durability_words.h"
#include "server/pool_growth.h"
#include "server/store_service.h"

namespace remora::server {

struct StoreHostOptions {
  std::string engine = "efactory";
  std::string socket_path = {};  // empty: the network alone
  // On the network: whoever comes there needs a token, and speaks TLS where that is given.
  std::optional<fabric::nic::roce::IpEndpoint> listen = {};
  std::shared_ptr<TlsContext> tls = {};
  link::WireKind fabric = link::WireKind::mapped;
  // The store is reached through this RDMA device; what `fabric` makes is then for messages alone.
  std::optional<fabric::verbs::VerbsOptions> verbs = {};
  std::string pool_path = {};  // made if it is not there; empty: memory
  Media media = Media::automatic;
  std::uint64_t pool_bytes = std::uint64_t{64} << 20;  // of a pool that is made
  // `create` is the host's to say.
  kv::ServerOptions server = {.verified_bytes = kv::verified_by_server_bytes,
                              .connect = link::patient_connect};
  std::uint64_t join_timeout_ns = 10'000'000'000;  // from the link until the welcome
  // Of peers from the network, which anybody can be: the same, and how many may not have joined.
  std::uint64_t stranger_timeout_ns = 5'000'000'000;
  std::uint32_t strangers = 64;
  std::uint32_t strangers_of_address = 16;
  link::AccessRules access = {};
  std::uint32_t threads = 1;  // 2: a worker for long pieces of background work
  std::string version = {};   // of the program, for its facts
};

class StoreHost final : private fabric::nic::LinkOwner {
 public:
  // Opens or makes the pool, starts the engine, listens. Fails with what is wrong: the engine's
  // name, the pool, the socket's path.
  static Result<std::unique_ptr<StoreHost>> open(Runtime& runtime, const StoreHostOptions& options);
  // For who finds that something beside the store cannot be had, before anybody was let in: removes
  // the pool's file if this host has made it.
  void undo_pool();
  StoreHost(const StoreHost&) = delete;
  StoreHost& operator=(const StoreHost&) = delete;
  ~StoreHost() override;

  // The orderly end, once the store is quiet: marks say where everything ends, and the pool's log
  // has nothing to replay. Nothing can be changed afterwards.
  Status finish();

  // Lets nobody in any more and cuts off who is there. What they were granted is settled by the
  // loop: the store is quiet some time later, and all that it acknowledged is then as persistent as
  // engine and medium make it by themselves.
  void close_doors();
  // Other rules from now on. Who is there stays as it is.
  void change_access(const link::AccessRules& rules);
  // A client whose role allows it has asked for the end.
  bool stop_wanted() const { return stop_wanted_; }
  // It has not left yet: it may still wait for its answer.
  bool stopper_here() const { return stop_wanted_ && guests_.contains(stopper_); }

  // Makes the pool larger while it is served; facts tell how that goes. For who asks in words: the
  // size, and the device and the number of the file that must be the pool, or the size alone.
  Status grow(std::string_view request);
  Status grow(std::uint64_t size_bytes);
  void on_growth(std::function<void(std::uint64_t pool_bytes)> grown) {
    if (growth_) {
      growth_->on_growth(std::move(grown));
    }
  }
  // What a growth that is under way comes to, or 0; and how the last one ended.
  std::uint64_t growing_to() const { return growth_ ? growth_->under_way_to() : 0; }
  Status last_growth() const { return growth_ ? growth_->last() : Status(); }

  // Serves another service too, from now on. Its name is none that is served already. It is
  // destroyed before the store.
  void serve(std::unique_ptr<PoolService> service) { services_.push_back(std::move(service)); }
  // What such a service is handed, and where its roots are.
  Host handed() { return Host(runtime_, device(), &region()).with_worker(worker_.get()); }
  Pool& pool() { return file_ ? file_->pool() : *memory_pool_; }
  // Whether something that was acknowledged, by any service, is not yet as persistent as it becomes
  // by itself.
  bool busy() const;

  const kv::Engine& engine() const { return *engine_; }
  kv::StoreServer& store() { return store_->store(); }
  const Strategy& strategy() { return region().strategy(); }
  Survives survives() { return memory_ ? Survives::nothing : survives_of(strategy()); }
  // Success, or why the store has failed for good: nothing becomes persistent any more.
  Status failure() { return region().failure(); }
  // Whether there was a store in the pool, which was recovered.
  bool recovered() const { return recovered_; }
  // The file may be longer: a growth that was cut has extended it first.
  std::uint64_t pool_bytes() { return pool().size_bytes(); }
  // Where it listens on the network, if it does.
  std::optional<fabric::nic::roce::IpEndpoint> network_endpoint() const {
    return wire_->network_endpoint();
  }
  fabric::DeviceCounters counters() const { return device().counters(); }
  // The RDMA device that it is reached through, if it is.
  const fabric::Device* rdma() const { return rdma_.get(); }
  // What a person wants to know; see docs/formats/session.md.
  Facts facts();
  // What others that serve the same store tell besides, from now on.
  void tell_also(std::function<Facts()> more) { more_facts_ = std::move(more); }

  // Links, of clients that have joined and of those that have not yet.
  std::size_t links() const { return guests_.size(); }
  // Clients that have joined, by the way that they reach the pool: by loads and stores of their
  // own, by requests through shared memory, from the network, through RDMA devices.
  struct ClientsByWire {
    std::size_t mapped = 0;
    std::size_t ring = 0;
    std::size_t roce = 0;
    std::size_t verbs = 0;
  };
  ClientsByWire clients_by_wire() const;
  // Links that came, and attempts that were refused, since the beginning.
  std::uint64_t links_total() const { return links_total_; }
  std::uint64_t refusals_total() const { return refusals_total_; }
  std::uint64_t uptime_ns() const { return runtime_.now_ns() - opened_ns_; }

 private:
  const fabric::Device& device() const { return rdma_ ? *rdma_ : *nic_; }
  fabric::Device& device() { return rdma_ ? *rdma_ : *nic_; }
  struct Guest {
    bool joined = false;
    bool from_network = false;
    std::uint64_t give_up_ns = 0;  // if it has not joined
    uid_t uid = 0;
    fabric::Gid address{};  // where it comes from the network
    // Once it has asked; and how often it has proved, or tried to, that it knows a token.
    std::optional<link::ProofTalk> talk = {};
    std::uint32_t proofs = 0;

    // Places are for clients. A peer from the network is none before it has joined.
    bool has_place() const { return joined || !from_network; }
  };
  // Looks for links that do not join.
  class Porter final : public Timer {
   public:
    explicit Porter(StoreHost& host) : host_(host) {}
    void expire() override { host_.cut_off_the_silent(); }

   private:
    StoreHost& host_;
  };

  StoreHost(Runtime& runtime, const StoreHostOptions& options, const kv::Engine& engine);

  mode_t socket_mode() const { return access_.for_others() ? 0666 : 0600; }
  Status open_pool();
  Status start();
  Result<link::Wires> make_wire();
  Region& region() { return file_ ? file_->region() : *memory_; }
  std::size_t clients() const;
  // The service of that name, or a failure that lists those that there are.
  Result<PoolService*> find_service(std::string_view name) const;

  Status admit(const fabric::nic::HostPeer& peer) override;
  Status admit_stranger(const fabric::nic::HostPeer& peer);
  Status find_place() const;
  void refused(const Status&) override { ++refusals_total_; }
  void link_up(fabric::nic::LinkId link, const fabric::nic::HostPeer& peer) override;
  void link_down(fabric::nic::LinkId link) override;
  void control(fabric::nic::LinkId link, ConstBytes bytes) override;
  Result<link::SessionMessage> answer(fabric::nic::LinkId link,
                                      const link::SessionMessage& message);
  Result<link::SessionMessage> join(fabric::nic::LinkId link, const link::SessionMessage& message);
  Result<link::SessionMessage> offer(fabric::nic::LinkId link, const link::SessionMessage& ask);
  struct Standing {
    link::Role role = link::Role::none;
    const link::TokenRule* by = nullptr;  // the token that gives it; null: its user does
  };
  Result<Standing> standing(fabric::nic::LinkId link, const link::SessionMessage& message);
  Result<Standing> standing_by_token(Guest& guest, const link::SessionMessage& message);
  void cut_off_the_silent();

  Runtime& runtime_;
  const StoreHostOptions options_;
  link::AccessRules access_;
  const kv::Engine* engine_;
  const uid_t own_uid_;
  const std::uint64_t opened_ns_;
  bool made_file_ = false;
  bool recovered_ = false;
  bool closed_ = false;
  bool stop_wanted_ = false;
  fabric::nic::LinkId stopper_ = 0;  // who asked for that
  std::uint64_t links_total_ = 0;
  std::uint64_t refusals_total_ = 0;
  // Members are destroyed from the last to the first.
  std::unique_ptr<PoolFile> file_;
  std::unique_ptr<Region> memory_;
  std::unique_ptr<Pool> memory_pool_;
  std::unique_ptr<link::Wires> wire_;
  fabric::nic::PlainDma dma_;
  std::unique_ptr<fabric::nic::Nic> nic_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<fabric::Device> rdma_;  // that the store is reached through, if it is not nic_
  std::vector<std::unique_ptr<PoolService>> services_;
  StoreService* store_ = nullptr;       // the first of them
  std::unique_ptr<PoolGrowth> growth_;  // where the pool is a file
  std::map<fabric::nic::LinkId, Guest> guests_;
  link::WrongTries wrong_tries_;
  Porter porter_{*this};
  std::function<Facts()> more_facts_;
};

}  // namespace remora::server
