// Committer: the one part that decides when a group commit of a region begins, which thread makes
// it, and who is told of its end. Stores, calls, files and front ends are its users: they say what
// they wait for, and whether any of their clients would notice a loop that stands still.
//
// When a commit begins:
//   W1  `persistent`: somebody waits now. The commit is asked for at once.
//   W2  `persistent_by`: nobody needs it before a time. Commits that others ask for serve it, too;
//       at that time it is asked for.
//   W3  `expect` and `turn_ends`: replies share commits. One begins at the end of a turn of the
//       loop, not before the last one that replies have asked for is over, and waits a while for
//       the clients whom that one has answered (CommitGather in host/commit_gather.h).
//   W4  Changes that nobody waits for yet are put off (host/commit_due.h).
// Which thread makes it:
//   T1  The loop's own, if every party says that all whom it serves wait for a commit: nobody
//       notices, and another thread's way to a processor and back is saved. This holds for replies,
//       and for a party that asks by itself (`may_stand_still`).
//   T2  The region's, if somebody has noticed a commit that replies have asked for, or if it took
//       too long: for a while (LoopCommits in host/commit_gather.h).
//   T3  The region's, in all other cases.
// How its end is told:
//   N1  Where the region tells of its commits, the end of each wakes the loop, and those who wait
//       look again. Meanwhile the loop may sleep.
//   N2  Elsewhere (virtual time) they look now and then. What W2 and W3 put off is asked for at
//       once, since no commit of others would be noticed.
// A failure of the region ends every wait with it; nothing becomes persistent after that.
//
// One thread, the loop's. At most one committer listens to a region; the region and the runtime
// outlive it. Flows that wait here end before it goes, or are abandoned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "host/commit_gather.h"
#include "pmem/region.h"
#include "runtime/event.h"
#include "runtime/poller.h"
#include "runtime/runtime.h"
#include "runtime/task.h"
#include "runtime/timer.h"

namespace remora {

class Committer final : private Poller {
 public:
  // A user that serves clients. One that is destroyed leaves its committer.
  class Party {
   public:
    Party() = default;
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;
    virtual ~Party();

    // Whether all whom it serves wait for a commit, or it serves nobody.
    virtual bool all_wait() = 0;

   private:
    friend class Committer;

    Committer* committer_ = nullptr;
    CommitGather gather_;
    std::size_t waiting_ = 0;  // replies
  };

  // What a turn of the loop has brought for the replies of a party.
  struct Replies {
    std::size_t answered = 0;  // those whose commit has ended
    std::size_t waiting = 0;   // those that wait for one
    Ticket newest = {};        // of the tickets that these wait for
  };

  // The pauses between looks where nobody tells: they double, up to the longest.
  struct Looks {
    std::uint64_t first_ns = 1'000;
    std::uint64_t longest_ns = 1'000;
  };

  // One that does not listen behaves as if the region told nobody.
  enum class Listens : bool { no, yes };

  Committer(Runtime& runtime, Region& region, Listens listens = Listens::yes);
  ~Committer() override;

  // Whether the end of every commit wakes the loop (N1).
  bool is_told() const { return is_told_; }

  // W1 and W2. Both end when the ticket is persistent, or with the region's failure.
  Task<Status> persistent(Ticket ticket) { return persistent(ticket, Looks()); }
  Task<Status> persistent(Ticket ticket, Looks looks);
  Task<Status> persistent_by(Ticket ticket, std::uint64_t patience_ns);

  // From now on the party is asked whether all wait, after those that have joined before.
  void join(Party& party);
  // W3. A reply waits for this ticket; more may come before the end of the turn. False where nobody
  // tells: then its sender has to look.
  bool expect(Ticket ticket);
  // The party has handled what came in this turn. Returns whether a commit has begun.
  bool turn_ends(Party& party, const Replies& replies);
  // A client was answered that waits for no commit: it notices when the loop makes one (T2).
  void noticed() { was_noticed_ = true; }
  // Whether replies need nobody who looks: their commit is under way on another thread; or the time
  // is set when it begins.
  bool is_under_way() const { return is_told_ && !region_.persistent(asked_); }
  bool is_planned() const { return kick_.armed(); }

  // T1, for a party all of whose clients wait: whether it may wait in Region::wait.
  bool may_stand_still(const Party& asker) { return all_others_wait(&asker); }

 private:
  // Lets all flows that wait look again.
  class Alarm final : public Timer {
   public:
    explicit Alarm(Committer& committer) : committer_(committer) {}
    void expire() override { committer_.wake_all(); }

   private:
    Committer& committer_;
  };
  // An event, after which the parties have their turn.
  class Kick final : public Timer {
   public:
    void expire() override {}
  };

  // Any thread.
  void tell();

  bool poll() override;
  bool arm_wake() override { return !has_news(); }
  bool follows() const override { return true; }
  bool wants_spin() const override { return false; }

  bool has_news() const { return !waiting_.empty() && ended_.load(std::memory_order_relaxed); }
  void wake_all();
  void wake_at(std::uint64_t due_ns);
  bool begin_if_time();
  // When a commit for all replies that wait is to begin; 0: now.
  std::uint64_t due_ns(std::uint64_t now_ns) const;
  bool all_others_wait(const Party* asker);
  void stand_still(std::uint64_t now_ns);
  void leave(Party& party);

  Runtime& runtime_;
  Region& region_;
  std::atomic<bool> ended_ = false;
  std::vector<Event*> waiting_;  // flows
  Alarm alarm_{*this};
  std::uint64_t alarm_ns_ = 0;  // while it is armed

  std::vector<Party*> parties_;
  LoopCommits loop_commits_;
  Ticket newest_;  // that a reply waits for
  Ticket asked_;   // for replies, of the region's thread
  Kick kick_;
  std::uint64_t stood_still_ns_ = 0;  // for a commit, after which no party has looked yet
  bool was_noticed_ = false;

  const bool is_told_;  // made last: the region may tell at once
};

}  // namespace remora
