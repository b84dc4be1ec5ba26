#include "lab/subjects/stores/expiry_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "kv/move_key.h"

namespace remora::lab {
namespace {

constexpr ImageLimits images_of_an_outage = {.exhaustive = 1, .samples = 16};
constexpr std::uint64_t key_count = 5;
constexpr std::uint64_t change_count = 150;
constexpr std::uint64_t most_outages = 4;
constexpr std::uint64_t outage_one_in = 500;  // memory events
constexpr std::uint64_t longest_time_ms = 150;
constexpr std::uint64_t longest_rest_ns = 8'000'000;
// The background looks for keys whose time has come ten times a second.
constexpr std::uint64_t until_deleted_ms = 250;
constexpr std::uint64_t shortest_dated_bytes = 24;
constexpr std::uint64_t longest_dated_bytes = 4'000;
constexpr std::uint64_t longest_run_events = 400'000;

StorePlan plan_of(const kv::Engine& engine, const Platform& platform, const Faults& faults,
                  Random& random) {
  StorePlan plan;
  plan.engine = &engine;
  plan.platform = platform;
  plan.faults = faults;
  plan.pool_bytes = 256 << 10;
  plan.server.expected_keys = 8;
  constexpr std::uint32_t percents[] = {5, 15, 60};
  plan.server.clean_at_percent = percents[random.below(3)];
  plan.server.local_commit_ns = random.below(20'000'000);
  plan.server.cleaning = plan.server.local_commit_ns % 3 == 1   ? kv::Cleaning::parts
                         : plan.server.local_commit_ns % 6 == 2 ? kv::Cleaning::cheapest
                                                                : kv::Cleaning::whole;
  return plan;
}

}  // namespace

ExpiryRun::ExpiryRun(const kv::Engine& engine, const Platform& platform, const Faults& faults,
                     std::uint64_t seed, SiteTable& sites)
    : random_(seed),
      plan_(plan_of(engine, platform, faults, random_)),
      world_(plan_, 0, sites, random_.fork()),
      left_(change_count),
      cuts_left_(1 + random_.below(most_outages)) {
  for (std::uint64_t i = 0; i < key_count; ++i) {
    const std::string key = "key-" + std::to_string(i);
    keys_[key] = {Step{}};
    firm_[key] = 0;
  }
}

std::optional<std::string> ExpiryRun::go() {
  if (const Status status = world_.create(); !status.ok()) {
    report("the store cannot be made: " + std::string(status.message()));
    return violation_;
  }
  world_.memory().on_event([this](const CrashEvent&) { on_memory_event(); });
  world_.server().spawn(live(*world_.store()->local(), random_.fork()));
  while (!violation_ && left_ != 0 && world_.loop().events() < longest_run_events &&
         world_.loop().step() == RunState::running) {
    if (image_) {
      cut();
    }
  }
  count();
  return violation_;
}

// --- Changes ---

Task<void> ExpiryRun::live(kv::LocalStore& store, Random random) {
  while (left_ != 0 && !violation_) {
    co_await world_.loop().sleep_for(random.chance(1, 2) ? random.below(longest_rest_ns)
                                                         : random.below(10'000));
    count_keys(store);
    const std::string key = "key-" + std::to_string(random.below(key_count));
    Steps& steps = keys_[key];
    if (random.chance(1, 40)) {
      co_await let_times_come(store);
    } else if (random.chance(1, 30)) {
      co_await clear(store, random);
    } else if (random.chance(1, 10)) {
      co_await move(store, key, "key-" + std::to_string(random.below(key_count)));
    } else if (random.chance(1, 4)) {
      const kv::LocalStore::Mark mark = store.now();
      const Status status = co_await store.persistent(mark);
      // A cut in the middle of this very event takes what comes after it, the answer too.
      co_await world_.loop().yield();
      if (status.ok()) {
        persistent_up_to(mark);
      }
    } else if (random.chance(1, 3)) {
      look(store, key, steps, steps.size() - 1, "");
    } else {
      --left_;
      co_await change(store, steps, key, random);
    }
  }
}

// As RENAME does. Without room it stays where it is, or at both places.
Task<void> ExpiryRun::move(kv::LocalStore& store, const std::string& from, const std::string& to) {
  const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(from));
  if (!found || from == to) {
    co_return;
  }
  keys_[to].push_back({dated_version(as_text(found->value)), found->expires, UINT64_MAX});
  keys_[from].push_back({.mark = UINT64_MAX});
  moves_.push_back({from, keys_[from].size() - 1, to, keys_[to].size() - 1});
  kv::KeyMove way;
  Result<kv::Moved> moved = kv::move_key(store, as_bytes(from), as_bytes(to), way);
  while (moved.ok() && *moved == kv::Moved::waits) {
    (void)co_await store.persistent(way.mark);
    moved = kv::move_key(store, as_bytes(from), as_bytes(to), way);
  }
  if (moved.ok()) {
    keys_[to].back().mark = keys_[from].back().mark = store.now();
    co_return;
  }
  if (moved.code() != Code::no_space) {
    report("a key cannot be moved: " + std::string(moved.status().message()));
  }
  if (way.version == 0) {
    keys_[to].pop_back();
  }
  keys_[from].pop_back();
  moves_.pop_back();
}

// As FLUSHALL does.
Task<void> ExpiryRun::clear(kv::LocalStore& store, Random& random) {
  const Result<kv::LocalStore::Mark> mark = store.clear();
  if (!mark.ok()) {
    report("the keys cannot be cleared: " + std::string(mark.status().message()));
    co_return;
  }
  for (auto& [key, steps] : keys_) {
    cleared_[key] = steps.size();
    steps.push_back({.mark = *mark});
  }
  if (random.chance(1, 2)) {
    const Status status = co_await store.persistent(*mark);
    co_await world_.loop().yield();
    if (status.ok()) {
      persistent_up_to(*mark);
      ++clears_;
    }
  }
}

// What has gone by then is deleted, and that is as persistent as any deletion.
Task<void> ExpiryRun::let_times_come(kv::LocalStore& store) {
  const std::uint64_t come_ms = world_.loop().wall_ms();
  co_await world_.loop().sleep_for(until_deleted_ms * 1'000'000);
  const kv::LocalStore::Mark mark = store.now();
  const Status status = co_await store.persistent(mark);
  co_await world_.loop().yield();
  if (!status.ok()) {
    co_return;
  }
  for (auto& [key, steps] : keys_) {
    if (steps.back().expires != 0 && steps.back().expires <= come_ms) {
      steps.push_back({.mark = mark});
    }
  }
  persistent_up_to(mark);
}

Task<void> ExpiryRun::change(kv::LocalStore& store, Steps& steps, const std::string& key,
                             Random& random) {
  Step step;
  const std::uint64_t dice = random.below(10);
  if (dice != 0) {
    step.version = ++versions_;
    step.expires = dice < 7 ? world_.loop().wall_ms() + random.between(1, longest_time_ms) : 0;
  }
  const std::string value =
      dated_value(step.version, random.between(shortest_dated_bytes, longest_dated_bytes));
  const ConstBytes piece = as_bytes(value);
  // It may happen though a cut takes the answer; and it is made by the call, at once.
  steps.push_back(step);
  steps.back().mark = UINT64_MAX;
  for (int tries = 0; tries < 2; ++tries) {
    const Result<kv::LocalStore::Mark> mark =
        step.version == 0 ? store.del(as_bytes(key))
                          : store.put(as_bytes(key), std::span(&piece, 1), step.expires);
    if (mark.ok()) {
      steps.back().mark = *mark;
      co_return;
    }
    if (mark.code() != Code::no_space) {
      report("a change failed: " + std::string(mark.status().message()));
      co_return;
    }
    if (!(co_await store.room()).ok()) {
      break;
    }
  }
  steps.pop_back();
}

void ExpiryRun::persistent_up_to(kv::LocalStore::Mark mark) {
  for (const auto& [key, steps] : keys_) {
    for (std::size_t i = firm_[key]; i < steps.size() && steps[i].mark <= mark; ++i) {
      firm_[key] = i;
    }
  }
}

// --- Cuts ---

void ExpiryRun::on_memory_event() {
  if (image_ || violation_ || cuts_left_ == 0 || !random_.chance(1, outage_one_in)) {
    return;
  }
  --cuts_left_;
  Images images(images_of_an_outage);
  images.take(world_.memory(), random_.fork());
  for (std::uint64_t skip = random_.below(images.planned()); images.next() && skip != 0; --skip) {
  }
  images_.insert(images.hash());
  image_.emplace(images.bytes().begin(), images.bytes().end());
}

void ExpiryRun::cut() {
  count();
  latest_wall_ms_ = world_.loop().wall_ms();
  if (random_.chance(1, 2)) {
    world_.loop().set_wall_back(random_.between(1, 4 * longest_time_ms));
  }
  Status recovered;
  while (image_) {  // the recovery may be cut as well
    const std::vector<std::byte> image = std::move(*image_);
    image_.reset();
    ++cuts_;
    world_.restart_server(image);
    recovered = world_.recover();
  }
  if (!recovered.ok()) {
    report("the store does not recover: " + std::string(recovered.message()));
    return;
  }
  kv::LocalStore& store = *world_.store()->local();
  for (const Move& move : moves_) {
    const Steps& steps = keys_[move.from];
    const auto first = steps.begin() + static_cast<std::ptrdiff_t>(firm_[move.from]);
    const auto gone = steps.begin() + static_cast<std::ptrdiff_t>(move.gone);
    const bool was_there =
        first < gone && gone + 1 == steps.end() &&
        std::none_of(first, gone, [this](const Step& step) { return may_be_gone(step); });
    if (was_there && !store.get(as_bytes(move.from))) {
      firm_[move.to] = std::max(firm_[move.to], move.there);  // the deletion is there
    }
  }
  moves_.clear();
  judge_clearing(store);
  for (auto& [key, steps] : keys_) {
    look(store, key, steps, firm_[key], " after a cut");
    const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(key));
    const Step& firm = steps[firm_[key]];
    const bool had_time = firm_[key] + 1 == steps.size() && firm.expires != 0;
    kept_times_ += had_time && found ? 1u : 0u;
    stayed_away_ += had_time && !found ? 1u : 0u;
    set_back_ += had_time && !found && is_there(firm) ? 1u : 0u;
    steps = after_cut(steps, found ? dated_step(*found) : Step{}, world_.loop().wall_ms());
    firm_[key] = 0;
  }
  latest_wall_ms_ = 0;
  world_.server().spawn(live(store, random_.fork()));
}

// The last clearing before a cut is kept for all keys, or for none: no key may show a version from
// before it while another one, which had such a version for certain, shows none.
void ExpiryRun::judge_clearing(kv::LocalStore& store) {
  std::string spared;
  std::string gone;
  for (const auto& [key, at] : std::exchange(cleared_, {})) {
    const Steps& steps = keys_[key];
    if (firm_[key] >= at) {
      continue;
    }
    const auto before = std::span(steps).subspan(firm_[key], at - firm_[key]);
    const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(key));
    const std::uint64_t version = found ? dated_step(*found).version : 0;
    if (found && std::ranges::count(before, version, &Step::version) != 0) {
      spared = key;
    }
    const bool was_there = std::ranges::all_of(
        before, [](const Step& step) { return step.version != 0 && step.expires == 0; });
    if (!found && was_there && at + 1 == steps.size()) {
      gone = key;
    }
  }
  if (!spared.empty() && !gone.empty()) {
    report("a clearing is kept in part: " + gone + " is gone, and " + spared + " is as before");
  }
}

void ExpiryRun::count() {
  if (world_.store() == nullptr) {
    return;
  }
  for (const kv::StoreServer::Counter& counter : world_.store()->counters()) {
    cleanings_ += counter.name == "cleanings" ? counter.value : 0;
    forgotten_ += counter.name == "expired_keys" ? counter.value : 0;
  }
}

// --- What a key is ---

// Those that a get would find, whether or not the others were deleted yet.
void ExpiryRun::count_keys(const kv::LocalStore& store) {
  std::uint64_t there = 0;
  std::uint64_t with_time = 0;
  for (const auto& [key, steps] : keys_) {
    there += is_there(steps.back()) ? 1u : 0u;
    with_time += is_there(steps.back()) && steps.back().expires != 0 ? 1u : 0u;
  }
  if (store.keys() != there || store.keys_with_expiry() != with_time) {
    report(fmt::format("at {} the store counts {} keys, {} of them with a time; it holds {} and {}",
                       world_.loop().wall_ms(), store.keys(), store.keys_with_expiry(), there,
                       with_time));
  }
}

bool ExpiryRun::is_there(const Step& step) {
  return step.is_there(world_.loop().wall_ms());
}

bool ExpiryRun::may_be_gone(const Step& step) {
  return step.may_be_gone(world_.loop().wall_ms(), latest_wall_ms_);
}

// It is what one of the steps from that one on left.
void ExpiryRun::look(kv::LocalStore& store, const std::string& key, const Steps& steps,
                     std::size_t from, const std::string& after) {
  const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(key));
  const Step seen = found ? dated_step(*found) : Step{};
  const std::uint64_t now_ms = world_.loop().wall_ms();
  const std::span may_be = std::span(steps).subspan(from);
  if (!explains(may_be, seen, {now_ms, now_ms, latest_wall_ms_})) {
    report(fmt::format("at {} {} is version {} until {}{}; it may be{} gone from its time on",
                       now_ms, key, seen.version, seen.expires, after, describe(may_be)));
  }
}

void ExpiryRun::report(const std::string& what) {
  if (!violation_) {
    violation_ = what;
  }
}

}  // namespace remora::lab
