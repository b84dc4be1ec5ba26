#include "lab/calls/calls_run.h"

#include <fmt/format.h>

namespace remora::lab {

namespace {

constexpr ImageLimits images_of_one_cut = {.exhaustive = 1, .samples = 16};
constexpr ImageLimits images_of_one_probe = {.exhaustive = 3, .samples = 3};
constexpr std::uint64_t longest_span_ns = 20'000'000;
constexpr std::uint64_t most_run_events = 400'000;

std::string described(const CrashEvent& event) {
  return fmt::format("event {} ({} {})", event.index, to_string(event.moment),
                     to_string(event.kind));
}

bool is_of_calls(const CrashEvent& event) {
  return event.site != nullptr &&
         std::string_view(event.site->file_name()).find("rpc/calls/") != std::string_view::npos;
}

}  // namespace

CallsReached& CallsReached::operator+=(const CallsReached& other) {
  server += other.server;
  cuts += other.cuts;
  cuts_in_recovery += other.cuts_in_recovery;
  kills += other.kills;
  deaths += other.deaths;
  rejoined += other.rejoined;
  told_persistent += other.told_persistent;
  told_by_receiver += other.told_by_receiver;
  answered += other.answered;
  slowed_down += other.slowed_down;
  ordered_runs += other.ordered_runs;
  runs_on_one_host += other.runs_on_one_host;
  return *this;
}

CallsRun::CallsRun(const CrashRun& run, bool receiver_flushes, SiteTable& sites, CrashCount& count)
    : run_(run),
      sites_(sites),
      count_(count),
      random_(run.seed),
      plan_(draw_calls_plan(run, receiver_flushes, random_)),
      world_(plan_, plan_.callers, sites, random_.fork()),
      load_(world_, plan_, random_.fork()),
      cuts_left_(plan_.cuts),
      probes_left_(plan_.probes),
      kills_left_(plan_.kills) {
  world_.memory().on_event([this](const CrashEvent& event) { on_memory_event(event); });
}

std::optional<CrashViolation> CallsRun::go() {
  reached_.ordered_runs += plan_.form == rpc::calls::Form::ordered ? 1u : 0u;
  reached_.runs_on_one_host += plan_.on_one_host ? 1u : 0u;
  if (const Status status = world_.create(); !status.ok()) {
    report("usable", "the server cannot be made: " + std::string(status.message()), "");
  } else {
    work();
    rest();
  }
  count_server(world_);
  reached_.rejoined += load_.rejoined();
  reached_.told_persistent += load_.told_persistent();
  reached_.told_by_receiver += load_.told_by_receiver();
  reached_.answered += load_.answered();
  reached_.slowed_down += load_.slowed_down();
  return violation_;
}

void CallsRun::count_server(CallsWorld& world) {
  if (world.calls() != nullptr) {
    reached_.server += world.calls()->counters();
  }
}

// --- The world that goes on ---

void CallsRun::work() {
  plan_trouble();
  for (std::uint32_t i = 0; i < world_.callers(); ++i) {
    load_.start(i);
  }
  cutting_ = true;
  const std::uint64_t end_ns = world_.loop().now_ns() + longest_span_ns;
  while (!violation_ && !load_.finished() && world_.loop().now_ns() < end_ns && step()) {
    make_trouble();
  }
  cutting_ = false;
}

bool CallsRun::step() {
  if (world_.loop().events() > most_run_events || world_.loop().step() != RunState::running) {
    return false;
  }
  if (!load_.complaint().empty()) {
    report("answers", load_.complaint(), "");
  }
  if (captured_) {
    cut();
  } else if (to_kill_) {
    kill();
  }
  return true;
}

// The power goes in the middle of an event; what the event did after that is as if it had not been:
// it was in DRAM, or in packets that have not left.
void CallsRun::cut() {
  std::string moments;
  Status recovered;
  const bool together = plan_.on_one_host;
  while (captured_ && !violation_) {
    const Captured now = std::move(*captured_);
    captured_.reset();
    ++(moments.empty() ? reached_.cuts : reached_.cuts_in_recovery);
    moments += (moments.empty() ? "power cut at " : ", again at ") + now.moment;
    splits_line_ = splits_line_ || now.splits_line;
    count_server(world_);
    if (together) {
      for (std::uint32_t i = 0; i < world_.callers(); ++i) {
        if (world_.caller(i).powered()) {
          world_.caller(i).cut_power();
          load_.died(i);
        }
      }
    }
    world_.restart_server(now.image);
    recovered = world_.recover();
  }
  if (!recovered.ok()) {
    report("recovers", std::string(recovered.message()), moments);
    return;
  }
  to_kill_ = false;
  for (std::uint32_t i = 0; i < world_.callers(); ++i) {
    if (!world_.caller(i).powered() || random_.chance(1, 5)) {
      restart_caller(i);
    }
  }
}

void CallsRun::kill() {
  to_kill_ = false;
  ++reached_.kills;
  count_server(world_);
  world_.kill_server();
  if (const Status recovered = world_.recover(); !recovered.ok()) {
    report("recovers", std::string(recovered.message()), "the server was killed");
  }
}

void CallsRun::restart_caller(std::uint32_t caller) {
  Node& node = world_.caller(caller);
  if (node.powered()) {
    node.cut_power();
    load_.died(caller);
  }
  ++reached_.deaths;
  node.power_on();
  load_.start(caller);
}

// --- Trouble ---

void CallsRun::plan_trouble() {
  if (plan_.trouble_every_ns != 0) {
    next_trouble_ns_ = world_.loop().now_ns() + random_.below(2 * plan_.trouble_every_ns);
  }
}

void CallsRun::make_trouble() {
  const std::uint64_t now_ns = world_.loop().now_ns();
  while (!agenda_.empty() && agenda_.begin()->first <= now_ns) {
    const std::function<void()> end = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    end();
  }
  if (now_ns < next_trouble_ns_) {
    return;
  }
  plan_trouble();
  const auto caller = static_cast<std::uint32_t>(random_.below(world_.callers()));
  const std::uint64_t end_ns = now_ns + random_.between(5'000, plan_.longest_trouble_ns);
  const fabric::nic::sim::NodeId near = world_.caller(caller).id();
  const fabric::nic::sim::NodeId far = world_.server().id();
  switch (random_.below(5)) {
    case 0:
      // Its process ends; another one takes its place. (Nodes of one host lose power together.)
      if (world_.caller(caller).powered()) {
        if (plan_.on_one_host) {
          world_.caller(caller).actor().die();
        }
        restart_caller(caller);
      }
      break;
    case 1:
    case 2:
      world_.network().partition(near, far);
      agenda_.emplace(end_ns, [this, near, far] { world_.network().heal(near, far); });
      break;
    default:
      world_.network().set_faults(plan_.bad_network);
      agenda_.emplace(end_ns, [this] { world_.network().set_faults({}); });
  }
}

void CallsRun::mend() {
  agenda_.clear();
  world_.network().set_faults({});
  for (std::uint32_t i = 0; i < world_.callers(); ++i) {
    world_.network().heal(world_.caller(i).id(), world_.server().id());
  }
}

// --- The end ---

bool CallsRun::run_until(CallsWorld& world, std::uint64_t span_ns,
                         const std::function<bool()>& ended) {
  const std::uint64_t end_ns = world.loop().now_ns() + span_ns;
  const std::uint64_t most = world.loop().events() + most_run_events;
  while (!ended()) {
    if (world.loop().now_ns() > end_ns || world.loop().events() > most ||
        world.loop().step() != RunState::running) {
      return false;
    }
  }
  return true;
}

void CallsRun::rest() {
  if (violation_) {
    return;
  }
  mend();
  load_.stop();
  if (!run_until(world_, longest_span_ns, [this] { return load_.finished(); })) {
    report("answers", "in a world that is whole again a call is never answered", "");
  } else if (!load_.complaint().empty()) {
    report("answers", load_.complaint(), "");
  } else if (!run_until(world_, longest_span_ns, [this] { return !world_.calls()->is_busy(); })) {
    report("settles", "nobody calls, and calls go on running", "");
  }
  judge(world_, "");
  if (!violation_) {
    probe("the end");
  }
}

// --- Power cuts ---

CallsRun::Captured CallsRun::capture(const CrashMemory& memory, const CrashEvent& event) {
  Images images(images_of_one_cut);
  images.take(memory, random_.fork());
  for (std::uint64_t skip = random_.below(images.planned()); images.next() && skip != 0; --skip) {
  }
  ++count_.cuts;
  ++count_.images;
  count_.distinct.insert(images.hash());
  return {{images.bytes().begin(), images.bytes().end()}, described(event), images.splits_line()};
}

void CallsRun::on_memory_event(const CrashEvent& event) {
  if (!cutting_ || captured_ || violation_) {
    return;
  }
  // Few events pass while the server recovers, and few are of marks and logs.
  const std::uint64_t hurry = world_.calls() == nullptr ? 10 : is_of_calls(event) ? 4 : 1;
  if (kills_left_ != 0 && world_.calls() != nullptr && random_.chance(1, plan_.cut_one_in)) {
    --kills_left_;
    to_kill_ = true;
  } else if (cuts_left_ != 0 && random_.chance(hurry, plan_.cut_one_in)) {
    --cuts_left_;
    captured_ = capture(world_.memory(), event);
  } else if (probes_left_ != 0 && random_.chance(hurry, plan_.probe_one_in)) {
    --probes_left_;
    probe(described(event));
  }
}

void CallsRun::probe(const std::string& moment) {
  Images images(images_of_one_probe);
  images.take(world_.memory(), random_.fork());
  ++count_.cuts;
  while (!violation_ && images.next()) {
    ++count_.images;
    count_.distinct.insert(images.hash());
    recover_elsewhere(images.bytes(), moment);
    if (violation_) {
      violation_->stricter_than_x86 = violation_->stricter_than_x86 || images.splits_line();
    }
  }
}

// No caller is there: what the logs hold runs, and nothing else. The power may go once more while
// it does.
void CallsRun::recover_elsewhere(ConstBytes image, const std::string& moment) {
  std::string moments = "power cut at " + moment;
  CallsWorld world(plan_, 0, sites_, random_.fork());
  std::optional<Captured> again;
  std::uint64_t until_again = random_.chance(1, 2) ? random_.between(1, 60) : 0;
  world.memory().on_event([&](const CrashEvent& event) {
    if (until_again != 0 && --until_again == 0) {
      again = capture(world.memory(), event);
    }
  });
  world.restart_server(image);
  Status recovered = world.recover();
  const auto is_at_rest = [&] { return !world.calls()->is_busy(); };
  if (recovered.ok()) {
    (void)run_until(world, longest_span_ns, [&] { return again || is_at_rest(); });
  }
  if (again) {
    ++reached_.cuts_in_recovery;
    moments += ", again in the recovery at " + again->moment;
    count_server(world);
    world.restart_server(again->image);
    recovered = world.recover();
  }
  until_again = 0;
  if (!recovered.ok()) {
    report("recovers", std::string(recovered.message()), moments);
    return;
  }
  if (!run_until(world, longest_span_ns, is_at_rest)) {
    report("settles", "after a recovery the calls of the logs do not end", moments);
    return;
  }
  count_server(world);
  judge(world, moments);
  if (violation_ && again) {
    violation_->stricter_than_x86 = violation_->stricter_than_x86 || again->splits_line;
  }
}

// --- The verdict ---

// What the lists of this world are is held to what callers were told until now.
void CallsRun::judge(CallsWorld& world, const std::string& after) {
  if (violation_ || world.calls() == nullptr) {
    return;
  }
  CallLists lists = world.lists();
  lists.at_ns = world_.loop().now_ns();
  if (const Status failure = world.calls()->failure(); !failure.ok()) {
    report("usable", "the store of the calls has failed: " + std::string(failure.message()), after);
  } else if (const std::optional<BrokenCall> broken = check_calls(load_.calls(), lists)) {
    report(std::string(broken->rule), broken->explanation, after);
  }
}

void CallsRun::report(std::string rule, std::string explanation, const std::string& after) {
  if (!violation_) {
    violation_ =
        CrashViolation{run_.seed, to_string(plan_.platform), std::move(rule),
                       std::move(explanation) + (after.empty() ? "" : "; " + after), splits_line_};
  }
}

}  // namespace remora::lab
