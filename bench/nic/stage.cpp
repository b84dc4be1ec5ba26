#include "bench/nic/stage.h"

#include <sched.h>

#include <cerrno>

#include "bench/nic/child.h"

namespace remora::bench {
namespace {

// After a change on the far core: enough to wake the target and to warm what both sides use.
constexpr std::uint64_t warming_operations = 2 * most_depth;

// The cores that this process may use, at most two.
Result<std::vector<int>> two_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return os_failure("cannot ask for the cores of this process", errno);
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < 2; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) {
      cores.push_back(core);
    }
  }
  if (cores.size() < 2) {
    return Status(Code::unsupported,
                  "two processes that poll need two cores, and there is one; run it on a machine "
                  "or in a container with more");
  }
  return cores;
}

}  // namespace

Result<std::unique_ptr<Stage>> Stage::create() {
  REMORA_TRY_RESULT(cores, two_cores());
  std::unique_ptr<Stage> stage(new Stage((*cores)[0], (*cores)[1]));
  REMORA_TRY(pin_to_core(stage->near_core_));
  REMORA_TRY_RESULT(ping_pong, PingPong::start(stage->far_core_));
  stage->ping_pong_ = std::move(ping_pong).value();
  stage->running_ = stage->ping_pong_->process();
  return stage;
}

Status Stage::admit(Contender& contender) {
  clear();
  running_ = contender.process();
  Status status = check_transfer(contender);
  clear();
  return status;
}

void Stage::give_far_core_to(pid_t process) {
  if (process == running_) {
    return;
  }
  if (running_ != 0) {
    hold(running_);
  }
  if (process != 0) {
    let_go(process);
  }
  running_ = process;
}

Side Stage::side(Contender& contender, const Shape& shape) {
  return [this, &contender, shape](std::uint64_t operations) {
    if (!failure_.ok()) {
      return;
    }
    const pid_t wanted = contender.is_one_sided() ? 0 : contender.process();
    if (running_ != wanted || wanted == 0) {
      const std::uint64_t start_ns = now_ns();
      give_far_core_to(wanted);
      failure_ = contender.run(shape, warming_operations);
      excluded_ns_ += now_ns() - start_ns;
    }
    if (failure_.ok()) {
      failure_ = contender.run(shape, operations);
    }
  };
}

Side Stage::alone(Side bare) {
  return [this, bare = std::move(bare)](std::uint64_t operations) {
    const std::uint64_t start_ns = now_ns();
    give_far_core_to(0);
    bare(1);
    excluded_ns_ += now_ns() - start_ns;
    bare(operations);
  };
}

Result<Stage::Series> Stage::measure(const std::vector<Side>& sides, const Plan& plan) {
  Series series;
  REMORA_TRY_RESULT(before, round_trip_ns());
  series.each_ns = interleave(sides, plan, [this] { return clock_ns(); });
  if (!failure_.ok()) {
    return std::exchange(failure_, Status());
  }
  REMORA_TRY_RESULT(after, round_trip_ns());
  series.round_trip_before_ns = *before;
  series.round_trip_after_ns = *after;
  return series;
}

Result<Spread> Stage::round_trip_ns() {
  give_far_core_to(ping_pong_->process());
  return ping_pong_->round_trip_ns();
}

Claim compare(Wording wording, const Stage::Series& series, std::size_t obtained,
              std::size_t limit) {
  Claim claim = compare(std::move(wording), series.each_ns[obtained], series.each_ns[limit]);
  claim.beside.emplace_back("obtained_per_s", 1e9 / claim.obtained_ns.median);
  claim.beside.emplace_back("limit_per_s", 1e9 / claim.limit_ns.median);
  claim.beside.emplace_back("core_round_trip_before_ns", series.round_trip_before_ns.median);
  claim.beside.emplace_back("core_round_trip_after_ns", series.round_trip_after_ns.median);
  return claim;
}

}  // namespace remora::bench
