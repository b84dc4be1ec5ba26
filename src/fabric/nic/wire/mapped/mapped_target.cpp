#include "fabric/nic/wire/mapped/mapped_target.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/check.h"
#include "fabric/nic/wire/mapped/process_fence.h"
#include "pmem/file_handle.h"

namespace remora::fabric::nic::mapped {
namespace {

constexpr AccessFlags rights_to_change = remote_write | remote_atomic;

MappedMessage answer_to(const MappedMessage& asked, MappedKind kind) {
  return {.kind = static_cast<std::uint16_t>(kind),
          .key = asked.key,
          .initiator_qp = asked.initiator_qp,
          .target_qp = asked.target_qp};
}

// A mapping of the file that can change it keeps it from being opened by the next owner.
Descriptor open_to_map(int descriptor, bool writable) {
  Descriptor file = open_anew(descriptor, writable ? O_RDWR : O_RDONLY);
  if (file.open() && writable && !FileHandle::mark_mapped(file.number()).ok()) {
    file.close();
  }
  return file;
}

bool is_readable(int descriptor, int patience_ms) {
  pollfd look = {descriptor, POLLIN, 0};
  return ::poll(&look, 1, patience_ms) > 0;
}

}  // namespace

bool MappedTarget::Peer::gone() const {
  return is_readable(process.number(), 0);
}

bool MappedTarget::Peer::quiet(const Grant& grant) const {
  return !grant.alive && (grant.left_at == 0 || epoch->word(0).load() != grant.left_at || gone());
}

MappedTarget::Peer* MappedTarget::find(LinkId link) {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) {
    return peer.is_linked && peer.link == link;
  });
  return found == peers_.end() ? nullptr : &*found;
}

void MappedTarget::link_up(LinkId link, const HostPeer& peer, Descriptor process) {
  peers_.push_back(Peer{link, peer.identity, std::move(process), {}, {}});
}

void MappedTarget::link_down(LinkId link) {
  take_back([&](const Peer& peer, const Grant&) { return peer.is_linked && peer.link == link; });
  if (Peer* peer = find(link)) {
    peer->is_linked = false;
  }
  forget_quiet();
}

// --- Granting ---

void MappedTarget::ask(LinkId link, const MappedMessage& message, Descriptor epoch) {
  Peer* peer = find(link);
  if (peer == nullptr) {
    return;
  }
  if (epoch.open() && !peer->epoch) {
    if (Result<SharedPages> pages = SharedPages::adopt(std::move(epoch), SharedPages::epoch_bytes);
        pages.ok()) {
      peer->epoch.emplace(std::move(*pages));
    }
  }
  Descriptor file;
  const std::optional<MappedMessage> granted = grant(*peer, message, file);
  if (!granted) {
    (void)say_(link, answer_to(message, MappedKind::deny), -1);
    return;
  }
  if (!peer->gate_sent) {
    peer->gate_sent =
        say_(link, answer_to(message, MappedKind::gate), peer->gate->descriptor()).ok();
  }
  if (!peer->gate_sent || !say_(link, *granted, file.number()).ok()) {
    take_back([&](const Peer&, const Grant& grant) { return grant.number == granted->grant; });
  }
}

std::optional<MappedMessage> MappedTarget::grant(Peer& peer, const MappedMessage& asked,
                                                 Descriptor& file) {
  // Without a handle on its process nobody could take rights back from a peer that stands still.
  // Without fences between processes nobody could tell what it is in the middle of.
  if (nic_ == nullptr || !takes_part_in_fences() || peer.identity.uid != options_.trusted_uid ||
      !peer.process.open() || !peer.epoch) {
    return std::nullopt;
  }
  const std::optional<Reachable> what =
      nic_->reachable(peer.link, asked.target_qp, asked.initiator_qp, asked.key);
  if (!what || (what->rights & every_access) == 0 || what->persistence == nullptr) {
    return std::nullopt;
  }
  const std::optional<Backing> backing = what->persistence->backing();
  if (!backing) {
    return std::nullopt;
  }
  if (!peer.gate) {
    Result<SharedPages> gate = SharedPages::create(SharedPages::gate_bytes);
    if (!gate.ok()) {
      return std::nullopt;
    }
    peer.gate.emplace(std::move(*gate));
  }
  // Who asks twice, because the first answer took its time, gets the same answer twice.
  const auto is_the_same = [&](const Grant& grant) {
    return grant.alive && grant.own == asked.target_qp && grant.key == asked.key;
  };
  const auto is_free = [&](const Grant& grant) { return grant.number == 0 || peer.quiet(grant); };
  auto slot = std::find_if(peer.grants.begin(), peer.grants.end(), is_the_same);
  const bool is_fresh = slot == peer.grants.end();
  if (is_fresh) {
    slot = std::find_if(peer.grants.begin(), peer.grants.end(), is_free);
  }
  if (slot == peer.grants.end() && peer.grants.size() == limits::grants) {
    return std::nullopt;
  }
  file = open_to_map(backing->descriptor, (what->rights & rights_to_change) != 0);
  if (!file.open()) {
    return std::nullopt;
  }
  if (slot == peer.grants.end()) {
    slot = peer.grants.insert(slot, Grant{});
  }
  const auto [region, fresh] = regions_.try_emplace(asked.key, region_numbers_ + 1);
  region_numbers_ += fresh ? 1 : 0;
  const auto index = static_cast<std::uint16_t>(slot - peer.grants.begin());
  if (is_fresh) {
    *slot = {.number = ++granted_,
             .alive = true,
             .own = asked.target_qp,
             .key = asked.key,
             .region = region->second};
    peer.gate->word(index).store(slot->number, std::memory_order_release);
  }
  MappedMessage answer = answer_to(asked, MappedKind::grant);
  answer.grant = slot->number;
  answer.region = slot->region;
  answer.base = reinterpret_cast<std::uintptr_t>(what->bytes.data());
  answer.length = what->bytes.size();
  answer.offset =
      backing->offset + static_cast<std::uint64_t>(what->bytes.data() - what->persistence->data());
  answer.rights = what->rights;
  answer.slot = index;
  answer.medium = static_cast<std::uint8_t>(what->persistence->granularity());
  return answer;
}

// --- Taking back ---

template <typename Which>
void MappedTarget::take_back(Which which) {
  std::vector<std::pair<Peer*, Grant*>> taken;
  for (Peer& peer : peers_) {
    for (std::size_t i = 0; i < peer.grants.size(); ++i) {
      Grant& grant = peer.grants[i];
      if (grant.alive && which(peer, grant)) {
        peer.gate->word(i).store(0, std::memory_order_relaxed);
        grant.alive = false;
        taken.emplace_back(&peer, &grant);
      }
    }
  }
  if (taken.empty()) {
    return;
  }
  heavy_fence();
  for (const auto& [peer, grant] : taken) {
    const std::uint64_t epoch = peer->epoch->word(0).load();
    grant->left_at = epoch % 2 == 1 ? epoch : 0;
    if (grant->left_at == 0) {
      *grant = {};
    }
  }
}

void MappedTarget::retire(QpNumber own) {
  take_back([&](const Peer&, const Grant& grant) { return grant.own == own; });
}

bool MappedTarget::quiet(QpNumber own) const {
  for (const Peer& peer : peers_) {
    for (const Grant& grant : peer.grants) {
      if (grant.number != 0 && grant.own == own && !peer.quiet(grant)) {
        return false;
      }
    }
  }
  return true;
}

void MappedTarget::take_back_key(RemoteKey key, std::uint64_t region) {
  std::vector<LinkId> told;
  take_back([&](const Peer& peer, const Grant& grant) {
    if (grant.key == key && peer.is_linked &&
        std::find(told.begin(), told.end(), peer.link) == told.end()) {
      told.push_back(peer.link);
    }
    return grant.key == key;
  });
  for (const LinkId link : told) {
    // Who cannot be told keeps some address space; its rights are gone.
    (void)say_(
        link,
        {.kind = static_cast<std::uint16_t>(MappedKind::forget), .key = key, .region = region}, -1);
  }
}

// A grant that was taken back before stays known while a peer is in the middle of something by it:
// whatever it was called then, it is one with this key.
void MappedTarget::release(RemoteKey key) {
  const auto region = regions_.find(key);
  if (region == regions_.end()) {
    return;
  }
  take_back_key(key, region->second);
  for (Peer& peer : peers_) {
    for (Grant& grant : peer.grants) {
      if (grant.number != 0 && grant.key == key) {
        await(peer, grant);
        grant = {};
      }
    }
  }
  regions_.erase(region);
  forget_quiet();
}

// With a new number, the region is mapped anew.
void MappedTarget::renew(RemoteKey key) {
  if (const auto region = regions_.find(key); region != regions_.end()) {
    take_back_key(key, region->second);
    region->second = ++region_numbers_;
    forget_quiet();
  }
}

// Until the peer has come out of what it was in the middle of, or is gone.
void MappedTarget::await(Peer& peer, const Grant& grant) {
  const std::uint64_t patience_ends_ns = runtime_.after(options_.stall_ns);
  while (!peer.quiet(grant)) {
    if (runtime_.now_ns() >= patience_ends_ns) {
      end(peer);
      return;
    }
    (void)is_readable(peer.process.number(), limits::look_ms);
  }
}

void MappedTarget::end(Peer& peer) {
  REMORA_CHECK(peer.identity.pid != ::getpid(), "a thread of this process stands still");
  if (options_.on_stall) {
    options_.on_stall(peer.identity);
  }
  ::syscall(SYS_pidfd_send_signal, peer.process.number(), SIGKILL, nullptr, 0);
  while (!peer.gone()) {
    (void)is_readable(peer.process.number(), limits::look_ms);
  }
}

void MappedTarget::forget_quiet() {
  std::erase_if(peers_, [](const Peer& peer) {
    return !peer.is_linked &&
           std::all_of(peer.grants.begin(), peer.grants.end(),
                       [&](const Grant& grant) { return grant.number == 0 || peer.quiet(grant); });
  });
}

std::size_t MappedTarget::granted_peers() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      peers_, [](const Peer& peer) { return std::ranges::any_of(peer.grants, &Grant::alive); }));
}

std::size_t MappedTarget::grants() const {
  std::size_t alive = 0;
  for (const Peer& peer : peers_) {
    alive += static_cast<std::size_t>(std::count_if(
        peer.grants.begin(), peer.grants.end(), [](const Grant& grant) { return grant.alive; }));
  }
  return alive;
}

}  // namespace remora::fabric::nic::mapped
