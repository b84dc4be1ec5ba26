// Measured runs of RPC designs: the server is a child process, and its clients share a loop in this
// one. They introduce themselves through a mailbox in the server's memory, which the harness of the
// fabric's benchmarks registers for this side (lab/measured/nic).
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "lab/measured/nic/ring_target.h"
#include "lab/measured/nic/roce_target.h"
#include "lab/measured/seat.h"
#include "lab/rpc/call_bench.h"
#include "lab/rpc/object_client.h"
#include "lab/run/client_run.h"
#include "link/wires.h"
#include "runtime/poll_loop.h"
#include "runtime/when_all.h"

namespace remora::lab {

namespace {

constexpr std::uint64_t greeting_ns = 10'000'000'000;
constexpr std::uint64_t mailbox_bytes = 4096;
constexpr std::uint64_t mailbox_depth = 16;

// A letter of a client, and below it the server's answer. The number says which client, and comes
// last.
struct Letter {
  rpc::Introduction introduction = {};
  std::uint32_t refused = 0;   // a Code
  std::uint32_t checksum = 0;  // of all but itself: the bytes of a letter come in any order
  std::uint64_t number = 0;    // from 1

  std::uint32_t computed() const {
    std::array<std::byte, sizeof(rpc::Introduction)> bytes;
    std::memcpy(bytes.data(), &introduction, sizeof introduction);
    return crc32c(bytes, static_cast<std::uint32_t>(number) + refused);
  }
};
static_assert(std::is_trivially_copyable_v<Letter> && sizeof(Letter) <= mailbox_bytes / 2);
constexpr std::uint64_t answer_at = mailbox_bytes / 2;

class CallTarget final : private Poller {
 public:
  CallTarget(Runtime& runtime, Side& side, const CallBench& bench, const rpc::Design& design)
      : side_(side),
        seat_(0),
        host_(runtime, side.device(), &side.region()),
        objects_(host_, side.region().bytes().subspan(mailbox_bytes),
                 bench.plan.values.largest_bytes(), bench.work) {
    std::memset(side.region().data(), 0, mailbox_bytes);
    Result<std::unique_ptr<rpc::Server>> server =
        rpc::serve(design, host_, objects_, design_options_for(bench));
    if (server.ok()) {
      server_ = std::move(server).value();
      objects_.serve_by(*server_);
    } else {
      refused_ = server.status().code();
    }
    runtime.add_poller(*this);
  }

 private:
  bool poll() override {
    std::byte* const memory = side_.region().data();
    Letter letter;
    std::memcpy(&letter, memory, sizeof letter);
    if (letter.number != answered_ + 1 || letter.checksum != letter.computed()) {
      return false;
    }
    ++answered_;
    Letter answer;
    answer.number = letter.number;
    if (server_) {
      const Result<rpc::Introduction> own = server_->accept(letter.introduction);
      answer.refused = static_cast<std::uint32_t>(own.status().code());
      answer.introduction = own.ok() ? *own : rpc::Introduction();
    } else {
      answer.refused = static_cast<std::uint32_t>(refused_);
    }
    answer.checksum = answer.computed();
    std::memcpy(memory + answer_at, &answer, sizeof answer);
    return true;
  }

  Side& side_;
  const Seat seat_;
  const Host host_;
  Objects objects_;
  std::unique_ptr<rpc::Server> server_;
  Code refused_ = Code::ok;
  std::uint64_t answered_ = 0;
};

// This side: the clients, and their part of the workload.
class Callers {
 public:
  using AskToMap = std::function<void(fabric::QpNumber, fabric::RemoteKey)>;

  Callers(PollLoop& loop, Side& side, const CallBench& bench, const rpc::Design& design,
          AskToMap ask_to_map)
      : loop_(loop),
        side_(side),
        bench_(bench),
        design_(design),
        ask_to_map_(std::move(ask_to_map)),
        host_(loop, side.device(), &side.region()),
        index_(std::make_shared<const ObjectIndex>(bench.plan)),
        inserts_(bench.plan.records, bench.plan.clients),
        meter_(std::make_unique<workload::Meter>()) {}

  Result<CallReport> run() {
    for (std::uint32_t number = 0; number < bench_.plan.clients; ++number) {
      REMORA_TRY(start_client(number));
    }
    REMORA_TRY(load());
    side_by_side(&store_bench::ClientRun::warm_up);
    const std::uint64_t begin_ns = loop_.now_ns();
    side_by_side(&store_bench::ClientRun::measure);
    CallReport report;
    static_cast<store_bench::Report&>(report) =
        store_bench::report_of(*meter_, loop_.now_ns() - begin_ns);
    const fabric::DeviceCounters counters = side_.counters();
    report.requests_by_wire = counters.requests_by_wire;
    report.requests_short_cut = counters.requests_short_cut;
    for (const Member& member : members_) {
      report.sent_again += member.store->sent_again();
      if (report.first_failure.ok()) {
        report.first_failure = member.run->first_failure();
      }
    }
    return report;
  }

 private:
  struct Member {
    std::unique_ptr<ObjectClient> store;
    std::unique_ptr<store_bench::ClientRun> run;
  };

  Status start_client(std::uint32_t number) {
    REMORA_TRY_RESULT(client, design_.start_client(host_, design_options_for(bench_)));
    REMORA_TRY_RESULT(answer, introduce(number, (*client)->introduction()));
    REMORA_TRY((*client)->connect(*answer));
    fabric::QueuePair* const pair = (*client)->queue_pair();
    if (pair != nullptr && ask_to_map_ && design_.transports.front() == fabric::Transport::rc) {
      for (const fabric::RemoteKey key : {answer->slots.key, answer->results.key}) {
        if (key != 0) {
          ask_to_map_(pair->number(), key);
        }
      }
    }
    const std::uint32_t lanes = design_.is_durable ? 1 : bench_.window;
    Member& member = members_.emplace_back();
    member.store = std::make_unique<ObjectClient>(host_, std::move(client).value(), index_);
    member.run = std::make_unique<store_bench::ClientRun>(
        host_, *member.store, bench_.plan, inserts_, *meter_,
        store_bench::ClientRunOptions{.client = number, .depth = lanes, .load_depth = lanes});
    return {};
  }

  Status perform(fabric::Opcode opcode, std::uint64_t at) {
    const fabric::Sge piece = side_.memory().piece(0, sizeof(Letter));
    const fabric::SendWork work{
        .opcode = opcode,
        .pieces = std::span(&piece, 1),
        .remote = {side_.peer().memory.address + at, side_.peer().memory.key}};
    REMORA_TRY(side_.queue_pair().post_send(std::span(&work, 1)));
    std::array<fabric::WorkCompletion, 1> completion;
    while (side_.completions().poll(completion) == 0) {
      (void)loop_.turn();
    }
    return completion[0].status == fabric::WorkStatus::success
               ? Status()
               : Status(Code::io_error, "the server of the benchmark cannot be reached");
  }

  Result<rpc::Introduction> introduce(std::uint32_t client, const rpc::Introduction& ours) {
    Letter letter{.introduction = ours, .number = client + 1};
    letter.checksum = letter.computed();
    std::memcpy(side_.region().data(), &letter, sizeof letter);
    REMORA_TRY(perform(fabric::Opcode::write, 0));
    const std::uint64_t give_up_ns = loop_.now_ns() + greeting_ns;
    while (loop_.now_ns() < give_up_ns) {
      REMORA_TRY(perform(fabric::Opcode::read, answer_at));
      std::memcpy(&letter, side_.region().data(), sizeof letter);
      if (letter.number != client + 1 || letter.checksum != letter.computed()) {
        continue;
      }
      if (letter.refused != 0) {
        return Status(static_cast<Code>(letter.refused),
                      "the server of the benchmark cannot serve this design here");
      }
      return letter.introduction;
    }
    return Status(Code::timed_out, "the server of the benchmark does not answer");
  }

  Status load() {
    std::vector<Task<Status>> flows;
    for (Member& member : members_) {
      flows.push_back(member.run->load());
    }
    for (Status& status : loop_.block_on(when_all(std::move(flows)))) {
      REMORA_TRY(std::move(status));
    }
    return {};
  }
  void side_by_side(Task<void> (store_bench::ClientRun::*phase)()) {
    std::vector<Task<void>> flows;
    for (Member& member : members_) {
      flows.push_back(((*member.run).*phase)());
    }
    for (Task<void>& flow : flows) {
      while (!flow.finished()) {
        (void)loop_.turn();
        show_progress();
      }
    }
  }
  void show_progress() {
    if (!bench_.progress || ++turns_ % 65'536 != 0) {
      return;
    }
    std::uint64_t performed = 0;
    for (const Member& member : members_) {
      performed += member.run->performed();
    }
    const workload::Plan& plan = bench_.plan;
    bench_.progress(performed, plan.records + plan.warm_up + plan.operations);
  }

  PollLoop& loop_;
  Side& side_;
  const CallBench& bench_;
  const rpc::Design& design_;
  const AskToMap ask_to_map_;
  const Host host_;
  const std::shared_ptr<const ObjectIndex> index_;
  workload::Inserts inserts_;
  std::unique_ptr<workload::Meter> meter_;
  std::vector<Member> members_;
  std::uint64_t turns_ = 0;
};

}  // namespace

Result<CallReport> run_measured_calls(const CallBench& bench) {
  const std::optional<link::WireKind> fabric = link::parse_wire_kind(bench.fabric);
  if (fabric != link::WireKind::ring && fabric != link::WireKind::mapped &&
      fabric != link::WireKind::roce) {
    return Status(Code::invalid_argument,
                  "unknown fabric '" + bench.fabric + "'; choose sim, ring, mapped or roce");
  }
  REMORA_TRY_RESULT(found, rpc::find_design(bench.design));
  const rpc::Design& design = **found;
  const std::uint64_t objects = ObjectIndex(bench.plan).objects();
  const std::uint64_t server_bytes =
      mailbox_bytes + objects * object_stride(bench.plan.values.largest_bytes());
  const Answering answering = [&](Runtime& runtime, Side& side) {
    return std::make_shared<CallTarget>(runtime, side, bench, design);
  };
  PollLoop loop;
  if (*fabric == link::WireKind::roce) {
    REMORA_TRY_RESULT(target, RoceTarget::start(server_bytes, mailbox_depth, answering));
    REMORA_TRY_RESULT(side, (*target)->connect(loop, mailbox_bytes, mailbox_depth));
    const Seat seat(1);
    return Callers(loop, **side, bench, design, {}).run();
  }
  const bool mapped = *fabric == link::WireKind::mapped;
  REMORA_TRY_RESULT(target, RingTarget::start(mapped, server_bytes, mailbox_depth, answering));
  RingClient client(loop, mapped);
  REMORA_TRY_RESULT(side, client.connect((*target)->path(), mailbox_bytes, mailbox_depth));
  const Seat seat(1);
  Callers::AskToMap ask;
  if (mapped) {
    ask = [&client](fabric::QpNumber pair, fabric::RemoteKey key) { client.map(pair, key); };
  }
  return Callers(loop, **side, bench, design, std::move(ask)).run();
}

}  // namespace remora::lab
