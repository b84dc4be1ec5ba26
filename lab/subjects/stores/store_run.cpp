#include "lab/subjects/stores/store_run.h"

#include <fmt/format.h>

#include "lab/check/promise.h"

namespace remora::lab {
namespace {

constexpr ImageLimits images_of_a_cut = {.exhaustive = 1, .samples = 16};
constexpr ImageLimits images_of_a_probe = {.exhaustive = 4, .samples = 3};
constexpr std::uint64_t longest_wait_ns = 8'000'000;
constexpr std::uint64_t most_events = 300'000;
constexpr std::uint64_t budget_states = 100'000;

std::string describe(const CrashEvent& event) {
  return fmt::format("event {} ({} {})", event.index, to_string(event.moment),
                     to_string(event.kind));
}

bool is_of_the_pool(const CrashEvent& event) {
  return event.site != nullptr &&
         std::string_view(event.site->file_name()).find("src/pmem/") != std::string_view::npos;
}

}  // namespace

StoreRun::StoreRun(const kv::Engine& engine, const CrashRun& run, SiteTable& sites,
                   CrashCount& count)
    : engine_(engine),
      run_(run),
      sites_(sites),
      count_(count),
      random_(run.seed),
      plan_(draw_plan(engine, run, random_)),
      world_(plan_, plan_.clients, sites, random_.fork()),
      timed_(world_, plan_, Random(plan_.hard_seed)),
      load_(world_, plan_, witness_, timed_, random_.fork()),
      cuts_left_(plan_.cuts),
      probes_left_(plan_.probes),
      kills_left_(plan_.kills),
      cuts_in_cleaning_left_(plan_.cuts_in_cleaning),
      growth_random_(mix(run.seed)) {
  world_.memory().on_event([this](const CrashEvent& event) { on_memory_event(event); });
}

std::optional<CrashViolation> StoreRun::go() {
  if (const Status status = world_.create(); !status.ok()) {
    report("usable", "the store cannot be made: " + std::string(status.message()), "");
  } else {
    work();
    rest();
    count_server();
    count_load();
  }
  return violation_;
}

// --- The world that goes on ---

void StoreRun::work() {
  if (plan_.bad_from_start) {
    world_.network().set_faults(plan_.bad_network);
  }
  plan_trouble();
  for (std::uint32_t i = 0; i < world_.clients(); ++i) {
    load_.start(i);
  }
  load_.start_here();
  timed_.start_here();
  cutting_ = true;
  while (!violation_ && !load_.finished() && world_.loop().now_ns() < plan_.longest_work_ns &&
         step()) {
    make_trouble();
    grow_on();
  }
  cutting_ = false;
}

bool StoreRun::step() {
  if (world_.loop().events() > most_events || world_.loop().step() != RunState::running) {
    return false;
  }
  if (!load_.complaint().empty()) {
    report("answers", load_.complaint(), "");
  }
  if (!timed_.complaint().empty()) {
    report("times", timed_.complaint(), "");
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
void StoreRun::cut() {
  std::string moments;
  Status recovered;
  while (captured_ && !violation_) {
    const Captured now = std::move(*captured_);
    captured_.reset();
    moments += (moments.empty() ? "power cut at " : ", again at ") + now.moment;
    splits_line_ = splits_line_ || now.splits_line;
    growing_.acknowledged_bytes = now.grown_bytes;
    witness_.cut(world_.loop().now_ns());
    count_server();
    reached_.cuts_after_kill += world_.memory().was_killed() ? 1u : 0u;
    world_.restart_server(now.image);
    if (random_.chance(1, 3)) {
      for (std::uint32_t i = 0; i < world_.clients(); ++i) {
        restart_client(i);
      }
    }
    recovered = world_.recover();
  }
  if (!recovered.ok()) {
    report("recovers", std::string(recovered.message()), moments);
    return;
  }
  to_kill_ = false;
  judge_growth(world_, moments);
  growing_.is_planned = false;
  load_.start_here();
  timed_.came_back(false);
  timed_.start_here();
  if (random_.chance(1, 2)) {
    world_.client(world_.observer()).cut_power();
    world_.client(world_.observer()).power_on();
    StoreWorld::Sight& sight = sights_.emplace_back();
    sight.scans = plan_.is_hard;
    world_.look(witness_, sight);
  }
}

void StoreRun::restart_client(std::uint32_t client) {
  Node& node = world_.client(client);
  if (node.powered()) {
    node.cut_power();
    load_.died(client);
  }
  node.power_on();
  load_.start(client);
}

// --- Trouble ---

void StoreRun::plan_trouble() {
  if (plan_.trouble_every_ns != 0) {
    next_trouble_ns_ = world_.loop().now_ns() + random_.below(2 * plan_.trouble_every_ns);
  }
}

void StoreRun::make_trouble() {
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
  const auto client = static_cast<std::uint32_t>(random_.below(world_.clients()));
  const std::uint64_t end_ns = now_ns + random_.between(5'000, plan_.longest_trouble_ns);
  const fabric::nic::sim::NodeId near = world_.client(client).id();
  const fabric::nic::sim::NodeId far = world_.server().id();
  switch (random_.below(6)) {
    case 0:
      if (world_.client(client).powered()) {
        world_.client(client).cut_power();
        load_.died(client);
        agenda_.emplace(end_ns, [this, client] {
          if (!world_.client(client).powered()) {
            restart_client(client);
          }
        });
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

void StoreRun::mend() {
  agenda_.clear();
  world_.network().set_faults({});
  for (std::uint32_t i = 0; i < world_.clients(); ++i) {
    world_.network().heal(world_.client(i).id(), world_.server().id());
  }
}

// --- The end ---

bool StoreRun::run_until(StoreWorld& world, std::uint64_t span_ns, std::uint64_t most,
                         const std::function<bool()>& ended) {
  const std::uint64_t end_ns = world.loop().now_ns() + span_ns;
  while (!ended()) {
    if (world.loop().now_ns() > end_ns || world.loop().events() > most ||
        world.loop().step() != RunState::running) {
      return false;
    }
  }
  return true;
}

void StoreRun::rest() {
  if (violation_) {
    return;
  }
  mend();
  load_.stop();
  timed_.stop();
  (void)run_until(world_, longest_wait_ns, most_events, [this] { return load_.finished(); });
  world_.client(world_.observer()).cut_power();
  world_.client(world_.observer()).power_on();
  StoreWorld::Sight& sight = sights_.emplace_back();
  sight.scans = is_of_the_product(engine_);
  world_.look(witness_, sight);
  if (!run_until(world_, longest_wait_ns, most_events, [&] { return sight.finished; })) {
    report("answers", "in a world that is whole again a get has no end", "");
  } else if (!sight.failure.ok()) {
    report("answers",
           "in a world that is whole again a get failed: " + std::string(sight.failure.message()),
           "");
  }
  judge(witness_, "");
  if (violation_) {
    return;
  }
  if (!run_until(world_, plan_.server.put_timeout_ns + longest_wait_ns, most_events,
                 [this] { return !world_.store()->busy(); })) {
    std::string counters;
    for (const kv::StoreServer::Counter& counter : world_.store()->counters()) {
      counters += fmt::format(", {} {}", counter.name, counter.value);
    }
    report("settles", "nobody asks for anything, and the store does not come to rest" + counters,
           "");
    return;
  }
  if (engine_.promise().acknowledged == Acknowledged::asynchronous) {
    witness_.all_is_persistent(world_.loop().now_ns());
  }
  probe("the end");
  if (!violation_ && is_of_the_product(engine_)) {
    expect_room(world_, witness_, sight.live_bytes, "");
  }
}

// --- Power cuts ---

StoreRun::Captured StoreRun::capture(const CrashMemory& memory, const CrashEvent& event) {
  Images images(images_of_a_cut);
  images.take(memory, random_.fork());
  for (std::uint64_t skip = random_.below(images.planned()); images.next() && skip != 0; --skip) {
  }
  ++count_.cuts;
  ++count_.images;
  count_.distinct.insert(images.hash());
  return {{images.bytes().begin(), images.bytes().end()},
          describe(event),
          images.splits_line(),
          growing_.acknowledged_bytes};
}

void StoreRun::on_memory_event(const CrashEvent& event) {
  if (!cutting_ || captured_ || violation_) {
    return;
  }
  // Few events pass while the store recovers, few are commits, and few belong to a transaction of
  // the pool, which opens and ends segments; each of them is worth a cut.
  const std::uint64_t hurry = world_.store() == nullptr         ? 20
                              : event.kind == EventKind::commit ? 8
                              : is_of_the_pool(event)           ? 3
                              : world_.memory().was_killed()    ? 10
                                                                : 1;
  if (is_probed_in_growth()) {
    probe(describe(event));
  }
  if (is_cut_in_cleaning(event) || is_cut_in_growth(event)) {
    captured_ = capture(world_.memory(), event);
  } else if (is_time_to_kill(event)) {
    to_kill_ = true;
  } else if (cuts_left_ != 0 && random_.chance(hurry, plan_.cut_one_in)) {
    --cuts_left_;
    captured_ = capture(world_.memory(), event);
  } else if (probes_left_ != 0 && random_.chance(hurry, plan_.probe_one_in)) {
    --probes_left_;
    probe(describe(event));
  }
}

void StoreRun::probe(const std::string& moment) {
  images_ = Images(images_of_a_probe);
  images_.take(world_.memory(), random_.fork());
  ++count_.cuts;
  while (!violation_ && images_.next()) {
    ++count_.images;
    count_.distinct.insert(images_.hash());
    recover_elsewhere(images_.bytes(), moment);
    if (violation_) {
      violation_->stricter_than_x86 = violation_->stricter_than_x86 || images_.splits_line();
    }
  }
}

void StoreRun::recover_elsewhere(ConstBytes image, const std::string& moment) {
  std::string moments = "power cut at " + moment;
  StoreWorld::Sight sight;
  Witness witness = witness_;
  witness.cut(world_.loop().now_ns());
  witness.begins_at(world_.loop().now_ns());
  StoreWorld world(plan_, 0, sites_, random_.fork());
  std::optional<Captured> again;
  std::uint64_t until_again = random_.chance(1, 3) ? random_.between(1, 40) : 0;
  world.memory().on_event([&](const CrashEvent& event) {
    if (until_again != 0 && --until_again == 0) {
      again = capture(world.memory(), event);
    }
  });
  world.restart_server(image);
  Status recovered = world.recover();
  if (again) {
    witness.cut(world.loop().now_ns());
    moments += ", again in the recovery at " + again->moment;
    world.restart_server(again->image);
    recovered = world.recover();
  }
  until_again = 0;
  if (!recovered.ok()) {
    report("recovers", std::string(recovered.message()), moments);
    return;
  }
  judge_growth(world, moments);
  sight.scans = is_of_the_product(engine_);
  world.look(witness, sight);
  if (!run_until(world, longest_wait_ns, most_events, [&] { return sight.finished; }) ||
      !sight.failure.ok()) {
    report("answers",
           "after a recovery a get " + (sight.finished
                                            ? "failed: " + std::string(sight.failure.message())
                                            : std::string("has no end")),
           moments);
    return;
  }
  judge(witness, moments);
  timed_.judge(world);
  if (!timed_.complaint().empty()) {
    report("times", timed_.complaint(), moments);
  }
  if (!violation_ && plan_.cuts_in_cleaning != 0) {
    expect_room(world, witness, sight.live_bytes, moments);
  }
  if (violation_ && again) {
    violation_->stricter_than_x86 = violation_->stricter_than_x86 || again->splits_line;
  }
}

// --- The verdict ---

void StoreRun::judge(const Witness& witness, const std::string& after) {
  if (violation_) {
    return;
  }
  const Verdict verdict =
      check(witness.history(), run_.hold_to.value_or(engine_.promise()), budget_states);
  if (!verdict.violations.empty()) {
    const Violation& first = verdict.violations.front();
    report(std::string(first.rule), first.key.substr(0, 12) + ": " + first.explanation, after);
  } else if (!verdict.undecided.empty()) {
    const Undecided& first = verdict.undecided.front();
    report("undecided", first.key.substr(0, 12) + ": " + first.why, after);
  }
}

void StoreRun::report(std::string rule, std::string explanation, const std::string& after) {
  if (!violation_) {
    violation_ =
        CrashViolation{run_.seed, to_string(plan_.platform), std::move(rule),
                       std::move(explanation) + (after.empty() ? "" : "; " + after), splits_line_};
  }
}

}  // namespace remora::lab
