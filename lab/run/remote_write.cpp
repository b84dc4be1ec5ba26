#include "lab/run/remote_write.h"

#include <memory>
#include <utility>
#include <vector>

#include "fabric/nic/device/sim_machine.h"
#include "lab/run/costs.h"
#include "lab/run/medium.h"
#include "lab/run/plain_region.h"
#include "lab/run/remote_writer.h"
#include "runtime/virtual_loop.h"

namespace remora::store_bench {
namespace {

constexpr std::uint64_t pool_bytes = std::uint64_t{64} << 20;
constexpr CoreId server_core = 0;
constexpr CoreId client_core = 1;

// What one end is made of.
class End {
 public:
  explicit End(const Host& host) : host_(host) {}

  Status open(std::uint32_t message_bytes) {
    REMORA_TRY_RESULT(queue, host_.device().create_completion_queue(16));
    queue_ = std::move(queue).value();
    domain_ = host_.device().create_domain();
    messages_.resize(2 * std::size_t{message_bytes});
    REMORA_TRY(add(Bytes(messages_).first(message_bytes), fabric::local_read, nullptr, sent_));
    REMORA_TRY(add(Bytes(messages_).last(message_bytes), fabric::local_write, nullptr, received_));
    REMORA_TRY_RESULT(pair, domain_->create_queue_pair(
                                {.send_queue = queue_.get(), .receive_queue = queue_.get()}));
    pair_ = std::move(pair).value();
    return pair_->initialise();
  }
  // Memory that the other end may write.
  Status share(Bytes bytes, Region& region) {
    return add(bytes, fabric::local_write | fabric::remote_write, &region, shared_);
  }

  fabric::QueuePair& pair() { return *pair_; }
  fabric::MemoryRegion& shared() { return *shared_; }
  WriteLink link() {
    return {host_, *pair_, *queue_, sent_->piece(0, sent_->bytes().size()),
            received_->piece(0, received_->bytes().size())};
  }

 private:
  Status add(Bytes bytes, fabric::AccessFlags access, Region* region,
             std::unique_ptr<fabric::MemoryRegion>& place) {
    Result<std::unique_ptr<fabric::MemoryRegion>> memory =
        domain_->register_memory(bytes, access, region);
    if (memory.ok()) {
      place = std::move(memory).value();
    }
    return memory.status();
  }

  const Host host_;
  std::vector<std::byte> messages_;
  std::unique_ptr<fabric::CompletionQueue> queue_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::MemoryRegion> sent_;
  std::unique_ptr<fabric::MemoryRegion> received_;
  std::unique_ptr<fabric::MemoryRegion> shared_;
  std::unique_ptr<fabric::QueuePair> pair_;
};

class RemoteWriteRun {
 public:
  RemoteWriteRun(const RemoteWriteOptions& options, const RemoteWrites& writes,
                 const fabric::nic::sim::Profile& profile)
      : options_(options),
        writes_(writes),
        profile_(profile),
        costs_(costs_of(profile)),
        loop_({.seed = options.seed}),
        network_(loop_, profile.nic, profile.memory, Random(mix(options.seed))) {
    loop_.add_cores(2);
  }

  Result<ModelledReport> run() {
    REMORA_TRY(start());
    WriteServer server(server_->link(), writes_, region_->data());
    WriteClient client(client_->link(), writes_, server_->shared().remote(0));
    Task<void> serving = server.serve();
    REMORA_TRY(loop_.block_on(client.write_all(options_.warm_up, nullptr)));
    server_cpu_ = {};
    client_cpu_ = {};
    workload::Meter meter;
    const std::uint64_t begin_ns = loop_.now_ns();
    REMORA_TRY(loop_.block_on(client.write_all(options_.operations, &meter)));
    ModelledReport report;
    static_cast<Report&>(report) = report_of(meter, loop_.now_ns() - begin_ns);
    REMORA_TRY(check_littles_law(
        {.in_flight = 1,
         .span_ns = report.span_ns,
         .ended_ns = report.all.mean_ns * static_cast<double>(report.all.count)}));
    report.steady = true;  // one client, which waits for each
    report.server_cpu = server_cpu_;
    report.client_cpu = client_cpu_;
    report.events = loop_.events();
    report.trace_hash = loop_.trace_hash();
    server_->pair().fail();  // the flow that serves ends with that
    loop_.block_on(std::move(serving));
    return report;
  }

 private:
  Status start() {
    REMORA_TRY_RESULT(region, PlainRegion::create(pool_bytes));
    region_ = std::move(region).value();
    far_ = std::make_unique<fabric::nic::sim::SimMachine>(loop_, network_, mix(options_.seed + 1));
    near_ = std::make_unique<fabric::nic::sim::SimMachine>(loop_, network_, mix(options_.seed + 2));
    lines_ = std::make_unique<CachedLines>(profile_.memory, region_->bytes(), medium_);
    loop_.on_placed([this](ConstBytes range) { lines_->changed(range); });
    HostCosts costs = costs_;
    costs.write_back = lines_.get();
    server_ = std::make_unique<End>(
        Host(loop_, far_->nic, region_.get(), Faults(), costs, server_core, &server_cpu_));
    client_ = std::make_unique<End>(
        Host(loop_, near_->nic, nullptr, Faults(), costs_, client_core, &client_cpu_));
    REMORA_TRY(server_->open(writes_.message_bytes()));
    REMORA_TRY(client_->open(writes_.message_bytes()));
    REMORA_TRY(server_->share(region_->bytes(), *region_));
    REMORA_TRY(server_->pair().connect(client_->pair().address(), {}));
    return client_->pair().connect(server_->pair().address(), {});
  }

  const RemoteWriteOptions& options_;
  const RemoteWrites writes_;
  const fabric::nic::sim::Profile profile_;
  const HostCosts costs_;
  HostTally server_cpu_;
  HostTally client_cpu_;
  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  Medium medium_{profile_.memory.write_bytes_per_s};
  std::unique_ptr<PlainRegion> region_;
  std::unique_ptr<CachedLines> lines_;
  std::unique_ptr<fabric::nic::sim::SimMachine> far_;
  std::unique_ptr<fabric::nic::sim::SimMachine> near_;
  std::unique_ptr<End> server_;
  std::unique_ptr<End> client_;
};

}  // namespace

Result<ModelledReport> run_remote_writes(const RemoteWriteOptions& options) {
  REMORA_TRY_RESULT(method, parse_write_method(options.method));
  const RemoteWrites writes{*method, options.size_bytes, pool_bytes};
  REMORA_TRY(validate(writes));
  REMORA_TRY_RESULT(profile, profile_of(options.profile, options.numbers));
  return std::make_unique<RemoteWriteRun>(options, writes, *profile)->run();
}

}  // namespace remora::store_bench
