// MappedInitiator: the side that works on the other's memory. It asks for a region when a queue
// pair uses its key for the first time, maps what it is granted, and unmaps it when the target says
// so, or the link goes.
//
// The check of key, bounds and rights is made here, against mistakes; what the kernel holds a peer
// to is only that what it got for reading cannot be written. See mapped_target.h for whom to trust.
//
// One thread, the loop's. Nothing blocks but mapping, and what is written by the file.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/nic/shortcut/shortcut.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/mapped/dirty_ranges.h"
#include "fabric/nic/wire/mapped/mapped_message.h"
#include "fabric/nic/wire/mapped/mapped_pages.h"
#include "fabric/nic/wire/mapped/shared_page.h"
#include "pmem/region.h"

namespace remora::fabric::nic::mapped {

struct MappedInitiatorOptions {
  // How mapped memory is copied to past the caches and flushed; by the CPU's own means unless a
  // test has others.
  std::function<Result<std::unique_ptr<Region>>(Bytes)> medium = {};
  // Called in the middle of every operation, for tests: its rights are checked, no byte is moved.
  std::function<void()> inside = {};
};

class MappedLane;

class MappedInitiator {
 public:
  using Say = std::function<Status(LinkId, const MappedMessage&, int)>;

  MappedInitiator(MappedInitiatorOptions options, Say say)
      : options_(std::move(options)), say_(std::move(say)) {}
  MappedInitiator(const MappedInitiator&) = delete;
  MappedInitiator& operator=(const MappedInitiator&) = delete;
  ~MappedInitiator();

  std::unique_ptr<Lane> open_lane(Connection& connection);

  void link_up(LinkId link);
  void link_down(LinkId link);
  void answer(LinkId link, const MappedMessage& message, Descriptor passed);

  // Asks before the first use. Does nothing for a queue pair without a link of this kind.
  void ask(QpNumber own, RemoteKey key);
  // Whether requests of this queue pair with this key are short-cut now.
  bool is_mapped(QpNumber own, RemoteKey key) const;

  // Memory of this side went: what lanes keep of it is worth nothing.
  void forget_short_ways();

  // Each of them entered the epoch by itself, and nothing else counts it.
  std::uint64_t executed_by_windows() const;

 private:
  friend class MappedLane;

  // A region of the target's, in this process.
  struct Mapping {
    std::shared_ptr<MappedPages> pages;
    Bytes bytes;
    std::unique_ptr<Region> own_medium;  // a test's
    Region* medium = nullptr;
  };

  // What a lane knows of one key.
  struct Known {
    enum class State : std::uint8_t { asked, granted, denied };
    RemoteKey key = 0;
    State state = State::asked;
    std::uint8_t medium = 0;
    std::uint16_t slot = 0;
    AccessFlags rights = 0;
    std::uint32_t waited = 0;  // requests by the wire since it was asked for
    std::uint32_t patience = limits::asks_again_after;
    std::uint64_t grant = 0;
    std::uint64_t region = 0;
    std::uint64_t base = 0;
    std::shared_ptr<Mapping> mapping;
    DirtyRanges dirty;
  };

  struct Link {
    LinkId id;
    std::optional<SharedPages> epoch;  // this side's
    std::optional<SharedPages> gate;   // the target's
    bool epoch_sent = false;
    std::uint64_t entries = 0;  // into the epoch, but for those of windows
    std::map<std::uint64_t, std::weak_ptr<Mapping>> mappings = {};  // by region
  };

  static std::uint64_t executed_by_windows(const Link& link);
  Link* find(LinkId link);
  bool say_ask(MappedLane& lane, RemoteKey key);
  std::shared_ptr<Mapping> map(Link& link, const MappedMessage& message, const Descriptor& file);
  void forget(Link& link, std::uint64_t region);

  const MappedInitiatorOptions options_;
  const Say say_;
  std::list<Link> links_;
  std::uint64_t executed_on_past_links_ = 0;  // by windows
  std::map<QpNumber, MappedLane*> lanes_;
};

}  // namespace remora::fabric::nic::mapped
