// TimedLoad: keys with a time in the world of a StoreRun, beside native clients, cleaning, growth
// of the index, cuts and kills. The server's own process changes them, one change after another;
// natives get and scan them. So what a key may be follows from what was done to it (dated.h), and
// what a get may return from the changes that were made while it was under way:
//
//   - what was there at some moment of the get, with the time that was put with it;
//   - nothing, from its time on, and not before;
//   - after a cut what the last change left that was called persistent or that a native get
//     returned, or a later one; after a kill the last one.
//
// One thread. The world outlives it, and it outlives the flows on the nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kv/local_store.h"
#include "lab/subjects/stores/dated.h"
#include "lab/subjects/stores/plan.h"
#include "lab/subjects/stores/store_world.h"

namespace remora::lab {

class TimedLoad {
 public:
  TimedLoad(StoreWorld& world, const StorePlan& plan, Random random);

  // The server's own process begins its changes; the server has power.
  void start_here();
  void stop() { stopped_ = true; }

  // A native gets a key; the buffer holds every value.
  Task<void> get(kv::StoreClient& store, Bytes buffer, Random& random);
  // A native begins to scan; and has listed these.
  using Moment = std::map<std::string, std::size_t>;
  struct Began {
    Moment at;
    std::uint64_t from_ms = 0;
    std::uint64_t life = 0;
  };
  Began begin_scan() const;
  void scanned(const Began& began, const std::vector<std::string>& listed);

  // The server has come back from a cut, or from a kill.
  void came_back(bool killed);
  // An image of this world was recovered elsewhere.
  void judge(StoreWorld& elsewhere);

  // A violation, in words; empty as long as there is none.
  const std::string& complaint() const { return complaint_; }

  // What was reached.
  std::uint64_t gets() const { return gets_; }
  std::uint64_t expired_gets() const { return expired_gets_; }  // natives found its time come
  std::uint64_t outages() const { return outages_; }            // cuts, with some key that had one

 private:
  Task<void> live(kv::LocalStore& store, Random random);
  Task<void> change(kv::LocalStore& store, const std::string& key, Random& random);
  Task<void> change_two(kv::LocalStore& store, const std::string& key, Random& random);
  DatedStep draw_step(Random& random);
  void persistent_up_to(kv::LocalStore::Mark mark);
  void look(kv::LocalStore& store, const std::string& key, std::size_t from, const DatedLook& look,
            const std::string& when);
  std::string draw_key(Random& random) const;
  std::uint64_t wall_ms() { return world_.loop().wall_ms(); }
  void complain(const std::string& what);

  StoreWorld& world_;
  const StorePlan& plan_;
  Random random_;
  std::map<std::string, DatedSteps> keys_;
  std::map<std::string, std::size_t> firm_;  // the last step that a cut cannot take
  std::uint64_t versions_ = 0;
  std::uint64_t life_ = 0;  // of the server's process
  std::uint64_t gets_ = 0;
  std::uint64_t expired_gets_ = 0;
  std::uint64_t outages_ = 0;
  bool stopped_ = false;
  std::string complaint_;
};

}  // namespace remora::lab
