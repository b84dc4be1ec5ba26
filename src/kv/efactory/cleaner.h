// Cleaner: carries out what the policy decides (cleaning_policy.h): copies the versions that live
// on, leads to the copies whatever led to the originals, and frees what nobody uses any more. The
// table in cleaning_stages.h says what each stage of that means for readers, for writers and at a
// cut.
//
// A flow calls clean(), one cleaning at a time. One thread, the loop's.
#pragma once

#include <cstdint>
#include <vector>

#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/cleaning_policy.h"
#include "kv/efactory/cleaning_room.h"
#include "kv/efactory/cleaning_stages.h"
#include "kv/efactory/rounds.h"
#include "kv/efactory/snapshots.h"
#include "kv/efactory/verifier.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Cleaner {
 public:
  // All outlive it.
  Cleaner(Catalogue& catalogue, Committer& commits, Peers& peers, Rounds& rounds,
          Verifier& verifier, Snapshots& snapshots, const ServerOptions& options);

  // Cleans, if the policy finds something that pays.
  Task<void> clean();

  bool is_cleaning() const { return stage_ != CleaningStage::none; }
  // Whether the log is cleaned, or should be.
  bool is_due() const {
    return is_cleaning() || policy_.wants_cleaning() || catalogue_.log().has_cleared();
  }
  bool wants_cleaning() const { return policy_.wants_cleaning(); }

  // --- For puts.

  // Whether so much may be put: not where that could take the space that copies need.
  bool admits(std::uint64_t size_bytes) const {
    return room_.is_enough_beside(size_bytes) || !is_due();
  }
  // Whether a client may put something now, if there is room.
  bool in_pace() const { return room_.in_pace(); }
  // A version was put; a client has put it.
  void took(std::uint64_t size_bytes) { room_.took(size_bytes); }
  void took_in_pace(std::uint64_t size_bytes) { room_.took_in_pace(size_bytes); }
  // A put found no space.
  void press() { policy_.press(); }
  bool is_pressed() const { return policy_.is_pressed(); }

  const CleaningPolicy& policy() const { return policy_; }
  // Frees the segments in which nothing is left since all keys were cleared.
  Task<Status> free_cleared();
  // Cleanings that ended, whatever came of them.
  std::uint64_t ended() const { return ended_; }
  std::uint64_t moved_versions() const { return moved_; }

 private:
  using Fate = Catalogue::Fate;
  using Plan = CleaningPolicy::Plan;
  using Worth = CleaningPolicy::Worth;
  enum class Moved : std::uint8_t { all, undecided, damaged, no_room };

  void begin(const Plan& plan);
  void enter(CleaningStage stage);
  // A round that says how this stage's clients find what they get.
  Task<void> hold_round() { return rounds_.hold(rounds_.reads_of(row_of(stage_).finding)); }

  // All of the log.
  Task<Status> clean_all();
  Task<Status> compress(std::vector<Segment>& old, std::vector<Offset>& undecided);
  Task<Status> merge(const std::vector<Segment>& compressed, const std::vector<Offset>& undecided,
                     std::vector<Segment>& old);
  // What was put to the segment after this place.
  Task<Status> move_rest(const Segment& segment, Offset from);
  Task<Status> end_old_pool(const std::vector<Segment>& old);
  // There was no room for the copies.
  Task<void> give_up();
  // Everything leads to the new pool, and nothing in it to the old.
  Task<void> persist_old(const std::vector<Segment>& old);

  // A part of it (cleaner_part.cpp).
  Task<Status> clean_part(const std::vector<Worth>& worth);
  Task<Moved> move_living(const Segment& segment);
  bool copy_living(const Object& object, Fate fate);

  // Whether these are all that the segment holds: a walk ends at a header that is damaged.
  bool is_whole(const Segment& segment, const std::vector<Offset>& offsets);
  Status check_whole(const Segment& segment, const std::vector<Offset>& offsets);

  // Versions, one by one.
  Task<Status> move_one(Offset offset);
  // What is undecided is noted, or, where nothing is to note it in, given up.
  Status carry_out(Fate fate, const Object& object, std::vector<Offset>* undecided);
  void note_copy(const Object& object, Ticket ticket);
  // Whether it is the requests' turn, after this version of that fate.
  bool turn_is_over(Fate fate, const Object& object);
  Task<void> give_turn();

  // The marks of versions that were given up are persistent.
  Task<Status> persist_marks();
  // The copies are persistent, and whatever versions were called stale for.
  Task<Status> persist_moves();
  Task<Status> persistent(Ticket ticket);
  // Frees what ended, when no client uses it any more.
  Task<Status> free_old();

  Catalogue& catalogue_;
  const Host background_;
  Committer& commits_;
  Peers& peers_;
  Rounds& rounds_;
  Verifier& verifier_;
  Snapshots& snapshots_;
  CleaningStage stage_ = CleaningStage::none;
  CleaningRoom room_{catalogue_, stage_};
  CleaningPolicy policy_;
  Ticket last_move_;
  std::uint64_t steps_ = 0;  // since requests had their turn
  std::uint64_t ended_ = 0;
  std::uint64_t moved_ = 0;
};

}  // namespace remora::kv::efactory
