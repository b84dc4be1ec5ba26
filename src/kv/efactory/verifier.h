// Verifier: makes versions durable whose values clients have written. It looks at those whose
// values are awaited: a complete one is flushed, drained with others, and flagged; one that did not
// come in time is given up. What requests and the cleaner have flushed themselves it flags when
// that is persistent.
//
// Two flows on the loop. With a worker, the checksum and the flush of larger values are done on
// that thread; index, log and flags stay with the loop.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/histogram.h"
#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/efactory/local_store.h"
#include "kv/efactory/peers.h"
#include "runtime/event.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Verifier {
 public:
  // All outlive it. The local store is told when the medium takes nothing more. A complete newest
  // version stands for those before it, or each is verified in the order of requests.
  Verifier(Catalogue& catalogue, Committer& commits, Peers& peers, EfactoryLocal& local,
           std::uint64_t put_timeout_ns, bool verifies_newest);

  // The flows, until the medium fails.
  Task<void> verify();
  Task<void> flag_flushed();

  // There is something to be verified, or to be flagged.
  void wake() {
    if (to_verify_ && !to_verify_->is_set()) {
      to_verify_->set();
    }
  }
  void wake_flagger() {
    if (to_flag_ && !to_flag_->is_set() && !catalogue_.flushed().empty()) {
      to_flag_->set();
    }
  }

  bool busy() const {
    return at_work_ || !catalogue_.awaited().empty() || unflagged_ != 0 ||
           !catalogue_.flushed().empty();
  }
  // The version that it looks at, which is awaited no more; 0: none.
  Offset in_hand() const { return in_hand_; }
  // Ends when the worker looks at no version.
  Task<void> worker_is_idle();
  // Gives up a version whose value will not come.
  void give_up(const Object& object) {
    invalidated_ += object.invalid() ? 0u : 1u;
    catalogue_.give_up(object);
  }

  // From the request of a put until its version was persistent.
  void note_durability(std::uint64_t waited_ns) { durability_ns_.record(waited_ns); }
  const Histogram& durability() const { return durability_ns_; }
  std::uint64_t verified() const { return verified_; }
  std::uint64_t looked_aside() const { return looked_aside_; }
  std::uint64_t superseded() const { return superseded_; }
  std::uint64_t invalidated() const { return invalidated_; }

 private:
  // A walk over what is awaited, which ends with a drain.
  struct Pass {
    std::size_t flushed = 0;           // versions, in flushed_
    std::uint64_t verified_bytes = 0;  // since requests had their turn
    std::uint64_t now_ns = 0;          // when the flow ran last
    std::uint64_t next_ns = 0;         // when to look again
  };
  enum class Sight : std::uint8_t {
    complete,    // and flushed
    incomplete,  // it may still come
    aside,       // the worker is to look at it
    decided,     // nothing is to be done for it
  };
  // A version that the worker is to look at; whether it is whole, and flushed.
  struct Look {
    Region& region;
    const Object object;
    const bool leaves_drain = false;
    bool complete = false;

    void operator()();
  };

  Task<void> look_at_awaited(Pass& pass);
  Awaited take_next();
  // The version, if it still needs something.
  std::optional<Object> open(const Awaited& version, std::uint64_t now_ns);
  Sight look_at(const Object& object, Awaited& version, std::uint64_t age_ns);
  Task<Sight> look_aside(const Object& object, const Awaited& version);
  Task<bool> flush_aside(Object object);
  void keep(const Awaited& version, Pass& pass);
  // The value never came, or a version that recovery or a copy held for complete is not.
  void end_waiting(const Object& object, const Awaited& version);
  Task<Status> flag(std::size_t flushed);
  void flag_one(const Awaited& version, std::uint64_t now_ns);
  void flag_one(const Flushed& version);
  std::uint64_t patience_ns() const;
  bool is_for_worker(const Object& object) const;
  // Whether the newest version of a key may be complete, so that those before it need no look.
  bool is_worth_a_look(const Object& newer) const;

  Catalogue& catalogue_;
  const Host background_;
  Committer& commits_;
  Peers& peers_;
  EfactoryLocal& local_;
  const std::uint64_t put_timeout_ns_;
  const bool verifies_newest_;
  std::vector<Awaited> flushed_;  // what one drain makes persistent
  bool at_work_ = false;          // versions are in its hands, and awaited no more
  Offset in_hand_ = 0;
  std::size_t unflagged_ = 0;  // flushed, and not yet called durable
  std::size_t aside_ = 0;      // versions that the worker looks at
  std::optional<Event> to_verify_;
  std::optional<Event> to_flag_;
  Histogram durability_ns_;
  std::uint64_t verified_ = 0;
  std::uint64_t looked_aside_ = 0;
  std::uint64_t superseded_ = 0;  // versions that needed no verification any more
  std::uint64_t invalidated_ = 0;
};

}  // namespace remora::kv::efactory
