// octopus-rpc: the RPC of Octopus (Lu et al., ATC 2017), as figure 2(h) of the RDMA Flush paper
// draws it.
//
//   sender                           receiver
//   WRITE with IMM the request ----> its CPU finds the completion; handles; flushes
//         <------------------------- WRITEs the answer, with IMM
//
// CHOSEN where that paper is silent:
// - The immediate is the number of the slot, as in Octopus it leads to the sender's message buffer.
// - Receives for the immediates hold no bytes. There are twice as many as calls in flight.
#include "rpc/designs/imm_client.h"
#include "rpc/designs/list.h"
#include "rpc/designs/slot_ends.h"

namespace remora::rpc {

namespace {

Result<Ends> serve_octopus(const Host& host, const DesignOptions& options) {
  return slots_and_writes(host, options, {.told_by_imm = true});
}

constexpr std::array octopus_transports = {fabric::Transport::rc};

}  // namespace

const Design& octopus_rpc() {
  static const Design design = {.descriptor = {.name = "octopus-rpc",
                                               .kind = SystemKind::part,
                                               .about = "WRITE with IMM both ways",
                                               .paper = "Lu et al., ATC 2017",
                                               .section = "RDMA Flush, 3",
                                               .is_rival = true},
                                .verb = RequestVerb::write_imm,
                                .transports = octopus_transports,
                                .request = "WRITE with IMM",
                                .answer = "WRITE with IMM",
                                .figure = "2(h)",
                                .most_body_bytes = most_slot_body,
                                .serve = serve_octopus,
                                .start_client = start<ImmClient>};
  return design;
}

}  // namespace remora::rpc
