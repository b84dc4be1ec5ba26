// The fabric contract: devices and the objects made from them. Every world has a device behind it;
// protocol code sees these classes and nothing else.
//
// Owners and lifetimes: the caller owns what create and register return, and destroys it before
// what it was made from (queue pairs before their completion queues and domain, regions before
// their domain, all before the device). Destroying a memory region returns only when no operation,
// local or remote, uses its memory any more. Destroying a queue pair drives it to the error state
// first; what was posted is dropped without completions. Address handles and shared receive queues
// go after the queue pairs that use them, and before their domain.
//
// Threads: a device and all that is made from it belong to one thread, that of the loop which
// drives it. Nothing here blocks but destroying a memory region that a peer works on itself (see
// fabric/nic/shortcut/shortcut.h) and, on `mapped`, posting a large WRITE to a peer's file; posting
// and polling do not allocate.
//
// Failures that a caller can expect are a Status; posting more than a queue holds is no_space and
// posts nothing of the batch from the refused entry on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/datagram.h"
#include "fabric/durable.h"
#include "fabric/guard.h"
#include "fabric/queue_pair.h"
#include "fabric/shared_receives.h"
#include "fabric/translation.h"
#include "fabric/types.h"
#include "fabric/work.h"
#include "pmem/region.h"

namespace remora::fabric {

struct Capability {
  std::string name;  // "flush to persistence"
  Support support = Support::none;
  std::string how;  // for people: by what means, and what that is worth
};

// In which order a target CPU sees the bytes of one WRITE appear (P4).
enum class PlacementOrder : std::uint8_t { last_word_last, ascending };

struct DeviceAttributes {
  std::string name;  // "soft-ring"
  std::string wire;  // "ring", "mapped", "sim", "roce", or the verbs device
  Gid gid{};
  // Of the device by itself. Each connection has the MTU of its link, which may be smaller or
  // larger.
  std::uint32_t path_mtu_bytes = 0;
  std::uint32_t max_message_bytes = 0;
  std::uint32_t max_queue_pairs = 0;
  std::uint32_t max_work_requests = 0;  // per queue
  std::uint32_t max_pieces = 0;         // per work request
  std::uint32_t max_inline_bytes = 0;
  std::uint32_t max_completions = 0;  // per completion queue
  std::uint32_t max_regions = 0;
  std::uint32_t max_reads_in_flight = 0;  // READs and atomics, per queue pair and direction
  std::uint32_t max_datagram_bytes = 0;   // 0: no datagrams
  PlacementOrder placement_order = PlacementOrder::ascending;
  FlushWorth flush_worth = FlushWorth::persistent;
  // Of each DurableVerb, in that order; what a peer has agreed to may be less (QueuePair::agreed).
  std::array<Support, durable_verbs.size()> durable = {};
  // A message costs the processors of both sides more than what it carries does: whoever can say
  // something in one should not take two.
  bool costs_by_message = false;
  // Regions may have a guard (MemoryRegion::guard_with), which is asked for each access.
  bool asks_guards = false;
  std::vector<Capability> capabilities;
};

// What a device did, counted since it was made.
struct DeviceCounters {
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t packets_dropped = 0;  // malformed, for nobody, or out of any window
  std::uint64_t retransmissions = 0;
  std::uint64_t naks_sent = 0;
  std::uint64_t rnr_naks_sent = 0;
  std::uint64_t access_violations = 0;  // remote keys, bounds or rights that were refused
  std::uint64_t translation_hits = 0;
  std::uint64_t translation_misses = 0;
  std::uint64_t requests_by_wire = 0;    // posted, and sent to the responder
  std::uint64_t requests_short_cut = 0;  // posted, and executed by this side itself
};

// Memory that the device may use, and by its remote key others.
class MemoryRegion {
 public:
  virtual ~MemoryRegion() = default;
  virtual Bytes bytes() const = 0;
  virtual LocalKey local_key() const = 0;
  virtual RemoteKey remote_key() const = 0;
  virtual AccessFlags access() const = 0;

  // From here on peers may do what the guard allows, and no more; it outlives the region. False
  // where the device cannot ask: then the region's rights hold for all of its bytes.
  [[nodiscard]] virtual bool guard_with(Guard& guard) {
    (void)guard;
    return false;
  }

  // From here on the device asks the translation where these bytes lie, for its own accesses and
  // those of peers; it outlives the region. False where the device cannot ask.
  [[nodiscard]] virtual bool translate_with(Translation& translation) {
    (void)translation;
    return false;
  }

  // It is longer from here on: its first byte and its keys stay, and what is under way goes on. The
  // bytes are those that a registration would be given. False where the device cannot.
  [[nodiscard]] virtual bool extend(std::size_t size_bytes) {
    (void)size_bytes;
    return false;
  }

  // A piece of it, for work requests.
  Sge piece(std::size_t offset, std::size_t size_bytes) const {
    return {bytes().data() + offset, static_cast<std::uint32_t>(size_bytes), local_key()};
  }
  // The same place as peers name it.
  RemoteAddress remote(std::size_t offset) const {
    return {reinterpret_cast<std::uintptr_t>(bytes().data()) + offset, remote_key()};
  }
};

// Where completions arrive, of one or many queue pairs, in the order in which they happened.
class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;

  // Takes up to out.size() completions, oldest first; returns how many.
  virtual std::size_t poll(std::span<WorkCompletion> out) = 0;

  // Asks for one event at the next completion (the next solicited or failed one, if so asked). Poll
  // once more after arming: what came before raises no event. `event_count` grows by one per event.
  virtual void arm(bool solicited_only) = 0;
  virtual std::uint64_t event_count() const = 0;

  // More completions came than it holds. It is then of no use, and its queue pairs are in error.
  virtual bool overrun() const = 0;
};

class ProtectionDomain {
 public:
  virtual ~ProtectionDomain() = default;

  // `persistence` is the region through which a FLUSH to persistence makes these bytes persistent;
  // they must lie within it. Without it, the right flush_persistence is refused: a promise that
  // nobody could keep. As with verbs, remote_write and remote_atomic need local_write beside them.
  virtual Result<std::unique_ptr<MemoryRegion>> register_memory(Bytes bytes, AccessFlags access,
                                                                Region* persistence = nullptr) = 0;

  virtual Result<std::unique_ptr<QueuePair>> create_queue_pair(const QueuePairOptions& options) = 0;

  // Fails with unsupported where the device has none, and with not_found when it does not reach the
  // peer.
  virtual Result<std::unique_ptr<AddressHandle>> create_address_handle(const Gid& peer) {
    (void)peer;
    return Status(Code::unsupported, "the device has no datagrams");
  }
  virtual Result<std::unique_ptr<SharedReceives>> create_shared_receives(
      const SharedReceivesOptions& options) {
    (void)options;
    return Status(Code::unsupported, "the device has no shared receive queues");
  }
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceAttributes& attributes() const = 0;
  virtual DeviceCounters counters() const = 0;
  virtual std::unique_ptr<ProtectionDomain> create_domain() = 0;
  virtual Result<std::unique_ptr<CompletionQueue>> create_completion_queue(
      std::uint32_t capacity) = 0;
};

}  // namespace remora::fabric
