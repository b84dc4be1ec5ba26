#include "lab/run/modelled.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "fabric/nic/device/sim_machine.h"
#include "lab/run/client_run.h"
#include "lab/run/costs.h"
#include "lab/run/modelled_server.h"
#include "lab/run/sizes.h"
#include "lab/run/ways.h"
#include "runtime/virtual_loop.h"
#include "runtime/when_all.h"

namespace remora::store_bench {

using fabric::nic::sim::Profile;
using fabric::nic::sim::SimNetwork;

namespace {

constexpr std::uint64_t quiet_look_ns = 20'000;
constexpr int quiet_looks = 50'000;  // a second of virtual time
constexpr int events_per_look = 8192;
// Of what was put in the run and waited for by nobody.
double persistent_share_of(const kv::Engine& engine, kv::Durability durability,
                           std::uint64_t backlog, std::uint64_t puts) {
  const Acknowledged acknowledged = engine.promise().acknowledged;
  if (durability == kv::Durability::persistent || acknowledged == Acknowledged::persistent ||
      puts == 0) {
    return 1;
  }
  return acknowledged == Acknowledged::asynchronous
             ? 1 - static_cast<double>(std::min(backlog, puts)) / static_cast<double>(puts)
             : 0;
}

// What NICs place goes to the caches (DDIO), as fast as PCIe brings it. The medium has it when a
// core writes it back.
fabric::nic::sim::MemoryProfile cached(const Profile& profile) {
  fabric::nic::sim::MemoryProfile memory = profile.memory;
  memory.write_bytes_per_s = std::max(memory.write_bytes_per_s, profile.nic.pcie_bytes_per_s);
  return memory;
}

struct Client {
  std::unique_ptr<kv::StoreClient> store;
  std::unique_ptr<ClientRun> run;
};

class ModelledRun {
 public:
  ModelledRun(const ModelledOptions& options, const kv::Engine& engine, const Profile& profile)
      : options_(options),
        plan_(options.plan),
        sizes_(longest(options)),
        engine_(engine),
        profile_(profile),
        costs_(costs_of(profile)),
        loop_({.seed = plan_.seed}),
        network_(loop_, profile.nic, cached(profile), Random(mix(plan_.seed))),
        servers_(loop_, network_, profile_, options) {
    loop_.add_cores(plan_.clients);
    for (std::uint32_t client = 0; client < plan_.clients; ++client) {
      loop_.set_habit(servers_.next_core() + client, habit_of(options.client_use, profile));
    }
    for (std::uint32_t server = 0; server < options.servers; ++server) {
      parts_.push_back(part_of(server));
      inserts_.emplace_back(parts_.back().records, parts_.back().clients);
    }
  }

  Result<ModelledReport> run() {
    REMORA_TRY(servers_.start(engine_, sizes_, seed_for(0)));
    for (std::uint32_t client = 0; client < plan_.clients; ++client) {
      REMORA_TRY(start_client(client));
    }
    REMORA_TRY(load());
    begin();
    warm_up();
    ModelledReport report = measure();
    end(report);
    if (report.all.count == plan_.operations) {
      REMORA_TRY(check_littles_law(closed_));
    }
    return report;
  }

 private:
  // The plan with all operations that there may be, for which there is to be room.
  static workload::Plan longest(const ModelledOptions& options) {
    workload::Plan plan = options.plan;
    plan.warm_up = std::max(plan.warm_up, options.steady.limit);
    return plan;
  }

  // The load of one server, which has records of its own. Clients take turns with the servers.
  workload::Plan part_of(std::uint32_t server) const {
    workload::Plan part = plan_;
    part.clients = (plan_.clients + options_.servers - 1 - server) / options_.servers;
    part.seed = server == 0 ? plan_.seed : mix(plan_.seed + server);
    return part;
  }

  Status start_client(std::uint32_t number) {
    Client& client = clients_.emplace_back();
    const std::uint32_t machines =
        options_.client_machines == 0 ? plan_.clients : options_.client_machines;
    if (number < machines) {
      client_machines_.push_back(
          std::make_unique<fabric::nic::sim::SimMachine>(loop_, network_, seed_for(number + 1)));
    }
    const Host host(loop_, client_machines_[number % machines]->nic, nullptr, Faults(), costs_,
                    servers_.next_core() + number, &client_cpu_);
    kv::ClientOptions options = client_options_for(plan_, options_.depth);
    options.verify_reads = options_.verify_reads;
    REMORA_TRY_RESULT(pending, engine_.start_client(host, options));
    REMORA_TRY_RESULT(address, servers_.of_client(number).accept((*pending)->address()));
    REMORA_TRY_RESULT(store, loop_.block_on((*pending)->connect(*address)));
    client.store = std::move(store).value();
    client.run = std::make_unique<ClientRun>(
        host, *client.store, parts_[number % options_.servers], inserts_[number % options_.servers],
        meter_,
        ClientRunOptions{.client = number / options_.servers,
                         .depth = options_.depth,
                         .load_depth = load_depth_for(plan_, options_.depth),
                         .put = {.durability = options_.durability},
                         .check_values = options_.check_values});
    return {};
  }

  Status load() {
    std::vector<Task<Status>> flows;
    for (Client& client : clients_) {
      flows.push_back(client.run->load());
    }
    run_until([&] { return std::ranges::all_of(flows, &Task<Status>::finished); });
    for (const Client& client : clients_) {
      REMORA_TRY(client.run->first_failure());
    }
    for (int look = 0; look < quiet_looks && !servers_.is_quiet(); ++look) {
      (void)loop_.run_for(quiet_look_ns);
    }
    return {};
  }

  void begin() {
    for (Client& client : clients_) {
      flows_.push_back(client.run->keep_on(going_));
    }
  }

  // Until the run is steady, or has become too long for that.
  void warm_up() {
    perform(plan_.warm_up);
    Steady steady;
    const std::uint64_t window = window_of(options_.steady, in_flight());
    while (!is_steady_ && !has_ended() && going_.ended + window <= options_.steady.limit) {
      const std::uint64_t begin_ns = loop_.now_ns();
      perform(window);
      is_steady_ = steady.ended(window, loop_.now_ns() - begin_ns, servers_.backlog());
    }
    warmed_up_ = going_.ended;
  }

  ModelledReport measure() {
    servers_.cpu() = {};
    client_cpu_ = {};
    const std::uint64_t begin_ns = loop_.now_ns();
    const ModelledServers::Busy before = servers_.busy();
    closed_ = {.in_flight = in_flight(), .before_ns = under_way_ns()};
    going_.metered = true;
    perform(plan_.operations);
    going_.metered = false;
    const std::uint64_t span_ns = loop_.now_ns() - begin_ns;
    closed_.span_ns = span_ns;
    closed_.after_ns = under_way_ns();
    const auto load_of = [&](std::uint64_t ModelledServers::Busy::*part, std::uint32_t cores) {
      return span_ns == 0 ? 0
                          : static_cast<double>(servers_.busy().*part - before.*part) /
                                static_cast<double>(span_ns) / std::max(cores, 1u);
    };
    ModelledReport report;
    static_cast<Report&>(report) = report_of(meter_, span_ns);
    closed_.ended_ns = report.all.mean_ns * static_cast<double>(report.all.count);
    report.server_cpu = servers_.cpu();
    report.client_cpu = client_cpu_;
    using Busy = ModelledServers::Busy;
    const std::uint32_t servers = options_.servers;
    report.server_core_load = load_of(&Busy::request_ns, servers * options_.cores.request);
    report.background_core_load =
        load_of(&Busy::background_ns, servers * std::max(options_.cores.background, 1u));
    report.medium_load = load_of(&Busy::medium_ns, 1);
    report.steady = is_steady_;
    report.warmed_up = warmed_up_;
    report.backlog = servers_.backlog();
    report.persistent_share =
        persistent_share_of(engine_, options_.durability, report.backlog, puts_so_far());
    return report;
  }

  // Lets what is under way end, which is not measured, and adds what there is to say of all of it.
  void end(ModelledReport& report) {
    going_.stops = true;
    run_until([&] { return has_ended(); });
    report.counters = servers_.counters();
    for (const Client& client : clients_) {
      if (report.first_failure.ok()) {
        report.first_failure = client.run->first_failure();
      }
    }
    report.events = loop_.events();
    report.trace_hash = loop_.trace_hash();
  }

  std::uint64_t under_way_ns() const {
    std::uint64_t sum_ns = 0;
    for (const Client& client : clients_) {
      sum_ns += client.run->under_way_ns();
    }
    return sum_ns;
  }

  bool has_ended() const { return std::ranges::all_of(flows_, &Task<void>::finished); }
  std::uint64_t in_flight() const { return std::uint64_t{plan_.clients} * options_.depth; }

  // What was put, by the share that puts have of the workload; what was metered is close to it.
  std::uint64_t puts_so_far() const {
    const workload::Summary all = meter_.summary();
    std::uint64_t puts = 0;
    for (const workload::Kind kind : workload::all_kinds) {
      puts += workload::writes_value(kind) ? meter_.summary(kind).count : 0;
    }
    return all.count == 0 ? 0 : puts * going_.ended / all.count;
  }

  // So many more operations, of all clients together; fewer when the store has failed for good.
  void perform(std::uint64_t operations) {
    const std::uint64_t until = going_.ended + operations;
    run_until([&] { return going_.ended >= until || has_ended(); });
  }

  // Asked after each event, so that time does not go on.
  template <typename Done>
  void run_until(Done done) {
    RunState state = RunState::running;
    while (state == RunState::running && !done()) {
      for (int i = 0; i < events_per_look && state == RunState::running && !done(); ++i) {
        state = loop_.step();
      }
      show_progress();
    }
    REMORA_CHECK(state == RunState::running, "an operation of the store under test never ends");
  }

  // How long it takes to become steady nobody knows before.
  void show_progress() const {
    if (!options_.progress) {
      return;
    }
    std::uint64_t performed = 0;
    for (const Client& client : clients_) {
      performed += client.run->performed();
    }
    const std::uint64_t most = plan_.records + plan_.warm_up;
    const std::uint64_t measured = meter_.count() + (going_.stops ? 1 : 0);
    options_.progress(measured == 0 ? std::min(performed, most)
                                    : most + std::min(meter_.count(), plan_.operations),
                      most + plan_.operations);
  }

  std::uint64_t seed_for(std::uint64_t machine) const { return mix(plan_.seed + mix(machine)); }

  // Members are destroyed from the last to the first.
  const ModelledOptions& options_;
  const workload::Plan& plan_;
  const workload::Plan sizes_;
  const kv::Engine& engine_;
  const Profile profile_;
  const HostCosts costs_;
  HostTally client_cpu_;
  VirtualLoop loop_;
  SimNetwork network_;
  ModelledServers servers_;
  std::vector<workload::Plan> parts_;  // of the plan, by server
  std::deque<workload::Inserts> inserts_;
  workload::Meter meter_;
  std::vector<std::unique_ptr<fabric::nic::sim::SimMachine>> client_machines_;
  std::vector<Client> clients_;
  Going going_;
  std::vector<Task<void>> flows_;
  bool is_steady_ = false;
  std::uint64_t warmed_up_ = 0;
  ClosedLoop closed_;
};

}  // namespace

std::string to_text(const ServerCores& cores) {
  const auto plural = [](std::uint32_t count) { return count == 1 ? "" : "s"; };
  return fmt::format("{} request core{} ({}), {} background core{}", cores.request,
                     plural(cores.request), to_string(cores.spread), cores.background,
                     plural(cores.background));
}

Status check_littles_law(const ClosedLoop& loop) {
  return keeps_littles_law(loop)
             ? Status()
             : Status(
                   Code::damaged,
                   fmt::format("the model contradicts itself: {} operations in flight for {} ns, "
                               "but those took {:.0f} ns, {} of it before and {} more at the end",
                               loop.in_flight, loop.span_ns, loop.ended_ns, loop.before_ns,
                               loop.after_ns));
}

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

Result<Profile> profile_of(const fabric::nic::sim::ProfileNames& names,
                           const ProfileNumbers& numbers) {
  REMORA_TRY_RESULT(profile, fabric::nic::sim::load_profile(names));
  for (const auto& [key, value] : numbers) {
    REMORA_TRY(fabric::nic::sim::set_number(*profile, key, value));
  }
  return *profile;
}

Result<ModelledReport> run_modelled(const ModelledOptions& options) {
  REMORA_TRY(workload::validate(options.plan));
  if (options.depth == 0) {
    return Status(Code::invalid_argument, "a client has at least one operation in flight");
  }
  if (options.cores.request == 0) {
    return Status(Code::invalid_argument, "a server has at least one request core");
  }
  if (options.servers == 0 || options.servers > options.plan.clients) {
    return Status(Code::invalid_argument, "there are servers, and a client for each at least");
  }
  for (const CpuUse& use : {options.cores.use, options.client_use}) {
    if (!(use.share > 0 && use.share <= 1) || use.slice_ns == 0) {
      return Status(Code::invalid_argument,
                    "a core's share is above 0 and at most 1, in slices of some length");
    }
  }
  REMORA_TRY_RESULT(engine, options.made != nullptr ? Result<const kv::Engine*>(options.made)
                            : options.way.empty()   ? kv::find_engine(options.engine)
                                                    : find_way(options.way));
  REMORA_TRY_RESULT(profile, profile_of(options.profile, options.numbers));
  return std::make_unique<ModelledRun>(options, **engine, *profile)->run();
}

}  // namespace remora::store_bench
