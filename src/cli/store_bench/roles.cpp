#include "cli/store_bench/roles.h"

#include <memory>
#include <utility>

#include "runtime/poll_loop.h"
#include "sim/bench/client_run.h"
#include "sim/bench/sizes.h"

namespace remora::cli {
namespace {

constexpr std::uint64_t look_ns = 1'000'000;
constexpr std::uint64_t start_look_ns = 100'000;
constexpr std::uint64_t tell_ns = 50'000'000;
constexpr std::uint64_t call_timeout_ns = 10'000'000'000;
// Turns without work before a client sleeps that shares its processor: the others need it.
constexpr std::uint32_t shared_spin_turns = 20;

// Tells the board now and then how many operations have ended.
class Teller final : public Timer {
 public:
  Teller(Runtime& runtime, const store_bench::ClientRun& run, ClientPart& part)
      : runtime_(runtime), run_(run), part_(part) {
    expire();
  }
  void expire() override {
    part_.performed.store(run_.performed(), std::memory_order_relaxed);
    runtime_.arm(*this, runtime_.after(tell_ns));
  }

 private:
  Runtime& runtime_;
  const store_bench::ClientRun& run_;
  ClientPart& part_;
};

class Actor {
 public:
  Actor(const ClientRole& role, const workload::Plan& plan, Board& board)
      : role_(role),
        plan_(plan),
        board_(board),
        part_(board.client(role.number)),
        loop_({.spin_turns = role.alone ? limits::spin_turns : shared_spin_turns}),
        inserts_(plan.records, plan.clients) {}

  Status run() {
    kv::ClientOptions client = store_bench::client_options_for(plan_, role_.depth);
    client.timeout_ns = call_timeout_ns;
    Result<std::unique_ptr<server::StoreLink>> link = loop_.block_on(server::StoreLink::connect(
        loop_, role_.socket_path,
        {.fabric = role_.fabric, .engine = role_.engine, .client = client}));
    if (!link.ok()) {
      return link.status();
    }
    server::StoreLink& reached = **link;
    store_bench::ClientRun run(reached.host(), reached.store(), plan_, inserts_, part_.meter,
                               {.client = role_.number,
                                .depth = role_.depth,
                                .load_depth = store_bench::load_depth_for(plan_, role_.depth),
                                .put = {.durability = role_.durability}});
    Teller teller(loop_, run, part_);
    await(Phase::load);
    REMORA_TRY(loop_.block_on(run.load()));
    ended(Phase::load, teller);
    await(Phase::warm_up);
    loop_.block_on(run.warm_up());
    ended(Phase::warm_up, teller);
    await(Phase::measure);
    const std::uint64_t begin_ns = loop_.now_ns();
    loop_.block_on(run.measure());
    part_.span_ns = loop_.now_ns() - begin_ns;
    part_.device = reached.counters();
    part_.first_failure.set(run.first_failure());
    ended(Phase::measure, teller);
    await(Phase::end);
    return {};
  }

 private:
  void await(Phase phase) {
    while (board_.phase().load() < phase) {
      (void)loop_.run_for(start_look_ns);
    }
  }
  void ended(Phase phase, Teller& teller) {
    teller.expire();
    part_.ended = phase;
  }

  const ClientRole& role_;
  const workload::Plan& plan_;
  Board& board_;
  ClientPart& part_;
  PollLoop loop_;
  workload::Inserts inserts_;
};

Status serve_until_the_end(const server::StoreHostOptions& options, Board& board) {
  ServerPart& part = board.server();
  PollLoop loop;
  Result<std::unique_ptr<server::StoreHost>> host = server::StoreHost::open(loop, options);
  if (!host.ok()) {
    return host.status();
  }
  part.ready = true;
  while (board.phase().load() != Phase::end) {
    (void)loop.run_for(look_ns);
    part.busy = (*host)->store().busy();
    ++part.looks;
  }
  part.publish((*host)->store().counters());
  return {};
}

}  // namespace

void serve(const server::StoreHostOptions& options, Board& board) {
  board.server().status.set(serve_until_the_end(options, board));
  board.server().ended = true;
}

void act(const ClientRole& role, const workload::Plan& plan, Board& board) {
  board.client(role.number).status.set(Actor(role, plan, board).run());
}

}  // namespace remora::cli
