// CrashMemory: persistent memory that loses power.
//
// THE CRASH MODEL
//
// There are two images of the memory. The visible one is what every CPU loads and stores, with
// plain instructions that nobody watches. The durable one is what the medium holds. While power is
// on only the visible one counts; when it is cut, the machine comes back with the durable one, plus
// whatever part of the rest happened to arrive in time. The unit of arrival is a word of 8 bytes:
// it is never torn, and no two words are tied to each other.
//
// What a CPU stores is dirty: visible, and not durable. It may reach the medium by itself at any
// event, since caches evict when they like; the program has no say in that and no notice of it. The
// program's own way has two steps. A flush takes a snapshot of the 64-byte lines that it touches,
// as they are at that moment. A drain by the same actor makes durable what that actor has flushed;
// it does nothing for what others flushed, nor for stores that came after the flush. Between the
// two a snapshot may have arrived or not. Nothing that arrives late replaces anything newer: the
// medium never goes back.
//
// What a remote peer WRITEs goes through four stages. It is posted, and waits inbound in the order
// of its queue pair, where no CPU and no other queue pair sees it. It is placed, that is, becomes
// visible, at a time of the seed's choosing; at the latest before the responder executes a later
// READ, atomic or FLUSH of the same queue pair, and before the completion of its own or a later
// SEND or IMM can be polled. That it was acknowledged says nothing about where it is. While one
// WRITE is placed, a target CPU sees its bytes appear in ascending order (or in any, where the
// platform says so); a READ of another queue pair that runs at the same time may see them in any
// order, and so may the medium.
//
// Where a placed word lands depends on DDIO. With DDIO off it goes to memory: visible and durable
// at once. With DDIO on it goes to the CPU cache and is dirty, like a CPU store. A FLUSH covers the
// words that its own queue pair wrote within its range, and no others. As the standard has it
// (flush=platform) they are then durable, whatever DDIO says. As a read-after-write has it
// (flush=pcie), or when the FLUSH asks only for visibility, they are visible and nothing more; so
// they are durable only where DDIO is off. A range may be kept out of the caches, as a region that
// is mapped uncached is: what is placed there goes to memory, as with DDIO off.
//
// What a power cut takes, by persistence domain:
//   dmp   everything on this side of the memory controller: each dirty word and each inbound word
//         may be kept or lost.
//   mhp   caches are saved: what is visible is kept; each inbound word may be kept or lost.
//   wsp   the NIC is saved too: what is visible or acknowledged is kept; an inbound word that was
//         not acknowledged may be kept or lost.
// DRAM is lost in all three. Only what lives in a CrashMemory is persistent memory; receive buffers
// survive where the setting puts them in one.
//
// KILLS
//
// A process that is killed takes its DRAM with it, and no more: what is visible stays visible, and
// what is dirty stays dirty, for a cut that may come when another process has opened the memory.
// Two things are done by the time that this happens. The processor has left the killed process,
// with instructions that are fences: what it had flushed is durable, drained or not. And its queue
// pairs are quiet, as after drop_qp. Page media are synced as a whole by whoever opens them, so
// that nothing is left to lose there.
//
// This is stricter than x86 in one point: CPU stores to one line reach the medium together or in
// store order there, and in any order here. Images that need it are labelled (Images::splits_line).
//
// Page media (an ordinary file) are different. What is visible is the page cache, in DRAM: no cache
// flush, no RDMA FLUSH and no domain makes it durable. A flush only notes the pages, a drain hands
// them to the open group commit and returns its ticket, and the commit takes the pages as they are
// when it starts. While it runs, that content is in doubt; when it ends, it is durable and the
// ticket persistent. The kernel too writes back early, at any event. A commit that fails leaves the
// medium in an unknown state, and the region takes no more commits for good.
//
// EVENTS AND CUTS
//
// Every flush, drain, copy, commit, post, placement and FLUSH is an event (event.h). At each, the
// seed may write back a few dirty words, and then the harness is called. The run stands still in
// that call and goes on after it, so a cut unwinds nothing: the harness takes the images that a cut
// here could leave (Images), and starts other crash memories from them. What is stored and
// overwritten between two events is never seen by the medium.
//
// Everything is decided by the Random given; the same seed and the same calls give the same images.
// One thread only; nothing blocks. The memory must outlive its regions.
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "lab/memory/crash_event.h"
#include "lab/memory/doubt.h"
#include "lab/memory/group_commit.h"
#include "lab/memory/inbound.h"
#include "lab/memory/platform.h"
#include "lab/memory/sites.h"
#include "lab/memory/two_images.h"
#include "pmem/region.h"

namespace remora {

// What an RDMA FLUSH asks for.
enum class FlushTo : std::uint8_t { visibility, persistence };

using ActorId = std::uint32_t;

class CrashMemory {
 public:
  // Both images zero; the size is a multiple of the page size. `sites` may be shared with other
  // crash memories and must outlive this one; without it the memory has a table of its own.
  CrashMemory(std::size_t size_bytes, Platform platform, Random random, SiteTable* sites = nullptr);
  CrashMemory(const CrashMemory&) = delete;
  CrashMemory& operator=(const CrashMemory&) = delete;

  // Power-on with this image, which has the size of the memory and may be its own visible image (an
  // orderly shutdown). Snapshots, commits, inbound writes, queue pairs and a failure are gone;
  // tickets have no meaning any more; events count from 0. Regions, callback, sites and settings
  // stay. Copies the image twice and allocates nothing, unless the platform changes.
  void restart(ConstBytes image);
  void restart(ConstBytes image, Platform platform, Random random);

  // Every process that uses this memory is killed. Between two events of the world.
  void kill();
  // Since the last power-on: so that whoever opens this finds what is not persistent.
  bool was_killed() const { return killed_; }

  const Platform& platform() const { return platform_; }
  const Strategy& strategy() const { return strategy_; }
  SiteTable& sites() { return *sites_; }
  Bytes bytes() { return images_.visible(); }
  ConstBytes visible() const { return images_.visible(); }
  ConstBytes durable() const { return images_.durable(); }

  // Called at every event. It may look at this memory through const functions only.
  void on_event(std::function<void(const CrashEvent&)> callback) {
    on_event_ = std::move(callback);
  }
  std::uint64_t event_count() const { return events_; }

  // At one event in `events` some dirty words are written back early; 0 means never.
  void write_back_early(std::uint64_t one_in_events) { early_one_in_ = one_in_events; }

  // --- CPU actors, by way of CrashRegion. Ranges lie within bytes().
  ActorId add_actor();
  // What the actor has flushed stays on its way, and nobody drains it.
  void remove_actor(ActorId actor);
  void flush(ActorId actor, ConstBytes range, const Site& site);
  Ticket drain(ActorId actor, const Site& site);
  void copy(ActorId actor, std::byte* to, ConstBytes from, const Site& site);

  // --- Page media. On other media every ticket is persistent and these have nothing to do.
  bool persistent(Ticket ticket) const { return commits_.persistent(ticket); }
  Status wait(Ticket ticket);
  void request(Ticket ticket);
  // Runs the commits that request() asked for. The loop calls this when their time has come.
  void run_requested_commits();
  // The two halves of a commit, for a loop that lets the program go on between them.
  void start_commit();
  void finish_commit();
  bool commit_running() const { return commits_.running(); }
  void fail_next_commit() { commits_.fail_next(); }
  bool failed() const { return commits_.failed(); }

  // --- The NIC. A queue pair exists from its first use.
  // Returns the number of this write on its queue pair, from 1. Copies the bytes.
  std::uint64_t post_inbound(QpNumber qp, std::uint64_t offset, ConstBytes bytes);
  // The writes of the queue pair up to this number are acknowledged.
  void acknowledge(QpNumber qp, std::uint64_t upto);
  // Places, by chance, some writes of some queue pairs; the last of each perhaps in part.
  void place_some(Random& random);
  // Places all that waits on the queue pair: before a READ, an atomic or a FLUSH on it executes,
  // and before a completion of a SEND or IMM that came after is polled. The store of an atomic is a
  // post_inbound followed by this.
  void place_all(QpNumber qp);
  // A READ of the queue pair: places its own writes, and copies what it sees.
  void read(QpNumber qp, std::uint64_t offset, Bytes out, Random& random);
  // From here on placed words of this range go to memory as with DDIO off, until it is taken back
  // as often, over power cuts too. False on page media, where caches are not what is in the way.
  bool bypass_caches(std::uint64_t offset, std::uint64_t size);
  void end_bypass(std::uint64_t offset, std::uint64_t size) { inbound_.end_bypass(offset, size); }
  // A FLUSH of the queue pair.
  void flush_inbound(QpNumber qp, std::uint64_t offset, std::uint64_t size, FlushTo to);
  // The queue pair is driven to error and drained. Acknowledged writes are placed; of the others
  // some, by the seed and in order; the rest never will be. The number may then be used anew.
  void drop_qp(QpNumber qp);
  std::size_t waiting(QpNumber qp) const { return inbound_.waiting(qp); }

  // --- A power cut at this moment.
  // The image that the words in doubt are laid over.
  ConstBytes kept() const;
  void find_doubt(Doubt& out) const;
  Doubt doubt() const;

 private:
  struct Actor {
    std::vector<LineSnapshot> on_the_way;  // flushed and not drained
    std::vector<PageIndex> pages;          // the same, on page media
    Ticket last;                           // of its latest drain that had pages
    bool used = false;
    bool removed = false;
  };

  void set_platform(Platform platform);
  void event(EventKind kind, Moment moment, const Site* site = nullptr);
  void write_some_back();
  void write_line_back(LineIndex line);
  void take_snapshot(Actor& actor, std::uint64_t offset, std::uint64_t size);
  std::uint64_t offset_of(const std::byte* begin, std::size_t size) const;
  bool on_pages() const { return platform_.granularity == Granularity::page; }

  TwoImages images_;
  Inbound inbound_;
  GroupCommit commits_;
  Platform platform_;
  Platform in_force_;
  Strategy strategy_;
  Random random_;
  SiteTable own_sites_;
  SiteTable* sites_;
  std::vector<Actor> actors_;
  std::function<void(const CrashEvent&)> on_event_;
  bool killed_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t early_one_in_ = 8;
  LineIndex near_ = 0;  // where something happened last
  mutable DoubtFinder finder_;
};

}  // namespace remora
