// ExpiryRun: one seeded run of a store's keys with a time in the crash world. The server's own
// process puts keys with and without a time, deletes them, waits until changes are persistent, and
// lets times come; at some memory events the power is cut, and the store comes back with one of the
// images that the crash model allows, now and then to a clock that was set back meanwhile. One flow
// makes all changes, so what a key may be after a cut follows from what it did to it:
//
//   - what the last change that was called persistent left, or a later one;
//   - with the time that was put with it, to the millisecond;
//   - and not there once that time has come: in particular no older version;
//   - at one of its two places, when it was moved;
//   - not there once all keys were cleared, together with all others;
//   - counted as long as it is there, and no longer;
//   - nor ever again, whatever the clock says, when its time had come a while before something was
//     called persistent.
//
// All follows from the seed. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kv/local_store.h"
#include "lab/memory/distinct.h"
#include "lab/memory/images.h"
#include "lab/subjects/stores/dated.h"
#include "lab/subjects/stores/plan.h"
#include "lab/subjects/stores/store_world.h"

namespace remora::lab {

class ExpiryRun {
 public:
  // Engine and sites outlive it.
  ExpiryRun(const kv::Engine& engine, const Platform& platform, const Faults& faults,
            std::uint64_t seed, SiteTable& sites);

  // Once. The first violation in words, or nothing.
  std::optional<std::string> go();

  // What has happened: for who wants to know that a run was worth something.
  std::uint64_t cuts() const { return cuts_; }
  const DistinctHashes& images() const { return images_; }    // that cuts left
  std::uint64_t kept_times() const { return kept_times_; }    // seen again after a cut
  std::uint64_t stayed_away() const { return stayed_away_; }  // expired, and so after a cut
  std::uint64_t set_back() const { return set_back_; }        // of those, by an older clock too
  std::uint64_t cleanings() const { return cleanings_; }
  std::uint64_t forgotten() const { return forgotten_; }  // by the background
  std::uint64_t clears() const { return clears_; }        // of all keys, that were persistent

 private:
  using Step = DatedStep;
  using Steps = DatedSteps;

  Task<void> live(kv::LocalStore& store, Random random);
  Task<void> change(kv::LocalStore& store, Steps& steps, const std::string& key, Random& random);
  void look(kv::LocalStore& store, const std::string& key, const Steps& steps, std::size_t from,
            const std::string& after);
  void on_memory_event();
  void cut();
  void count();
  void count_keys(const kv::LocalStore& store);
  Task<void> move(kv::LocalStore& store, const std::string& from, const std::string& to);
  Task<void> clear(kv::LocalStore& store, Random& random);
  void judge_clearing(kv::LocalStore& store);
  Task<void> let_times_come(kv::LocalStore& store);
  void persistent_up_to(kv::LocalStore::Mark mark);
  bool is_there(const Step& step);
  bool may_be_gone(const Step& step);
  void report(const std::string& what);

  Random random_;
  StorePlan plan_;
  StoreWorld world_;
  std::map<std::string, Steps> keys_;
  // Since the last cut: which steps of the two keys.
  struct Move {
    std::string from;
    std::size_t gone = 0;
    std::string to;
    std::size_t there = 0;
  };
  std::vector<Move> moves_;
  std::map<std::string, std::size_t> cleared_;  // which step of each was the last clearing
  std::map<std::string, std::size_t> firm_;     // the last step that was called persistent
  std::uint64_t versions_ = 0;
  std::uint64_t left_;  // changes
  std::optional<std::vector<std::byte>> image_;
  DistinctHashes images_;
  std::uint64_t cuts_left_;
  std::uint64_t cuts_ = 0;
  std::uint64_t kept_times_ = 0;
  std::uint64_t stayed_away_ = 0;
  std::uint64_t set_back_ = 0;
  std::uint64_t latest_wall_ms_ = 0;  // before the cut that is being looked at
  std::uint64_t cleanings_ = 0;
  std::uint64_t forgotten_ = 0;
  std::uint64_t clears_ = 0;
  std::optional<std::string> violation_;
};

}  // namespace remora::lab
