#include "lab/measured/roles.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/run/client_run.h"
#include "lab/run/sizes.h"
#include "link/token_proof.h"
#include "runtime/poll_loop.h"
#include "runtime/when_all.h"

namespace remora::lab {
namespace {

// How often the server looks at the board. A look wakes it, and it spins before it sleeps again:
// while clients are measured it looks seldom, as a server that has no board would not.
constexpr std::uint64_t look_ns = 1'000'000;
constexpr std::uint64_t seldom_look_ns = 50'000'000;
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

// One client of the process.
class Member {
 public:
  Member(Runtime& loop, const ClientRole& role, std::uint32_t number, const workload::Plan& plan,
         workload::Inserts& inserts, Board& board)
      : loop_(loop),
        role_(role),
        number_(number),
        plan_(plan),
        inserts_(inserts),
        network_(board.server().network),
        token_(board.server().token.data()),
        part_(board.client(number)) {}

  Task<Status> connect() {
    kv::ClientOptions client = store_bench::client_options_for(plan_, role_.depth);
    client.timeout_ns = call_timeout_ns;
    client.verify_reads = role_.verify_reads;
    client.verified_bytes = kv::verified_by_client_bytes;
    client.connect = link::patient_connect;  // as the product has it
    if (!role_.as_product && role_.fabric != link::WireKind::roce) {
      client.whole_value_bytes = 0;
    }
    link::StoreLinkOptions options;
    options.fabric = role_.fabric;
    options.verbs = role_.verbs;
    options.design = role_.engine;
    options.client = client;
    if (role_.fabric == link::WireKind::roce) {
      options.network = network_;
      options.token = token_;
    }
    REMORA_CO_TRY_RESULT(link,
                         co_await link::StoreLink::connect(loop_, role_.socket_path, options));
    link_ = std::move(link).value();
    store_bench::ClientRunOptions run;
    run.client = number_;
    run.depth = role_.depth;
    run.load_depth = store_bench::load_depth_for(plan_, role_.depth);
    run.put.durability = role_.durability;
    run_.emplace(link_->host(), link_->store(), plan_, inserts_, part_.meter, run);
    teller_.emplace(loop_, *run_, part_);
    co_return Status();
  }
  Task<Status> load() {
    const Status status = co_await run_->load();
    ended(Phase::load);
    co_return status;
  }
  Task<Status> warm_up() {
    co_await run_->warm_up();
    ended(Phase::warm_up);
    co_return Status();
  }
  Task<Status> measure() {
    const std::uint64_t begin_ns = loop_.now_ns();
    co_await run_->measure();
    part_.span_ns = loop_.now_ns() - begin_ns;
    part_.device = link_->counters();
    part_.first_failure.set(run_->first_failure());
    ended(Phase::measure);
    co_return Status();
  }

 private:
  void ended(Phase phase) {
    teller_->expire();
    part_.ended = phase;
  }

  Runtime& loop_;
  const ClientRole& role_;
  const std::uint32_t number_;
  const workload::Plan& plan_;
  workload::Inserts& inserts_;
  const fabric::nic::roce::IpEndpoint network_;
  const std::string token_;
  ClientPart& part_;
  std::unique_ptr<link::StoreLink> link_;
  std::optional<store_bench::ClientRun> run_;
  std::optional<Teller> teller_;
};

class Actor {
 public:
  Actor(const ClientRole& role, const workload::Plan& plan, Board& board)
      : board_(board),
        loop_({.spin_turns = role.alone ? limits::spin_turns : shared_spin_turns}),
        inserts_(plan.records, plan.clients) {
    for (std::uint32_t number = role.first; number < role.first + role.count; ++number) {
      members_.push_back(std::make_unique<Member>(loop_, role, number, plan, inserts_, board));
    }
  }

  Status run() {
    REMORA_TRY(all(&Member::connect));
    await(Phase::load);
    REMORA_TRY(all(&Member::load));
    await(Phase::warm_up);
    REMORA_TRY(all(&Member::warm_up));
    await(Phase::measure);
    REMORA_TRY(all(&Member::measure));
    await(Phase::end);
    return {};
  }

 private:
  // Side by side; the first failure.
  Status all(Task<Status> (Member::*part)()) {
    std::vector<Task<Status>> tasks;
    for (const std::unique_ptr<Member>& member : members_) {
      tasks.push_back((*member.*part)());
    }
    for (Status& status : loop_.block_on(when_all(std::move(tasks)))) {
      REMORA_TRY(std::move(status));
    }
    return {};
  }
  void await(Phase phase) {
    while (board_.phase().load() < phase) {
      (void)loop_.run_for(start_look_ns);
    }
  }

  Board& board_;
  PollLoop loop_;
  workload::Inserts inserts_;
  std::vector<std::unique_ptr<Member>> members_;
};

Status serve_until_the_end(server::StoreHostOptions options, Board& board) {
  ServerPart& part = board.server();
  PollLoop loop;
  if (options.fabric == link::WireKind::roce) {
    options.socket_path.clear();
    options.listen =
        fabric::nic::roce::IpEndpoint{fabric::nic::roce::parse_address("127.0.0.1").value(), 0};
    // Of both sides of this run, whose processes alone reach the store.
    const std::string token = link::fresh_token();
    std::ranges::copy(token.substr(0, part.token.size() - 1), part.token.begin());
    options.access.tokens = {{part.token.data(), link::Role::write}};
  }
  REMORA_TRY_RESULT(host, server::StoreHost::open(loop, options));
  part.network = (*host)->network_endpoint().value_or(fabric::nic::roce::IpEndpoint{});
  part.ready = true;
  while (board.phase().load() != Phase::end) {
    (void)loop.run_for(board.phase().load() == Phase::measure ? seldom_look_ns : look_ns);
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
  board.client(role.first).status.set(Actor(role, plan, board).run());
}

}  // namespace remora::lab
