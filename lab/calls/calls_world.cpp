#include "lab/calls/calls_world.h"

#include "lab/calls/append.h"
#include "lab/subjects/stores/plan.h"

namespace remora::lab {

namespace {

constexpr std::size_t calls_pool_bytes = 256 << 10;

}  // namespace

CallsWorld::CallsWorld(const CallsPlan& plan, std::uint32_t callers, SiteTable& sites,
                       Random random)
    : plan_(plan),
      numbers_(random.fork()),
      loop_({.seed = random.next(), .shuffle_ties = random.chance(1, 2)}),
      network_(loop_, nic_of_the_crash_world(), memory_of_the_crash_world(), random.fork()),
      server_(loop_, network_,
              {.memory_bytes = calls_pool_bytes,
               .platform = plan.platform,
               .seed = random.next(),
               .sites = &sites,
               .host = plan.on_one_host ? &host_ : nullptr,
               .actor = plan.actor}) {
  for (std::uint32_t i = 0; i < callers; ++i) {
    // What a caller's device declares of its FLUSH follows from the platform too.
    callers_.push_back(
        std::make_unique<Node>(loop_, network_,
                               NodeOptions{.memory_bytes = page_bytes,
                                           .platform = plan.platform,
                                           .seed = random.next(),
                                           .sites = &sites,
                                           .host = plan.on_one_host ? &host_ : nullptr,
                                           .actor = plan.actor}));
  }
  loop_.add_cores(2 + callers);
}

Status CallsWorld::start(bool create) {
  Program& program = server_.start<Program>();
  REMORA_TRY_RESULT(
      pool, create ? Pool::create(server_.region(), {}) : Pool::open(server_.region(), "the pool"));
  program.pool = std::move(pool).value();
  const Host host(loop_, server_.nic(), &server_.region(), plan_.faults);
  REMORA_TRY_RESULT(store, kv::engines().front()->start_server(
                               host, *program.pool,
                               {.create = create, .expected_keys = 64, .local_commit_ns = 20'000}));
  program.store = std::move(store).value();
  program.effects = std::make_unique<kv::StoreEffects>(*program.store->local());
  program.methods.add(append_method(loop_, plan_.longest_work_ns));
  const fabric::ConnectOptions connect = {
      .timeout_ns = 30'000, .retry_count = 4, .rnr_delay_ns = 10'000};
  REMORA_TRY_RESULT(
      calls, rpc::calls::CallServer::start(host, *program.pool, *program.effects, program.methods,
                                           {.most_clients = 16,
                                            .slow_at = plan_.window / 2,
                                            .dma_passes_caches = plan_.dma_passes_caches,
                                            .receiver_flushes = plan_.receiver_flushes,
                                            .draw_number = [this] { return numbers_.next(); },
                                            .connect = connect}));
  program.calls = std::move(calls).value();
  calls_ = program.calls.get();
  effects_ = program.effects.get();
  return {};
}

CallLists CallsWorld::lists() {
  return read_lists(*effects_, plan_.keys, loop_.now_ns());
}

void CallsWorld::restart_server(ConstBytes image) {
  calls_ = nullptr;
  server_.cut_power(image);
  server_.power_on();
}

void CallsWorld::kill_server() {
  calls_ = nullptr;
  server_.kill();
}

}  // namespace remora::lab
