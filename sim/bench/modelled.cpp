#include "sim/bench/modelled.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "pmem/pool.h"
#include "runtime/virtual_loop.h"
#include "runtime/when_all.h"
#include "sim/bench/client_run.h"
#include "sim/bench/costs.h"
#include "sim/bench/machine.h"
#include "sim/bench/plain_region.h"
#include "sim/bench/sizes.h"

namespace remora::store_bench {

using fabric::nic::Profile;
using fabric::nic::SimNetwork;

namespace {

constexpr std::uint64_t quiet_look_ns = 20'000;
constexpr int quiet_looks = 50'000;  // a second of virtual time
constexpr int events_per_look = 8192;
constexpr CoreId request_core = 0;
constexpr CoreId background_core = 1;
constexpr CoreId first_client_core = 2;

struct Client {
  std::unique_ptr<Machine> machine;
  std::unique_ptr<kv::StoreClient> store;
  std::unique_ptr<ClientRun> run;
};

class ModelledRun {
 public:
  ModelledRun(const ModelledOptions& options, const kv::Engine& engine, const Profile& profile)
      : options_(options),
        plan_(options.plan),
        engine_(engine),
        costs_(costs_of(profile)),
        loop_({.seed = plan_.seed}),
        network_(loop_, profile.nic, profile.memory, Random(mix(plan_.seed))),
        inserts_(plan_.records, plan_.clients) {
    loop_.add_cores(first_client_core + plan_.clients);
  }

  Result<ModelledReport> run() {
    REMORA_TRY(start_server());
    for (std::uint32_t client = 0; client < plan_.clients; ++client) {
      REMORA_TRY(start_client(client));
    }
    REMORA_TRY(load());
    all_clients([](ClientRun& run) { return run.warm_up(); });
    return measure();
  }

 private:
  Status start_server() {
    const std::uint64_t pool_bytes =
        options_.pool_bytes != 0 ? options_.pool_bytes : pool_bytes_for(plan_);
    Result<std::unique_ptr<PlainRegion>> region = PlainRegion::create(pool_bytes);
    if (!region.ok()) {
      return region.status();
    }
    region_ = std::move(region).value();
    Result<std::unique_ptr<Pool>> pool = Pool::create(*region_, {});
    if (!pool.ok()) {
      return pool.status();
    }
    pool_ = std::move(pool).value();
    machine_ = std::make_unique<Machine>(loop_, network_, seed_for(0));
    Result<std::unique_ptr<kv::StoreServer>> server = engine_.start_server(
        Host(loop_, machine_->nic, region_.get(), Faults(), costs_, request_core, &server_cpu_),
        *pool_, server_options_for(plan_, options_.server));
    if (!server.ok()) {
      return server.status();
    }
    server_ = std::move(server).value();
    return {};
  }

  Status start_client(std::uint32_t number) {
    Client& client = clients_.emplace_back();
    client.machine = std::make_unique<Machine>(loop_, network_, seed_for(number + 1));
    const Host host(loop_, client.machine->nic, nullptr, Faults(), costs_,
                    first_client_core + number, &client_cpu_);
    Result<std::unique_ptr<kv::PendingClient>> pending =
        engine_.start_client(host, client_options_for(plan_, options_.depth));
    if (!pending.ok()) {
      return pending.status();
    }
    const Result<kv::PeerAddress> address = server_->accept((*pending)->address());
    if (!address.ok()) {
      return address.status();
    }
    Result<std::unique_ptr<kv::StoreClient>> store = loop_.block_on((*pending)->connect(*address));
    if (!store.ok()) {
      return store.status();
    }
    client.store = std::move(store).value();
    client.run = std::make_unique<ClientRun>(
        host, *client.store, plan_, inserts_, meter_,
        ClientRunOptions{.client = number,
                         .depth = options_.depth,
                         .load_depth = load_depth_for(plan_, options_.depth),
                         .put = {.durability = options_.durability},
                         .check_values = options_.check_values});
    return {};
  }

  Status load() {
    all_clients([](ClientRun& run) { return run.load(); });
    for (const Client& client : clients_) {
      REMORA_TRY(client.run->first_failure());
    }
    for (int look = 0; look < quiet_looks && server_->busy(); ++look) {
      (void)loop_.run_for(quiet_look_ns);
    }
    return {};
  }

  ModelledReport measure() {
    server_cpu_ = {};
    client_cpu_ = {};
    const std::uint64_t begin_ns = loop_.now_ns();
    const std::uint64_t request_ns = loop_.busy_ns(request_core);
    const std::uint64_t background_ns = loop_.busy_ns(background_core);
    all_clients([](ClientRun& run) { return run.measure(); });
    const std::uint64_t span_ns = loop_.now_ns() - begin_ns;
    const auto load_of = [&](CoreId core, std::uint64_t before_ns) {
      return span_ns == 0 ? 0
                          : static_cast<double>(loop_.busy_ns(core) - before_ns) /
                                static_cast<double>(span_ns);
    };
    ModelledReport report;
    static_cast<Report&>(report) = report_of(meter_, span_ns);
    report.server_cpu = server_cpu_;
    report.client_cpu = client_cpu_;
    report.server_core_load = load_of(request_core, request_ns);
    report.background_core_load = load_of(background_core, background_ns);
    for (const kv::StoreServer::Counter& counter : server_->counters()) {
      report.counters.emplace_back(counter.name, counter.value);
    }
    for (const Client& client : clients_) {
      if (report.first_failure.ok()) {
        report.first_failure = client.run->first_failure();
      }
    }
    report.events = loop_.events();
    report.trace_hash = loop_.trace_hash();
    return report;
  }

  // Lets every client begin a phase, and runs until all have ended it.
  template <typename Phase>
  void all_clients(Phase phase) {
    using Flow = decltype(phase(*clients_.front().run));
    std::vector<Flow> flows;
    for (Client& client : clients_) {
      flows.push_back(phase(*client.run));
    }
    const auto running = [](const Flow& flow) { return !flow.finished(); };
    RunState state = RunState::running;
    while (state == RunState::running && std::ranges::any_of(flows, running)) {
      // Whether the last has ended is asked after each event, so that time does not go on.
      const Flow& waited = *std::ranges::find_if(flows, running);
      for (int i = 0; i < events_per_look && state == RunState::running && !waited.finished();
           ++i) {
        state = loop_.step();
      }
      show_progress();
    }
    REMORA_CHECK(state == RunState::running, "an operation of the store under test never ends");
  }

  void show_progress() const {
    if (!options_.progress) {
      return;
    }
    std::uint64_t performed = 0;
    for (const Client& client : clients_) {
      performed += client.run->performed();
    }
    options_.progress(performed, plan_.records + plan_.warm_up + plan_.operations);
  }

  std::uint64_t seed_for(std::uint64_t machine) const { return mix(plan_.seed + mix(machine)); }

  // Members are destroyed from the last to the first.
  const ModelledOptions& options_;
  const workload::Plan& plan_;
  const kv::Engine& engine_;
  const HostCosts costs_;
  HostTally server_cpu_;
  HostTally client_cpu_;
  VirtualLoop loop_;
  SimNetwork network_;
  workload::Inserts inserts_;
  workload::Meter meter_;
  std::unique_ptr<PlainRegion> region_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<kv::StoreServer> server_;
  std::vector<Client> clients_;
};

}  // namespace

Report report_of(const workload::Meter& meter, std::uint64_t span_ns) {
  Report report;
  report.ops_per_s = meter.operations_per_second(span_ns);
  report.span_ns = span_ns;
  report.all = meter.summary();
  for (const workload::Kind kind : workload::all_kinds) {
    report.kinds[static_cast<std::size_t>(kind)] = meter.summary(kind);
  }
  return report;
}

Result<ModelledReport> run_modelled(const ModelledOptions& options) {
  REMORA_TRY(workload::validate(options.plan));
  if (options.depth == 0) {
    return Status(Code::invalid_argument, "a client has at least one operation in flight");
  }
  const Result<const kv::Engine*> engine = kv::find_engine(options.engine);
  if (!engine.ok()) {
    return engine.status();
  }
  const Result<Profile> profile = fabric::nic::load_profile(options.profile);
  if (!profile.ok()) {
    return profile.status();
  }
  return std::make_unique<ModelledRun>(options, **engine, *profile)->run();
}

}  // namespace remora::store_bench
