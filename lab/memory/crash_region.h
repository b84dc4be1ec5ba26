// CrashRegion: one CPU actor's view of a crash memory, as the Region that a protocol is handed. A
// drain covers what was flushed through this object, and nothing else; so each thread or process of
// the simulated world has its own.
#pragma once

#include "lab/memory/crash_memory.h"
#include "pmem/region.h"

namespace remora {

class CrashRegion final : public Region {
 public:
  // The memory must outlive the region. It may be restarted under it.
  explicit CrashRegion(CrashMemory& memory) : memory_(memory), actor_(memory.add_actor()) {}
  // An actor that goes takes nothing back: what it flushed may still arrive.
  ~CrashRegion() override { memory_.remove_actor(actor_); }

  Bytes bytes() override { return memory_.bytes(); }
  const Strategy& strategy() const override { return memory_.strategy(); }

  void flush(ConstBytes range, Site site = Site::current()) override {
    memory_.flush(actor_, range, site);
  }
  [[nodiscard]] Ticket drain(Site site = Site::current()) override {
    return memory_.drain(actor_, site);
  }
  void copy(std::byte* to, ConstBytes from, Site site = Site::current()) override {
    memory_.copy(actor_, to, from, site);
  }

  // After a cut nothing is in caches.
  [[nodiscard]] Status persist_found(ConstBytes range) override {
    return memory_.was_killed() ? Region::persist_found(range) : Status();
  }

  bool persistent(Ticket ticket) const override { return memory_.persistent(ticket); }
  // Commits in this call, if need be: time stands still in the crash memory.
  [[nodiscard]] Status wait(Ticket ticket) override { return memory_.wait(ticket); }
  // The commit takes place in CrashMemory::run_requested_commits().
  void request(Ticket ticket) override { memory_.request(ticket); }
  Status failure() const override {
    return memory_.failed() ? Status(Code::io_error, "a commit failed") : Status();
  }

 private:
  CrashMemory& memory_;
  const ActorId actor_;
};

}  // namespace remora
