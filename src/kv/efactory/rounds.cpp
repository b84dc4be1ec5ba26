// Rounds: every client is told of a new layout, and awaited.
#include <algorithm>
#include <array>

#include "kv/efactory/faults.h"
#include "kv/efactory/server.h"

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t look_round_ns = 2'000;
// What counts between two looks. While this process stood still, clients may have stood still too,
// or have said what is not yet heard.
constexpr std::uint64_t longest_between_looks_ns = 20'000'000;
// A client that waits for this server is waited for so much longer than a silent one.
constexpr std::uint64_t patience_with_who_waits = 20;

}  // namespace

Reads EfactoryServer::reads_while_cleaning() const {
  return catalogue_->newer_place() == 0 ? Reads::first_newer : Reads::second_newer;
}

Task<void> EfactoryServer::round(Reads reads) {
  ++round_;
  reads_ = engine_.hybrid_reads ? reads : Reads::asked;
  const bool in_a_hurry = background_.faults().planted(
      reads == Reads::by_mark ? faults::free_without_notice : faults::clean_without_notice);
  for (auto& [id, peer] : peers_) {
    peer.silent_ns = 0;
    peer.late_ns = 0;
    peer.is_told = false;
    peer.first_of_round = peer.guard->grants().next_number();
  }
  tell_layout();
  std::uint64_t looked_ns = background_.runtime().now_ns();
  for (;;) {
    bool all = true;
    for (const auto& [id, peer] : peers_) {
      all = all && peer.round == round_;
    }
    if (all || in_a_hurry) {
      break;
    }
    const std::uint64_t now_ns = background_.runtime().now_ns();
    const std::uint64_t passed_ns = std::min(now_ns - looked_ns, longest_between_looks_ns);
    looked_ns = now_ns;
    tell_layout();
    rpc_->for_each([&](const rpc::Session& session) {
      Peer& peer = peers_.at(session.id);
      if (peer.round != round_ && has_had_its_time(session.id, peer, passed_ns)) {
        rpc_->disconnect(session.id);
      }
    });
    co_await background_.runtime().sleep_for(look_round_ns);
  }
}

// What it was granted before the round began is not under way any more.
rpc::Reply EfactoryServer::arrive(const rpc::Session& session, const RoundReply& reply) {
  Peer& peer = peers_.at(session.id);
  peer.round = std::min(reply.round, round_);
  if (peer.round == round_) {
    peer.guard->grants().drop_before(peer.first_of_round);
  }
  return {};
}

void EfactoryServer::close_grant(Offset object) {
  for (auto& [id, peer] : peers_) {
    peer.guard->close(object);
  }
}

// Whoever was not told yet. Rounds may follow each other so fast that a client has answered all of
// them before this side knows that its notices have arrived: then it is told a little later.
void EfactoryServer::tell_layout() {
  rpc_->for_each([&](const rpc::Session& session) {
    Peer& peer = peers_.at(session.id);
    if (peer.is_told) {
      return;
    }
    std::array<std::byte, sizeof(Layout)> body;
    write_struct(Bytes(body), layout(peer));
    const Status said = rpc_->notify(session.id, new_layout, body);
    peer.is_told = said.ok();
    if (!said.ok() && said.code() != Code::no_space) {
      rpc_->disconnect(session.id);
    }
  });
}

bool EfactoryServer::has_had_its_time(rpc::SessionId id, Peer& peer,
                                      std::uint64_t passed_ns) const {
  peer.silent_ns += rpc_->owes(id) ? 0 : passed_ns;
  peer.late_ns += passed_ns;
  return peer.silent_ns > options_.client_timeout_ns ||
         peer.late_ns / patience_with_who_waits > options_.client_timeout_ns;
}

}  // namespace remora::kv::efactory
