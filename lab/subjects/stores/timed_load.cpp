#include "lab/subjects/stores/timed_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace remora::lab {
namespace {

constexpr std::uint64_t longest_life_ms = 12;
constexpr std::uint64_t longest_pause_ns = 1'500'000;
// The background looks for keys whose time has come ten times a second.
constexpr std::uint64_t until_deleted_ns = 120'000'000;
constexpr kv::LocalStore::Mark no_mark = UINT64_MAX;

}  // namespace

TimedLoad::TimedLoad(StoreWorld& world, const StorePlan& plan, Random random)
    : world_(world), plan_(plan), random_(random) {
  for (std::uint32_t i = 0; i < plan.timed_keys; ++i) {
    const std::string key = timed_key(i);
    keys_[key] = {DatedStep{}};
    firm_[key] = 0;
  }
}

void TimedLoad::start_here() {
  kv::LocalStore* store = keys_.empty() ? nullptr : world_.store()->local();
  if (store != nullptr && !stopped_) {
    world_.server().spawn(live(*store, random_.fork()));
  }
}

std::string TimedLoad::draw_key(Random& random) const {
  return timed_key(random.below(plan_.timed_keys));
}

// --- Changes ---

Task<void> TimedLoad::live(kv::LocalStore& store, Random random) {
  while (!stopped_) {
    co_await world_.loop().sleep_for(random.chance(1, 12) ? until_deleted_ns
                                                          : random.below(longest_pause_ns));
    const std::string key = draw_key(random);
    if (random.chance(1, 4)) {
      const kv::LocalStore::Mark mark = store.now();
      const Status status = co_await store.persistent(mark);
      // A cut in the middle of this very event takes what comes after it, the answer too.
      co_await world_.loop().yield();
      if (status.ok()) {
        persistent_up_to(mark);
      }
    } else if (random.chance(1, 4)) {
      look(store, key, keys_[key].size() - 1, {wall_ms(), wall_ms(), 0}, "");
    } else {
      co_await change(store, key, random);
    }
  }
}

Task<void> TimedLoad::change(kv::LocalStore& store, const std::string& key, Random& random) {
  if (plan_.together_percent != 0 && plan_.timed_keys > 1 && random.chance(1, 2)) {
    co_await change_two(store, key, random);
    co_return;
  }
  DatedSteps& steps = keys_[key];
  const DatedStep step = draw_step(random);
  const std::string value = dated_value(step.version, random.between(24, plan_.usual_value_bytes));
  const ConstBytes piece = as_bytes(value);
  for (int tries = 0; tries < 2; ++tries) {
    // It may happen though a cut takes the answer; and it is made by the call, at once.
    steps.push_back(step);
    const Result<kv::LocalStore::Mark> mark =
        step.version == 0 ? store.del(as_bytes(key))
                          : store.put(as_bytes(key), std::span(&piece, 1), step.expires);
    if (mark.ok()) {
      steps.back().mark = *mark;
      co_return;
    }
    steps.pop_back();
    if (mark.code() != Code::no_space) {
      complain("a change of a key with a time failed: " + std::string(mark.status().message()));
      co_return;
    }
    if (!(co_await store.room()).ok()) {
      co_return;
    }
  }
}

DatedStep TimedLoad::draw_step(Random& random) {
  DatedStep step{.mark = no_mark};
  if (!random.chance(1, 10)) {
    step.version = ++versions_;
    step.expires = random.chance(3, 4) ? wall_ms() + random.between(1, longest_life_ms) : 0;
  }
  return step;
}

// At once, if the first is as it is found now: one whose time has come is not there.
Task<void> TimedLoad::change_two(kv::LocalStore& store, const std::string& key, Random& random) {
  std::string other = draw_key(random);
  while (other == key) {
    other = draw_key(random);
  }
  std::array<std::string, 2> values;
  std::vector<kv::Write> writes;
  const std::array<const std::string*, 2> names = {&key, &other};
  std::array<DatedStep, 2> steps;
  for (std::size_t i = 0; i < names.size(); ++i) {
    steps[i] = draw_step(random);
    values[i] = dated_value(steps[i].version, random.between(24, plan_.usual_value_bytes));
    writes.push_back({as_bytes(*names[i]), std::nullopt, steps[i].expires});
    if (steps[i].version != 0) {
      writes.back().value = as_bytes(values[i]);
    }
  }
  for (int tries = 0; tries < 2; ++tries) {
    const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(key));
    const kv::Condition condition{as_bytes(key), found ? found->version : 0};
    for (std::size_t i = 0; i < names.size(); ++i) {
      keys_[*names[i]].push_back(steps[i]);
    }
    const Result<kv::LocalStore::Mark> mark =
        store.write_together({std::span(&condition, 1), writes});
    for (const std::string* const name : names) {
      if (mark.ok()) {
        keys_[*name].back().mark = *mark;
      } else {
        keys_[*name].pop_back();
      }
    }
    if (mark.ok()) {
      co_return;
    }
    if (mark.code() != Code::no_space) {
      complain("a change of two keys with a time failed: " + std::string(mark.status().message()));
      co_return;
    }
    const Status room = co_await store.room();
    if (!room.ok()) {
      co_return;
    }
  }
}

void TimedLoad::persistent_up_to(kv::LocalStore::Mark mark) {
  for (const auto& [key, steps] : keys_) {
    for (std::size_t i = firm_[key]; i < steps.size(); ++i) {
      firm_[key] = steps[i].mark <= mark ? i : firm_[key];
    }
  }
}

// --- Natives ---

Task<void> TimedLoad::get(kv::StoreClient& store, Bytes buffer, Random& random) {
  const std::string key = draw_key(random);
  const DatedSteps& steps = keys_[key];
  const std::uint64_t life = life_;
  const std::size_t from = steps.size() - 1;
  const std::uint64_t from_ms = wall_ms();
  const Result<std::size_t> size = co_await store.get(as_bytes(key), buffer);
  if (life != life_ || (!size.ok() && size.code() != Code::not_found)) {
    co_return;
  }
  ++gets_;
  // Natives are not told the time: it is that of the version.
  DatedStep seen;
  if (size.ok()) {
    seen.version = dated_version(as_text(ConstBytes(buffer).first(*size)));
    const auto put = std::ranges::find(steps, seen.version, &DatedStep::version);
    seen.expires = put == steps.end() ? 0 : put->expires;
  }
  const std::span may_be = std::span(steps).subspan(from);
  if (!explains(may_be, seen, {from_ms, wall_ms(), 0})) {
    complain(
        fmt::format("a get by a native found of {} version {} until {}, at {} to {}; it may "
                    "be{} gone from its time on",
                    key, seen.version, seen.expires, from_ms, wall_ms(), describe(may_be)));
  }
  if (size.ok()) {
    const auto put = std::ranges::find(steps, seen.version, &DatedStep::version);
    firm_[key] = std::max(firm_[key], static_cast<std::size_t>(put - steps.begin()));
  }
  expired_gets_ += !size.ok() && steps.back().version != 0 ? 1u : 0u;
}

TimedLoad::Began TimedLoad::begin_scan() const {
  Began began{{}, world_.loop().wall_ms(), life_};
  for (const auto& [key, steps] : keys_) {
    began.at[key] = steps.size() - 1;
  }
  return began;
}

void TimedLoad::scanned(const Began& began, const std::vector<std::string>& listed) {
  if (began.life != life_) {
    return;
  }
  for (const auto& [key, from] : began.at) {
    const std::span may_be = std::span(keys_[key]).subspan(from);
    const bool there = std::ranges::find(listed, key) != listed.end();
    if (!explains_presence(may_be, there, {began.from_ms, wall_ms(), 0})) {
      complain(fmt::format("a scan from {} to {} {} {}; it may be{} gone from its time on",
                           began.from_ms, wall_ms(), there ? "listed" : "did not list", key,
                           describe(may_be)));
    }
  }
}

// --- After a cut ---

void TimedLoad::look(kv::LocalStore& store, const std::string& key, std::size_t from,
                     const DatedLook& look, const std::string& when) {
  const std::optional<kv::LocalStore::Found> found = store.get(as_bytes(key));
  const DatedStep seen = found ? dated_step(*found) : DatedStep{};
  const std::span may_be = std::span(keys_[key]).subspan(from);
  if (!explains(may_be, seen, look)) {
    complain(fmt::format("at {} {} is version {} until {}{}; it may be{} gone from its time on",
                         look.until_ms, key, seen.version, seen.expires, when, describe(may_be)));
  }
}

void TimedLoad::came_back(bool killed) {
  ++life_;
  kv::LocalStore* const store = keys_.empty() ? nullptr : world_.store()->local();
  if (store == nullptr) {
    return;
  }
  const DatedLook now{wall_ms(), wall_ms(), 0};
  for (auto& [key, steps] : keys_) {
    look(*store, key, killed ? steps.size() - 1 : firm_[key], now,
         killed ? " after a kill" : " after a cut");
    if (killed) {
      // Nothing of the new life says when they are persistent.
      std::ranges::for_each(steps, [](DatedStep& step) { step.mark = no_mark; });
      continue;
    }
    const std::optional<kv::LocalStore::Found> found = store->get(as_bytes(key));
    outages_ += steps.back().expires != 0 ? 1u : 0u;
    steps = after_cut(steps, found ? dated_step(*found) : DatedStep{}, wall_ms());
    firm_[key] = 0;
  }
}

// The clock of the other world begins anew, so it is set back.
void TimedLoad::judge(StoreWorld& elsewhere) {
  kv::LocalStore* const store = keys_.empty() ? nullptr : elsewhere.store()->local();
  if (store == nullptr) {
    return;
  }
  const std::uint64_t now_ms = elsewhere.loop().wall_ms();
  for (const auto& [key, steps] : keys_) {
    look(*store, key, firm_[key], {now_ms, now_ms, wall_ms()}, " in an image of a cut");
  }
}

void TimedLoad::complain(const std::string& what) {
  if (complaint_.empty()) {
    complaint_ = what;
  }
}

}  // namespace remora::lab
