// PoolLife: one power-on of the simulated machine: a crash memory, the pool in it, and the states
// that the pool may be in if the power goes now. It performs the workload's transactions; cuts are
// its owner's business, by way of the memory's events.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "lab/crash/pool_model.h"
#include "lab/crash/subject.h"
#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "pmem/pool.h"

namespace remora {

// What a machine may hold after a cut.
struct Expectation {
  bool may_be_absent = false;  // the pool's creation was not acknowledged
  bool up_to_date = false;     // the pool was opened: it is of the newest version for good
  std::vector<PoolState> states;
  std::vector<std::uint64_t> sizes;  // that the pool may have
};

class PoolLife {
 public:
  // Of the memory. The pool begins smaller, and may grow to that, in one step or two.
  inline static constexpr std::uint64_t pool_bytes = 320 << 10;
  inline static constexpr std::uint64_t created_bytes = 256 << 10;

  using Expected = Expectation;
  struct Shared {};

  PoolLife(SiteTable& sites, Shared& shared);

  CrashMemory& memory() { return memory_; }

  // Power-on. Call before anything else, and again for the next life. Now and then the image
  // becomes one of version 1 in the same state, for this life to bring up to date.
  void power_on(ConstBytes image, const Platform& platform, const Faults& faults,
                const Expectation& expected, Random random);

  // Makes the pool anew, on an image that is all zero.
  std::optional<Broken> create();
  // Recovers the pool and holds it against what was expected. Afterwards the state that was found
  // is the one and only that a later cut may leave.
  std::optional<Broken> recover();
  // Whether there is a pool to go on with.
  bool goes_on() const { return pool_ != nullptr; }
  // One transaction, or something else that a program does.
  std::optional<Broken> step();

  // What a cut at this moment may leave: everything from the newest acknowledged state on.
  Expectation expectation() const;

 private:
  struct Pending {
    PoolState state;
    std::optional<Ticket> ticket;  // none while the transaction is under way
  };

  std::optional<Broken> perform(const PoolState& after, const Transaction& transaction);
  std::optional<Broken> add_object(std::size_t root);
  std::optional<Broken> remove_objects(std::size_t root);
  std::optional<Broken> swap_roots(std::size_t root, std::size_t other);
  std::optional<Broken> reserve_in_vain();
  std::optional<Broken> commit_something();
  std::optional<Broken> tend();
  std::optional<Broken> grow();
  std::optional<Broken> restart();
  std::optional<ModelObject> new_object(std::optional<Broken>& broken);
  const PoolState& now() const { return pending_.back().state; }

  CrashMemory memory_;
  std::optional<CrashRegion> region_;
  std::unique_ptr<Pool> pool_;
  Random random_{0};
  Faults faults_;
  Expectation expected_;
  std::vector<std::byte> image_;
  std::uint32_t found_version_ = 0;  // of the image, before it was made older
  bool creating_ = false;
  std::optional<std::uint64_t> growing_to_;
  bool crowded_ = false;          // large objects, so that the pool is often full
  bool tends_ = false;            // it keeps the log short
  bool hurries_ = false;          // transactions and nothing else, so that the log fills
  std::vector<Pending> pending_;  // from the newest acknowledged state on, oldest first
  std::uint64_t next_number_ = 1;
};

}  // namespace remora
