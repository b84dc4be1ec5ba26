// MappedTarget: the side whose memory is mapped. It says which peer may map which region through
// which queue pair, and takes that back.
//
// A grant is one region for one queue pair of a peer. While it is alive its word in the peer's gate
// is its number; taking it back is storing 0 there. A peer sets its epoch odd, then looks at the
// word, then works, then sets the epoch even: so whoever has stored 0 and then finds the epoch even
// knows that nothing is under way, and whoever finds it odd waits until it has changed. Both sides
// have a full fence between their store and their look (process_fence.h).
//
// A peer that is stopped or hangs in between cannot be told to let go: its memory is its own. When
// a region has to go and such a peer does not move for options.stall_ns, its process is ended
// (SIGKILL); on_stall is told. Nothing else ends a process, and quiet() never does.
//
// Whom to trust. Only processes of the same user get anything: they could do as much without asking
// by looking into this process. All others go by the ring, where every access is checked. Regions
// that give no right to change them are passed for reading only, and such a descriptor cannot be
// mapped writable.
//
// One thread, the loop's. Nothing blocks but release.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "fabric/nic/shortcut/shortcut.h"
#include "fabric/nic/wire/link_owner.h"
#include "fabric/nic/wire/mapped/mapped_limits.h"
#include "fabric/nic/wire/mapped/mapped_message.h"
#include "fabric/nic/wire/mapped/shared_page.h"
#include "runtime/runtime.h"

namespace remora::fabric::nic::mapped {

struct MappedTargetOptions {
  uid_t trusted_uid = ::geteuid();  // whose processes may map
  std::uint64_t stall_ns = limits::stall_ns;
  // A process is about to be ended because it stands still inside an operation.
  std::function<void(const HostIdentity&)> on_stall = {};
};

class MappedTarget {
 public:
  // Says something to the peer on this link, with a descriptor if it is not -1.
  using Say = std::function<Status(LinkId, const MappedMessage&, int)>;

  // The runtime outlives this.
  MappedTarget(Runtime& runtime, MappedTargetOptions options, Say say)
      : runtime_(runtime), options_(std::move(options)), say_(std::move(say)) {}
  MappedTarget(const MappedTarget&) = delete;
  MappedTarget& operator=(const MappedTarget&) = delete;

  void attach(ShortcutTarget* nic) { nic_ = nic; }

  void link_up(LinkId link, const HostPeer& peer, Descriptor process);
  // All that this peer was granted is taken back.
  void link_down(LinkId link);
  // An ask; the descriptor is the peer's epoch page, if it sent one.
  void ask(LinkId link, const MappedMessage& message, Descriptor epoch);

  void retire(QpNumber own);
  bool quiet(QpNumber own) const;
  void release(RemoteKey key);
  // Peers ask again what they may do with this key. Whoever is in the middle of something finds all
  // that it uses where it was, and nobody waits for it.
  void renew(RemoteKey key);

  // Grants that are alive.
  std::size_t grants() const;
  // Peers that have one.
  std::size_t granted_peers() const;

 private:
  struct Grant {
    std::uint64_t number = 0;  // 0: the slot is free
    bool alive = false;
    std::uint64_t left_at = 0;  // the epoch that was odd when it was taken back; 0: none
    QpNumber own = 0;
    RemoteKey key = 0;
    std::uint64_t region = 0;
  };
  struct Peer {
    LinkId link;
    HostIdentity identity;
    Descriptor process;
    std::optional<SharedPages> gate;
    std::optional<SharedPages> epoch;
    bool is_linked = true;
    bool gate_sent = false;
    std::vector<Grant> grants = {};

    bool gone() const;
    bool quiet(const Grant& grant) const;
  };

  std::optional<MappedMessage> grant(Peer& peer, const MappedMessage& asked, Descriptor& file);
  Peer* find(LinkId link);
  template <typename Which>
  void take_back(Which which);
  void await(Peer& peer, const Grant& grant);
  // All that peers were granted with this key, which they are told.
  void take_back_key(RemoteKey key, std::uint64_t region);
  void end(Peer& peer);
  void forget_quiet();

  Runtime& runtime_;
  const MappedTargetOptions options_;
  const Say say_;
  ShortcutTarget* nic_ = nullptr;
  std::list<Peer> peers_;  // those that are gone stay while one of their grants is not quiet
  std::map<RemoteKey, std::uint64_t> regions_;  // that were granted
  std::uint64_t granted_ = 0;
  std::uint64_t region_numbers_ = 0;
};

}  // namespace remora::fabric::nic::mapped
