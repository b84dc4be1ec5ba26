#include "rpc/calls/design.h"

#include <array>

#include "rpc/calls/faults.h"

namespace remora::rpc::calls {

namespace {

constexpr std::string_view call_sources[] = {"src/rpc/calls/"};
constexpr std::string_view rflush_sources[] = {"src/rpc/calls/session.cpp"};

}  // namespace

constexpr Descriptor wflush_rpc = {
    .name = "wflush-rpc",
    .kind = SystemKind::part,
    .about = "durable calls: WRITE into a redo log, FLUSH, and the call survives before it has run",
    .paper = "Duan et al., SC '21",
    .section = "RDMA Flush, 4.2",
    .faults = faults::of_sender,
    .sources = call_sources};

constexpr Descriptor w_rflush_rpc = {
    .name = "w-rflush-rpc",
    .kind = SystemKind::part,
    .about =
        "durable calls: WRITE into a redo log, which the receiver's CPU flushes and then tells",
    .paper = "Duan et al., SC '21",
    .section = "RDMA Flush, 4.2",
    .faults = faults::of_receiver,
    .sources = rflush_sources};

}  // namespace remora::rpc::calls
