// scalerpc: ScaleRPC (Chen et al., EuroSys 2019), as figure 2(g) of the RDMA Flush paper draws it.
//
//   sender                                receiver
//   warm-up
//   WRITE where the argument lies ------> its CPU polls the slot
//         <------------------------------ READs the argument; handles; flushes
//         <------------------------------ WRITEs the answer
//   process, 100 times
//   WRITE the request ------------------> its CPU polls the slot; handles; flushes
//         <------------------------------ WRITEs the answer
//
// CHOSEN where that paper is silent:
// - The warm-ups of a client are its calls 0, 101, 202, ..., whatever their slots: one to 100.
// - ScaleRPC groups clients and gives each group a slice of time; figure 2(g) has one sender, and
// no
//   groups. All clients have their slots all the time.
#include <array>
#include <cstring>

#include "rpc/designs/list.h"
#include "rpc/designs/slot_client.h"
#include "rpc/designs/slot_ends.h"

namespace remora::rpc {

namespace {

constexpr std::uint64_t calls_of_a_round = 101;
constexpr std::uint16_t warm_up_flag = 1;

// The body of a warm-up.
struct Lies {
  std::uint64_t address = 0;
  fabric::RemoteKey key = 0;
  std::uint32_t size_bytes = 0;
};
static_assert(sizeof(Lies) == 16);

class ScaleClient final : public SlotClient {
 public:
  ScaleClient(const Host& host, const DesignOptions& options)
      : SlotClient(host, options), lies_memory_(options.window * lies_stride) {}

  Status open() {
    REMORA_TRY(SlotClient::open({.request_access = fabric::local_read | fabric::remote_read}));
    REMORA_TRY_RESULT(lies, domain().register_memory(lies_memory_, fabric::local_read));
    lies_ = std::move(lies).value();
    return {};
  }

 private:
  static constexpr std::size_t lies_stride = slot_bytes_for(sizeof(Lies));

  Task<Result<ConstBytes>> exchange(std::uint32_t slot, Kind kind,
                                    std::size_t size_bytes) override {
    const auto size = static_cast<std::uint32_t>(size_bytes);
    const std::uint32_t call = next_call(slot);
    const fabric::Sge request =
        calls_++ % calls_of_a_round == 0
            ? warm_up(slot, size, {.kind = kind, .flags = warm_up_flag, .call = call})
            : message(slot, {.kind = kind, .size_bytes = size, .call = call});
    co_await ready();
    const fabric::WorkCompletion written =
        co_await flows().write(pair(), request, place(slot, request));
    if (written.status != fabric::WorkStatus::success) {
      co_return unreachable(written);
    }
    co_return co_await answer_in(slot);
  }

  fabric::Sge warm_up(std::uint32_t slot, std::uint32_t size, SlotTail tail) {
    const fabric::RemoteAddress argument = requests().remote(slot * slot_bytes());
    const Lies lies = {argument.address, argument.key, size};
    const Bytes memory = std::span(lies_memory_).subspan(slot * lies_stride, lies_stride);
    std::memcpy(memory.data(), &lies, sizeof lies);
    tail.size_bytes = sizeof lies;
    return lies_->piece(slot * lies_stride, compose(memory, tail));
  }

  std::vector<std::byte> lies_memory_;
  std::unique_ptr<fabric::MemoryRegion> lies_;
  std::uint64_t calls_ = 0;
};

// Slots, and for a warm-up a READ of what it names: the request has come when that has ended.
class ScaleInlet final : public SlotInlet, private WriteOutlet::Reads {
 public:
  static Result<std::unique_ptr<ScaleInlet>> create(const Host& host, const DesignOptions& options,
                                                    WriteOutlet& outlet) {
    REMORA_TRY_RESULT(receives, host.device().create_completion_queue(options.most_clients));
    auto inlet = std::unique_ptr<ScaleInlet>(new ScaleInlet(
        host, slot_inlet_options(options, {.flags = warm_up_flag}), std::move(receives).value()));
    outlet.tell_of_reads(*inlet);
    return inlet;
  }

  Status open(Connection& client, const Introduction& theirs, Introduction& ours) override {
    REMORA_TRY(SlotInlet::open(client, theirs, ours));
    Fetched& fetched = fetched_[client.place];
    fetched.memory.resize(options().window * options().body_bytes);
    fetched.sizes.assign(options().window, 0);
    REMORA_TRY_RESULT(region, client.domain->register_memory(fetched.memory, fabric::local_write));
    fetched.region = std::move(region).value();
    return {};
  }
  void close(Connection& client) override {
    SlotInlet::close(client);
    fetched_[client.place].region.reset();  // before the memory
    fetched_[client.place] = {};
  }

  std::size_t poll(std::span<Arrival> out) override {
    std::size_t count = 0;
    while (count < out.size() && !ended_.empty()) {
      out[count++] = ended_.back();
      ended_.pop_back();
    }
    const std::size_t found = SlotInlet::poll(out.subspan(count));
    for (std::size_t i = count, end = count + found; i < end; ++i) {
      if (!begins_fetch(out[i])) {
        out[count++] = out[i];
      }
    }
    return count;
  }

  std::optional<Request> read(Connection& client, const Arrival& arrival) override {
    const std::optional<Slots::Message> found = message(client, arrival.where);
    if (!found || !arrival.is_written) {
      return !found || found->tail.flags != 0 ? std::nullopt : SlotInlet::read(client, arrival);
    }
    return Request{.call = found->tail.call,
                   .kind = found->tail.kind,
                   .body = ConstBytes(fetched_[client.place].memory)
                               .subspan(arrival.where * options().body_bytes, arrival.size_bytes)};
  }

 private:
  struct Fetched {
    std::vector<std::byte> memory;
    std::unique_ptr<fabric::MemoryRegion> region;
    std::vector<std::uint32_t> sizes;  // by slot: of the READ that is under way
  };

  ScaleInlet(const Host& host, const SlotInletOptions& options,
             std::unique_ptr<fabric::CompletionQueue> receives)
      : SlotInlet(options, std::move(receives)), host_(host), fetched_(options.most_clients) {
    ended_.reserve(std::size_t{options.most_clients} * options.window);
  }

  // Whether it is a warm-up, whose argument is on its way now. A size that fits in no slot, and one
  // that comes before the last has ended, are nonsense, which `read` refuses.
  bool begins_fetch(const Arrival& arrival) {
    Connection* client = client_of(arrival.session);
    const std::optional<Slots::Message> found =
        client == nullptr || arrival.failed ? std::nullopt : message(*client, arrival.where);
    Lies lies;
    if (!found || found->tail.flags != warm_up_flag || found->body.size() != sizeof lies) {
      return false;
    }
    std::memcpy(&lies, found->body.data(), sizeof lies);
    Fetched& fetched = fetched_[client->place];
    std::uint32_t& size = fetched.sizes[arrival.where];
    if (lies.size_bytes > options().body_bytes || size != 0) {
      return false;
    }
    if (lies.size_bytes == 0) {
      ended_.push_back({.session = arrival.session, .where = arrival.where, .is_written = true});
      return true;
    }
    size = lies.size_bytes;
    host_.charge(Work::post);
    const fabric::Sge piece = fetched.region->piece(arrival.where * options().body_bytes, size);
    const fabric::SendWork work{.id = work_id(arrival.session, arrival.where),
                                .opcode = fabric::Opcode::read,
                                .pieces = std::span(&piece, 1),
                                .remote = {lies.address, lies.key}};
    return client->queue_pair->post_send(std::span(&work, 1)).ok();
  }

  void read_ended(SessionId session, std::uint32_t slot, bool succeeded) override {
    Connection* client = client_of(session);
    if (client == nullptr || !succeeded || slot >= options().window) {
      return;  // the loop knows
    }
    const std::uint32_t size = std::exchange(fetched_[client->place].sizes[slot], 0);
    ended_.push_back({.session = session, .where = slot, .size_bytes = size, .is_written = true});
  }

  const Host host_;
  std::vector<Fetched> fetched_;  // by place
  std::vector<Arrival> ended_;
};

Result<Ends> serve_scale(const Host& host, const DesignOptions& options) {
  Ends ends;
  REMORA_TRY_RESULT(outlet,
                    WriteOutlet::create(host.device(), write_outlet_options(options, false)));
  REMORA_TRY_RESULT(inlet, ScaleInlet::create(host, options, **outlet));
  ends.outlet = std::move(outlet).value();
  ends.inlet = std::move(inlet).value();
  return ends;
}

constexpr std::array scale_transports = {fabric::Transport::rc};

}  // namespace

const Design& scalerpc() {
  static const Design design = {
      .descriptor = {.name = "scalerpc",
                     .kind = SystemKind::part,
                     .about = "As farm; every 101st call, the receiver READs the argument",
                     .paper = "Chen et al., EuroSys 2019",
                     .section = "RDMA Flush, 3",
                     .is_rival = true},
      .verb = RequestVerb::write,
      .transports = scale_transports,
      .considers_ddio = true,
      .request = "first WRITE of an address, READ by the receiver; then WRITE, polled",
      .answer = "WRITE, polled",
      .figure = "2(g)",
      .most_body_bytes = most_slot_body,
      .serve = serve_scale,
      .start_client = start<ScaleClient>};
  return design;
}

}  // namespace remora::rpc
