// What the processes of a measured run do. Each of these runs in a child, says on the board how far
// it is, and returns when the parent says that it is the end.
#pragma once

#include <optional>
#include <string>

#include "lab/measured/board.h"
#include "lab/workload/plan.h"
#include "link/store_link.h"
#include "server/store_host.h"

namespace remora::lab {

void serve(const server::StoreHostOptions& options, Board& board);

// The clients of one process: each has a connection of its own, and all share the loop.
struct ClientRole {
  std::uint32_t first = 0;  // they are numbered from here on
  std::uint32_t count = 1;
  std::uint32_t depth = 1;
  bool alone = true;  // on its processor
  std::string engine = {};
  std::string socket_path = {};
  link::WireKind fabric = link::WireKind::ring;
  std::optional<fabric::verbs::VerbsOptions> verbs = {};
  kv::Durability durability = kv::Durability::standard;
  kv::VerifyReads verify_reads = kv::VerifyReads::automatic;
  bool as_product = false;
};

void act(const ClientRole& role, const workload::Plan& plan, Board& board);

}  // namespace remora::lab
