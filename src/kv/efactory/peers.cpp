#include "kv/efactory/peers.h"

#include <utility>

#include "base/check.h"

namespace remora::kv::efactory {
namespace {

constexpr fabric::AccessFlags index_rights = fabric::remote_read;
constexpr fabric::AccessFlags reader_rights = fabric::remote_read;
constexpr fabric::AccessFlags writer_rights =
    fabric::local_write | fabric::remote_read | fabric::remote_write | fabric::flush_visibility;

}  // namespace

Peers::Peers(const Host& host, Catalogue& catalogue, const ServerOptions& options)
    : host_(host),
      catalogue_(catalogue),
      by_segment_(options.segment_keys || !host.device().attributes().asks_guards),
      readable_(catalogue.log()),
      pool_bytes_(catalogue.pool().size_bytes()) {}

Status Peers::join(const rpc::Session& session, std::uint64_t round) {
  Peer peer;
  REMORA_TRY(share_log(session, peer));
  REMORA_TRY(share_index(session, peer));
  peer.attendance.round = round;
  peers_[session.id] = std::move(peer);
  return {};
}

bool Peers::leave(const rpc::Session& session) {
  const auto peer = peers_.find(session.id);
  if (peer == peers_.end()) {
    return true;
  }
  if (!session.queue_pair->quiet()) {
    return false;
  }
  peers_.erase(peer);
  return true;
}

Status Peers::share_log(const rpc::Session& session, Peer& peer) {
  const Offset first_block = catalogue_.pool().header().blocks;
  const fabric::AccessFlags rights = session.may_write ? writer_rights : reader_rights;
  peer.guard = std::make_unique<StoreGuard>(catalogue_.log(), readable_, first_block,
                                            StoreGuard::Closing::when_durable);
  if (by_segment_) {
    peer.segments =
        std::make_unique<SegmentKeys>(*session.domain, host_.region(), catalogue_.log(), rights);
    return {};
  }
  REMORA_TRY_RESULT(
      pool, session.domain->register_memory(
                host_.region().bytes().subspan(first_block, pool_bytes_ - first_block), rights,
                &host_.region()));
  peer.pool = std::move(pool).value();
  REMORA_CHECK(peer.pool->guard_with(*peer.guard), "the device says that it asks guards");
  return {};
}

// Keys of segments are made with the segments.
void Peers::share_more(std::uint64_t pool_bytes) {
  pool_bytes_ = pool_bytes;
  for_each([&](Peer& peer) {
    const bool is_shared =
        peer.pool == nullptr || peer.pool->extend(pool_bytes - catalogue_.pool().header().blocks);
    REMORA_CHECK(is_shared, "a device that asks guards extends regions");
  });
}

Status Peers::share_index(const rpc::Session& session) {
  return share_index(session, at(session.id));
}

Status Peers::share_index(const rpc::Session& session, Peer& peer) {
  REMORA_TRY_RESULT(index,
                    session.domain->register_memory(catalogue_.index().memory(), index_rights,
                                                    catalogue_.index_region()));
  peer.old_index = std::exchange(peer.index, std::move(index).value());
  return {};
}

void Peers::drop_old_indexes() {
  for_each([](Peer& peer) { peer.old_index.reset(); });
}

void Peers::drop_freed_segments() {
  for_each([](Peer& peer) {
    if (peer.segments != nullptr) {
      peer.segments->drop_freed();
    }
  });
}

void Peers::close_grant(Offset object) {
  for_each([object](Peer& peer) { peer.guard->close(object); });
}

}  // namespace remora::kv::efactory
