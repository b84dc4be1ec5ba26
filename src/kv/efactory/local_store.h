// EfactoryLocal: eFactory as its server's own process uses it. A put is an append of the whole
// object: its value is at hand, so nothing awaits it and nothing verifies it.
//
// Where draining makes persistent, one drain serves all changes of a turn of the loop, and who
// waits does not wait. On page media changes wait for a group commit: one that somebody asks for
// begins at once, or when the one that is under way has ended, and serves all who wait; one that
// nobody asks for begins after a while.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/lost_memory.h"
#include "host/commit_due.h"
#include "host/committer.h"
#include "kv/efactory/catalogue.h"
#include "kv/local_store.h"
#include "runtime/event.h"

namespace remora::kv::efactory {

// What the local store asks of the server around it.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // Whether so much may be put now: nothing is, where that could take the space that cleaning
  // needs.
  virtual bool admits(std::uint64_t size_bytes) const = 0;
  // Something was put or deleted.
  virtual void changed(std::uint64_t size_bytes, bool expires) = 0;
  // A get has begun to make a version durable, which is to be called so when that is over.
  virtual void flushed() = 0;
  // Changes became persistent, the oldest of them after so long.
  virtual void persisted_after(std::uint64_t waited_ns) = 0;
  virtual Task<Status> room() = 0;
  // Whether no client READs by the index now; else clients are told, and `room` waits for that.
  virtual bool may_clear() = 0;
  // All keys are gone; clients may still lead themselves by this index.
  virtual void cleared(Catalogue::Table old) = 0;
  virtual std::uint64_t expired_keys() const = 0;
};

class EfactoryLocal final : public LocalStore, public Committer::Party {
 public:
  // All outlive it.
  EfactoryLocal(Catalogue& catalogue, Surroundings& around, Committer& commits,
                std::uint64_t commit_ns);

  std::optional<Found> get(ConstBytes key) override;
  Result<Mark> put(ConstBytes key, std::span<const ConstBytes> value, Expiry expires) override;
  Result<Mark> del(ConstBytes key) override;
  Result<Mark> clear() override;
  Result<Mark> write_all(std::span<const Write> writes, std::size_t& made) override;
  Result<Mark> write_together(const MultiWrite& what) override;
  Task<Status> room() override { return around_.room(); }
  Mark now() const override { return last_; }
  Mark persistent_now() const override { return persistent_; }
  Task<Status> persistent(Mark mark) override;
  bool made_persistent(Mark mark) override;
  std::optional<Status> persistent_at_once() override;
  Status changeable() const override { return catalogue_.log().changeable(); }
  Status failure() const override { return has_failed_ || lost() ? failed() : Status(); }
  bool lost() const override { return any_memory_lost() && background_.region().lost(); }
  bool is_in_doubt(ConstBytes key) override;
  ScanCursor scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) override;
  std::uint64_t keys() const override { return catalogue_.keys(); }
  std::uint64_t keys_with_expiry() const override { return catalogue_.expiring(); }
  Tally tally() const override;

  // Whether gets compute checksums.
  void verify_reads(VerifyReads policy, std::uint64_t most_bytes) {
    verify_reads_ = policy;
    verified_bytes_ = most_bytes;
  }

  // Whether changes wait to become persistent.
  bool busy() const { return persistent_ != last_ || !batch_.empty(); }
  // Its users wait for no commits of others; so none of them may have come since it was last asked.
  bool all_wait() override;
  // What was changed is not to wait as long as Redis clients' changes do for a commit that nobody
  // asks for.
  void hurry();
  // Changes that are not persistent yet, and since when the oldest of them waits; 0: none does.
  std::size_t waiting() const { return pending_.size() + (committing_ ? batch_.size() : 0); }
  std::uint64_t waits_since_ns() const { return committing_ ? batch_since_ns_ : since_ns_; }
  // What the catalogue deleted after it had this sequence is a change that waits, if there is any.
  void deleted_since(std::uint64_t sequence);
  // The group commits, until one fails.
  Task<void> commit();
  // The medium takes nothing more; any part of the server may find that out.
  void fail();

 private:
  // A change that waits; a deletion has no offset.
  struct Change {
    Offset offset = 0;
    Mark mark = 0;
    KnownEntry entry = {};
  };

  // Drains for all that was changed, where that is all it takes; else flags what is persistent.
  class Drain final : public Timer {
   public:
    explicit Drain(EfactoryLocal& store) : store_(store) {}
    void expire() override {
      if (store_.by_commit_) {
        store_.flag_batch();
      } else {
        store_.commit_at_once();
      }
    }

   private:
    EfactoryLocal& store_;
  };

  Status failed() const;
  bool passes(const Object& object);
  Status admit(std::span<const Write> writes) const;
  // A put that the surroundings have admitted.
  Result<Mark> put_admitted(ConstBytes key, std::span<const ConstBytes> value, Expiry expires,
                            std::uint64_t size_bytes);
  void wait_for_commit(const Change& change);
  void take_pending();
  void commit_at_once();
  void mark_durable(const Change& change);
  void flag_batch();
  void wake_waiting();
  // Before a commit that nobody waits for.
  std::uint64_t pause_ns() const;
  bool is_known(Mark mark) const;

  Catalogue& catalogue_;
  Surroundings& around_;
  Committer& commits_;
  const Host background_;
  const std::uint64_t commit_ns_;
  const bool by_commit_;  // persistent after a group commit; else after a drain
  VerifyReads verify_reads_ = VerifyReads::never;
  std::uint64_t verified_bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t seen_uses_ = 0;  // when last asked
  Mark last_ = 0;
  Mark persistent_ = 0;
  std::vector<Change> pending_;  // in order
  std::vector<Change> batch_;    // of the last commit, until they are flagged; in order
  bool committing_ = false;      // and that commit is under way, or its flags are
  bool hurried_ = false;         // some of what is pending is
  bool has_failed_ = false;      // nothing will be persistent any more
  std::uint64_t since_ns_ = 0;   // when the oldest that is pending came
  std::uint64_t batch_since_ns_ = 0;
  std::vector<Event*> waiting_;
  std::optional<Event> to_commit_;
  Drain drain_{*this};
  CommitDue due_;
};

}  // namespace remora::kv::efactory
