#include "lab/run/modelled_server.h"

#include <algorithm>
#include <utility>

#include "lab/run/costs.h"
#include "lab/run/sizes.h"

namespace remora::store_bench {
namespace {

std::uint64_t backlog_of(const kv::StoreServer& server) {
  for (const kv::StoreServer::Counter& counter : server.counters()) {
    if (counter.name == "awaited_versions") {
      return counter.value;
    }
  }
  return 0;
}

}  // namespace

CoreHabit habit_of(const CpuUse& use, const fabric::nic::sim::Profile& profile) {
  const auto slice_ns = static_cast<double>(use.slice_ns);
  return {.wake_ns = use.sleeps ? profile.cpu.interrupt_ns : 0,
          .slice_ns = use.slice_ns,
          .others_ns = static_cast<std::uint64_t>(slice_ns / use.share - slice_ns)};
}

ModelledServers::ModelledServers(VirtualLoop& loop, fabric::nic::sim::SimNetwork& network,
                                 const fabric::nic::sim::Profile& profile,
                                 const ModelledOptions& options)
    : loop_(loop),
      network_(network),
      profile_(profile),
      options_(options),
      costs_(costs_of(profile)),
      medium_(profile.memory.write_bytes_per_s) {
  const ServerCores& cores = options.cores;
  for (std::uint32_t i = 0; i < options.servers; ++i) {
    const CoreId request = loop_.add_group({cores.request, cores.spread});
    const CoreId background =
        cores.background == 0 ? loop_.add_alias(request) : loop_.add_pool(cores.background);
    for (const CoreId core : {request, background}) {
      loop_.set_habit(core, habit_of(cores.use, profile));
    }
  }
}

Status ModelledServers::start(const kv::Engine& engine, const workload::Plan& sizes,
                              std::uint64_t seed) {
  machine_ = std::make_unique<fabric::nic::sim::SimMachine>(loop_, network_, seed);
  for (std::uint32_t i = 0; i < options_.servers; ++i) {
    REMORA_TRY_RESULT(server, start_one(engine, sizes, 2 * i));
    servers_.push_back(std::move(server).value());
  }
  loop_.on_placed([this](ConstBytes range) {
    for (const Server& server : servers_) {
      server.lines->changed(range);
    }
  });
  return {};
}

Result<ModelledServers::Server> ModelledServers::start_one(const kv::Engine& engine,
                                                           const workload::Plan& sizes,
                                                           CoreId core) {
  Server server;
  REMORA_TRY_RESULT(region, PlainRegion::create(options_.pool_bytes != 0 ? options_.pool_bytes
                                                                         : pool_bytes_for(sizes)));
  server.region = std::move(region).value();
  REMORA_TRY_RESULT(pool, Pool::create(*server.region, {}));
  server.pool = std::move(pool).value();
  server.lines = std::make_unique<CachedLines>(profile_.memory, server.region->bytes(), medium_);
  HostCosts costs = costs_;
  costs.write_back = server.lines.get();
  REMORA_TRY_RESULT(
      store, engine.start_server(
                 Host(loop_, machine_->nic, server.region.get(), Faults(), costs, core, &cpu_),
                 *server.pool, server_options_for(options_.plan, options_.server)));
  server.store = std::move(store).value();
  return server;
}

std::uint64_t ModelledServers::backlog() const {
  std::uint64_t all = 0;
  for (const Server& server : servers_) {
    all += backlog_of(*server.store);
  }
  return all;
}

bool ModelledServers::is_quiet() const {
  return options_.server.clean_always
             ? backlog() == 0
             : std::ranges::none_of(servers_, [](const Server& s) { return s.store->busy(); });
}

ModelledServers::Busy ModelledServers::busy() const {
  Busy all{.medium_ns = medium_.busy_ns()};
  for (CoreId core = 0; core < next_core(); core += 2) {
    all.request_ns += loop_.busy_ns(core);
    all.background_ns += loop_.busy_ns(core + 1);
  }
  return all;
}

Counters ModelledServers::counters() const {
  Counters all;
  for (const Server& server : servers_) {
    for (const kv::StoreServer::Counter& counter : server.store->counters()) {
      const auto known = std::ranges::find(all, counter.name, &Counters::value_type::first);
      if (known == all.end()) {
        all.emplace_back(counter.name, counter.value);
      } else {
        known->second += counter.value;
      }
    }
  }
  return all;
}

}  // namespace remora::store_bench
