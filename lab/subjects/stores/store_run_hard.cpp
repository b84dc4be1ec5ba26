// What harder lives add to a run: kills, cuts within cleanings, and the proof that nothing leaks.
#include <fmt/format.h>

#include <algorithm>

#include "lab/subjects/stores/store_run.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t longest_filling_ns = 400'000'000;
constexpr std::uint64_t most_filling_events = 400'000;
constexpr std::uint64_t few_puts = 3;
constexpr std::uint64_t kill_one_in = 60;             // events of a cleaning
constexpr std::uint64_t cut_in_cleaning_one_in = 12;  // the same
// Little lives where this much of the space is free, that is, an eighth of what may live.
constexpr std::uint64_t little = 16;

bool is_of_cleaning(const CrashEvent& event) {
  return event.site != nullptr &&
         std::string_view(event.site->file_name()).find("cleaning") != std::string_view::npos;
}

std::uint64_t counter_of(kv::StoreServer& store, std::string_view name) {
  for (const kv::StoreServer::Counter& counter : store.counters()) {
    if (counter.name == name) {
      return counter.value;
    }
  }
  return 0;
}

}  // namespace

bool StoreRun::is_cut_in_cleaning(const CrashEvent& event) {
  if (cuts_in_cleaning_left_ == 0 || !is_of_cleaning(event) ||
      !random_.chance(1, cut_in_cleaning_one_in)) {
    return false;
  }
  --cuts_in_cleaning_left_;
  ++reached_.cuts_in_cleaning;
  return true;
}

bool StoreRun::is_time_to_kill(const CrashEvent& event) {
  if (kills_left_ == 0 || to_kill_ || world_.store() == nullptr ||
      !random_.chance(1, is_of_cleaning(event) ? kill_one_in : plan_.cut_one_in)) {
    return false;
  }
  --kills_left_;
  return true;
}

// Nothing that is seen is lost, so it is no cut to the history. The new process may be cut while it
// recovers.
void StoreRun::kill() {
  to_kill_ = false;
  count_server();
  ++reached_.kills;
  world_.kill_server();
  const Status recovered = world_.recover();
  if (captured_) {
    cut();
    return;
  }
  if (!recovered.ok()) {
    report("recovers", std::string(recovered.message()), "after a kill");
    return;
  }
  judge_growth(world_, "after a kill");
  growing_.is_planned = false;
  load_.start_here();
  timed_.came_back(true);
  timed_.start_here();
  probe("the end of a recovery after a kill");
}

// A store that loses room at every cut still says no_space, which is an answer as good as any: here
// it is none.
void StoreRun::expect_room(StoreWorld& world, Witness& witness, std::uint64_t live_bytes,
                           const std::string& after) {
  const std::uint64_t total_bytes = counter_of(*world.store(), "log_bytes_total");
  const std::uint64_t timed_bytes = plan_.timed_keys * (plan_.usual_value_bytes + 256);
  if ((live_bytes + timed_bytes) * little > total_bytes * 2) {
    return;
  }
  StoreWorld::Filling filling;
  filling.value_bytes = plan_.usual_value_bytes;
  filling.puts = plan_.is_hard ? total_bytes / (plan_.usual_value_bytes + 128) : few_puts;
  world.client(world.observer()).cut_power();
  world.client(world.observer()).power_on();
  world.fill(witness, filling);
  const std::uint64_t began_ns = world.loop().now_ns();
  const std::uint64_t began_events = world.loop().events();
  const bool ended = run_until(world, longest_filling_ns, began_events + most_filling_events,
                               [&] { return filling.finished; });
  reached_.filled += filling.puts;
  // One that took longer than the server waits is given up, as ever.
  if (!ended || (!filling.failure.ok() && filling.failure.code() != Code::timed_out)) {
    std::string counters;
    for (const kv::StoreServer::Counter& counter : world.store()->counters()) {
      counters += fmt::format(", {} {}", counter.name, counter.value);
    }
    report("room",
           fmt::format("{} bytes live of {}, and a put {}{}", live_bytes, total_bytes,
                       ended ? "is told: " + std::string(filling.failure.message())
                             : fmt::format("has no end within {} ns and {} events",
                                           world.loop().now_ns() - began_ns,
                                           world.loop().events() - began_events),
                       counters),
           after);
  }
  if (!filling.finished) {  // its flow must not outlive what it was handed
    world.client(world.observer()).cut_power();
    world.client(world.observer()).power_on();
  }
}

// --- What was reached ---

void StoreRun::count_server() {
  kv::StoreServer* const store = world_.store();
  if (store == nullptr) {
    return;
  }
  reached_.cleanings += counter_of(*store, "cleanings");
  reached_.cleaned_parts += counter_of(*store, "cleaned_parts");
  reached_.given_up += counter_of(*store, "invalidated_versions");
  reached_.by_worker += counter_of(*store, "verified_by_worker");
  reached_.expired_keys += counter_of(*store, "expired_keys");
  reached_.growths += counter_of(*store, "index_growths");
  reached_.shrinks += counter_of(*store, "index_shrinks");
}

void StoreRun::count_load() {
  reached_.large_puts = load_.large_puts();
  reached_.together = load_.together();
  reached_.scans = load_.scans();
  reached_.pool_growths = growing_.acknowledged;
  reached_.clears = load_.clears();
  reached_.timed_gets = timed_.gets();
  reached_.expired_gets = timed_.expired_gets();
  reached_.timed_outages = timed_.outages();
}

Reached& Reached::operator+=(const Reached& other) {
  cleanings += other.cleanings;
  cleaned_parts += other.cleaned_parts;
  given_up += other.given_up;
  by_worker += other.by_worker;
  expired_keys += other.expired_keys;
  growths += other.growths;
  shrinks += other.shrinks;
  large_puts += other.large_puts;
  scans += other.scans;
  clears += other.clears;
  timed_gets += other.timed_gets;
  expired_gets += other.expired_gets;
  timed_outages += other.timed_outages;
  kills += other.kills;
  cuts_after_kill += other.cuts_after_kill;
  cuts_in_cleaning += other.cuts_in_cleaning;
  filled += other.filled;
  together += other.together;
  pool_growths += other.pool_growths;
  cuts_in_growth += other.cuts_in_growth;
  probes_in_growth += other.probes_in_growth;
  return *this;
}

}  // namespace remora::lab
