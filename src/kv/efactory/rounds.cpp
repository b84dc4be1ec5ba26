#include "kv/efactory/rounds.h"

#include <algorithm>
#include <array>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t look_round_ns = 2'000;
// What counts between two looks. While this process stood still, clients may have stood still too,
// or have said what is not yet heard.
constexpr std::uint64_t longest_between_looks_ns = 20'000'000;
// A client that waits for this server is awaited so much longer than a silent one.
constexpr std::uint64_t patience_with_waiting = 20;

}  // namespace

Rounds::Rounds(Catalogue& catalogue, Peers& peers, const ServerOptions& options,
               const EngineOptions& engine)
    : catalogue_(catalogue),
      background_(catalogue.background()),
      peers_(peers),
      put_timeout_ns_(options.put_timeout_ns),
      client_timeout_ns_(options.client_timeout_ns),
      engine_(engine),
      turn_(background_.runtime(), 1),
      reads_(allowed(Reads::by_mark)) {}

Reads Rounds::allowed(Reads reads) const {
  const bool may_read =
      engine_.hybrid_reads && (engine_.reads_while_cleaning || reads == Reads::by_mark);
  return may_read ? reads : Reads::asked;
}

Reads Rounds::reads_of(Finding finding) const {
  if (finding == Finding::by_mark) {
    return Reads::by_mark;
  }
  return catalogue_.newer_place() == 0 ? Reads::first_newer : Reads::second_newer;
}

Task<void> Rounds::hold(Reads reads) {
  co_await begin_turn();
  co_await hold_in_turn(reads);
  end_turn();
}

Task<void> Rounds::hold_again() {
  co_await begin_turn();
  co_await hold_in_turn(reads_);
  end_turn();
}

Task<void> Rounds::hold_in_turn(Reads reads) {
  ++round_;
  reads_ = allowed(reads);
  const bool in_a_hurry = background_.faults().planted(
      reads == Reads::by_mark ? faults::free_without_notice : faults::clean_without_notice);
  peers_.for_each([](Peer& peer) {
    peer.attendance.silent_ns = 0;
    peer.attendance.late_ns = 0;
    peer.attendance.is_told = false;
    peer.attendance.first_grant = peer.guard->grants().next_number();
  });
  tell_layout();
  std::uint64_t looked_ns = background_.runtime().now_ns();
  while (!in_a_hurry && !all_have_arrived()) {
    const std::uint64_t now_ns = background_.runtime().now_ns();
    const std::uint64_t passed_ns = std::min(now_ns - looked_ns, longest_between_looks_ns);
    looked_ns = now_ns;
    tell_layout();
    disconnect_silent(passed_ns);
    co_await background_.runtime().sleep_for(look_round_ns);
  }
}

bool Rounds::all_have_arrived() const {
  bool all = true;
  peers_.for_each([&](const Peer& peer) { all = all && peer.attendance.round == round_; });
  return all;
}

void Rounds::arrive(rpc::SessionId session, std::uint64_t round) {
  Peer& peer = peers_.at(session);
  peer.attendance.round = std::min(round, round_);
  if (peer.attendance.round == round_) {
    peer.guard->grants().drop_before(peer.attendance.first_grant);
  }
}

// Places are told as they lie in the pool, of which a peer's region has the blocks.
Layout Rounds::layout_of(const Peer& peer) const {
  fabric::RemoteAddress pool;
  if (peer.pool != nullptr) {
    pool = peer.pool->remote(0);
    pool.address -= catalogue_.pool().header().blocks;
  }
  return {.round = round_,
          .pool = pool,
          .pool_bytes = peers_.pool_bytes(),
          .index = peer.index->remote(0),
          .geometry = catalogue_.index().geometry(),
          .put_timeout_ns = put_timeout_ns_,
          .reads = reads_,
          .whole_value_bytes = whole_value_bytes_max,
          .by_segment = peer.pool == nullptr ? 1u : 0u};
}

// Rounds may follow each other so fast that a client has answered all of them before this side
// knows that its notices have arrived: then it is told a little later.
void Rounds::tell_layout() {
  rpc_->for_each([&](const rpc::Session& session) {
    Peer& peer = peers_.at(session.id);
    if (peer.attendance.is_told) {
      return;
    }
    std::array<std::byte, sizeof(Layout)> body;
    write_struct(Bytes(body), layout_of(peer));
    const Status said = rpc_->notify(session.id, new_layout, body);
    peer.attendance.is_told = said.ok();
    if (!said.ok() && said.code() != Code::no_space) {
      rpc_->disconnect(session.id);
    }
  });
}

void Rounds::disconnect_silent(std::uint64_t passed_ns) {
  rpc_->for_each([&](const rpc::Session& session) {
    Peer::Attendance& attendance = peers_.at(session.id).attendance;
    if (attendance.round != round_ && has_had_its_time(session.id, attendance, passed_ns)) {
      rpc_->disconnect(session.id);
    }
  });
}

bool Rounds::has_had_its_time(rpc::SessionId id, Peer::Attendance& of,
                              std::uint64_t passed_ns) const {
  of.silent_ns += rpc_->owes(id) ? 0 : passed_ns;
  of.late_ns += passed_ns;
  return of.silent_ns > client_timeout_ns_ ||
         of.late_ns / patience_with_waiting > client_timeout_ns_;
}

}  // namespace remora::kv::efactory
