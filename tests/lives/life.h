// Life: a survivor, which is this process, and the peers that it outlives one after the other.
// Every peer works with it, both ways, until the blow falls; then
//
//   - all that the survivor had outstanding completes as F3 and F4 say. A killed peer makes it so
//   by
//     itself; a stopped one need not, so the survivor cuts it off when its time-out has passed;
//   - the survivor takes the memory that a stopped peer could write for something else;
//   - it works with a new peer, and every byte is right;
//   - a stopped peer goes on: it finds its requests failed, its link down and its key worth
//   nothing,
//     and has changed no byte of that memory. One that was stopped in the middle of a request which
//     it executes itself is ended instead, before the memory is free;
//   - the survivor holds no more descriptors, mappings and files than before.
//
// Failures are those of GoogleTest. What hangs is ended by an alarm.
#pragma once

#include <cstdint>
#include <string>

#include "tests/lives/census.h"
#include "tests/lives/party.h"
#include "tests/lives/peers.h"

namespace remora::fabric::lives {

class Life {
 public:
  // Peers are of that end; the signal is SIGKILL or SIGSTOP. Sockets go to the folder.
  Life(const WireKind& kind, nic::ring::HostEnd peer_end, int signal, const std::string& folder);
  ~Life();

  // One peer and its blow, all from the seed.
  void outlive(std::uint64_t seed);

  // Requests of the survivor that it executed itself, on a peer's memory.
  std::uint64_t short_cuts() { return survivor_.station().device().counters().requests_short_cut; }
  // What happened in all, for people.
  std::string summary();

 private:
  std::string path(const char* name) const { return folder_ + "/" + name; }
  std::string peer_path(const char* name) const;
  Line* meet(Child& child, const std::string& path, const LineOptions& options);
  void strike(Child& child, const Line& line, const Blow& blow);
  void part(Line& line);
  void resume(Child& child, std::byte filled);
  void work_with_another(const LoadPlan& its_plan, const LoadPlan& own_plan);
  void expect_well(Child& child);
  void expect_ended(Child& child);

  const WireKind& kind_;
  const nic::ring::HostEnd peer_end_;
  const int signal_;
  const std::string folder_;
  Party survivor_;
  Census before_;

  std::uint64_t lives_ = 0;
  std::uint64_t outstanding_ = 0;  // requests of the survivor when the blow had fallen
  std::uint64_t cut_off_ = 0;      // lines that had not ended by themselves
  std::uint64_t late_ = 0;         // additions that stopped peers executed when they went on
  std::uint64_t ended_ = 0;        // peers that stood still in the middle of a request
};

}  // namespace remora::fabric::lives
