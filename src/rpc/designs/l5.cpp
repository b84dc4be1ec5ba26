// l5: L5 (Fent et al., VLDB 2020), as figure 2(e) of the RDMA Flush paper draws it.
//
//   sender                        receiver
//   WRITE the data     -------->
//   WRITE "valid"      -------->  its CPU polls the valid word; handles; flushes
//         <---------------------  WRITEs the answer, which the sender polls for
//
// CHOSEN where that paper is silent:
// - Both WRITEs are posted at once: the receiver executes them in that order (O1), and the word of
// the
//   second appears after all bytes of the first on one queue pair.
// - The valid word is the last word of the slot, and names the call; so nobody clears it.
#include <array>

#include "rpc/designs/list.h"
#include "rpc/designs/slot_client.h"
#include "rpc/designs/slot_ends.h"

namespace remora::rpc {

namespace {

constexpr std::uint32_t valid_bytes = 8;

class L5Client final : public SlotClient {
 public:
  L5Client(const Host& host, const DesignOptions& options) : SlotClient(host, options) {}
  Status open() { return SlotClient::open({}); }

 private:
  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    const fabric::Sge whole = message(slot, {.kind = kind,
                                             .size_bytes = static_cast<std::uint32_t>(size_bytes),
                                             .call = next_call(slot)});
    const std::uint32_t data_bytes = whole.size_bytes - valid_bytes;
    const fabric::Sge data = {whole.address, data_bytes, whole.key};
    const fabric::Sge valid = {whole.address + data_bytes, valid_bytes, whole.key};
    const fabric::RemoteAddress there = place(slot, whole);
    std::array<fabric::SendWork, 2> works = {
        fabric::SendWork{
            .opcode = fabric::Opcode::write, .pieces = std::span(&data, 1), .remote = there},
        fabric::SendWork{.opcode = fabric::Opcode::write,
                         .pieces = std::span(&valid, 1),
                         .remote = {there.address + data_bytes, there.key}}};
    co_await ready();
    const fabric::WorkCompletion written = co_await flows().post_all(pair(), works);
    if (written.status != fabric::WorkStatus::success) {
      co_return unreachable(written);
    }
    co_return co_await answer_in(slot);
  }
};

Result<Ends> serve_l5(const Host& host, const DesignOptions& options) {
  return slots_and_writes(host, options, {});
}

constexpr std::array l5_transports = {fabric::Transport::rc};

}  // namespace

const Design& l5() {
  static const Design design = {
      .descriptor = {.name = "l5",
                     .kind = SystemKind::part,
                     .about = "WRITE of the data, then of a valid word that is polled",
                     .paper = "Fent et al., VLDB 2020",
                     .section = "RDMA Flush, 3",
                     .is_rival = true},
      .verb = RequestVerb::write,
      .transports = l5_transports,
      .request = "WRITE, then WRITE of a valid word, polled",
      .answer = "WRITE, polled",
      .figure = "2(e)",
      .most_body_bytes = most_slot_body,
      .serve = serve_l5,
      .start_client = start<L5Client>};
  return design;
}

}  // namespace remora::rpc
