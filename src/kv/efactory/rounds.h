// Rounds: every client is told of a new layout, and awaited.
//
// Clients reach the pool and the index by themselves. So nothing of these may be moved, or used
// again, under them. A round tells every client a new Layout and waits until each has said that
// nothing which it began under an earlier one is under way. A client that is silent for too long is
// disconnected, and its queue pair awaited until it is quiet. A client that waits for an answer of
// this server is not silent: in the middle of an operation that waits for the disk it cannot arrive
// before the disk has answered.
//
// Which rounds a cleaning holds is in the table of cleaning_stages.h. A change of the
// index's size begins with a round that stops pure READs, and ends with one that allows them again
// (upkeep.h).
//
// One thread, the loop's. One round is held at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kv/efactory/cleaning_stages.h"
#include "kv/efactory/engine_options.h"
#include "kv/efactory/messages.h"
#include "kv/efactory/peers.h"
#include "runtime/semaphore.h"
#include "runtime/task.h"

namespace remora::kv::efactory {

class Rounds {
 public:
  // Without hybrid reads clients are always told to ask; without reads while the log is cleaned,
  // as long as that lasts.
  Rounds(Catalogue& catalogue, Peers& peers, const ServerOptions& options,
         const EngineOptions& engine);
  // Once, before the first client comes.
  void use(rpc::Server& rpc) { rpc_ = &rpc; }

  // Holds one; it ends when all clients have arrived.
  Task<void> hold(Reads reads);
  // Holds one that changes nothing of how clients find what they get.
  Task<void> hold_again();
  // The same as a part of a turn, between whose rounds nobody else holds one: co_await
  // begin_turn(), then hold_in_turn() as often as need be, then end_turn().
  auto begin_turn() { return turn_.acquire(); }
  Task<void> hold_in_turn(Reads reads);
  void end_turn() { turn_.release(); }
  // The one that is held, or was held last.
  std::uint64_t number() const { return round_; }
  // As clients are told it for a way to find what they get.
  Reads reads_of(Finding finding) const;
  // How they find it now.
  Reads reads() const { return reads_; }

  Layout layout(rpc::SessionId session) { return layout_of(peers_.at(session)); }
  // The client has arrived. What it was granted before the round began is not under way any more.
  void arrive(rpc::SessionId session, std::uint64_t round);

  // From the next round on no client is led to these segments; after that they may go.
  void lead_away_from(const std::vector<Segment>& segments) { leaving_ = segments; }
  void forget_freed() { leaving_.clear(); }
  // Those that a client which asks under this round is not to be told of. Under an older round it
  // may still be led there.
  std::span<const Segment> leaving(std::uint64_t round) const {
    return round == round_ ? std::span<const Segment>(leaving_) : std::span<const Segment>();
  }

 private:
  Layout layout_of(const Peer& peer) const;
  Reads allowed(Reads reads) const;
  bool all_have_arrived() const;
  // Those that were not told yet.
  void tell_layout();
  void disconnect_silent(std::uint64_t passed_ns);
  // A client has not arrived, and so much time has passed since the last look.
  bool has_had_its_time(rpc::SessionId id, Peer::Attendance& of, std::uint64_t passed_ns) const;

  Catalogue& catalogue_;
  const Host background_;
  Peers& peers_;
  rpc::Server* rpc_ = nullptr;
  const std::uint64_t put_timeout_ns_;
  const std::uint64_t client_timeout_ns_;
  const EngineOptions engine_;
  Semaphore turn_;
  std::uint64_t round_ = 0;
  Reads reads_;
  std::vector<Segment> leaving_;
};

}  // namespace remora::kv::efactory
