#include "sim/bench/remote_write.h"

#include <memory>
#include <utility>
#include <vector>

#include "runtime/virtual_loop.h"
#include "sim/bench/costs.h"
#include "sim/bench/machine.h"
#include "sim/bench/plain_region.h"
#include "sim/bench/remote_writer.h"

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
    Result<std::unique_ptr<fabric::CompletionQueue>> queue =
        host_.device().create_completion_queue(16);
    if (!queue.ok()) {
      return queue.status();
    }
    queue_ = std::move(queue).value();
    domain_ = host_.device().create_domain();
    messages_.resize(2 * std::size_t{message_bytes});
    REMORA_TRY(add(Bytes(messages_).first(message_bytes), fabric::local_read, nullptr, sent_));
    REMORA_TRY(add(Bytes(messages_).last(message_bytes), fabric::local_write, nullptr, received_));
    Result<std::unique_ptr<fabric::QueuePair>> pair =
        domain_->create_queue_pair({.send_queue = queue_.get(), .receive_queue = queue_.get()});
    if (!pair.ok()) {
      return pair.status();
    }
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
                 const fabric::nic::Profile& profile)
      : options_(options),
        writes_(writes),
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
    Result<std::unique_ptr<PlainRegion>> region = PlainRegion::create(pool_bytes);
    if (!region.ok()) {
      return region.status();
    }
    region_ = std::move(region).value();
    far_ = std::make_unique<Machine>(loop_, network_, mix(options_.seed + 1));
    near_ = std::make_unique<Machine>(loop_, network_, mix(options_.seed + 2));
    server_ = std::make_unique<End>(
        Host(loop_, far_->nic, region_.get(), Faults(), costs_, server_core, &server_cpu_));
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
  const HostCosts costs_;
  HostTally server_cpu_;
  HostTally client_cpu_;
  VirtualLoop loop_;
  fabric::nic::SimNetwork network_;
  std::unique_ptr<PlainRegion> region_;
  std::unique_ptr<Machine> far_;
  std::unique_ptr<Machine> near_;
  std::unique_ptr<End> server_;
  std::unique_ptr<End> client_;
};

}  // namespace

Result<ModelledReport> run_remote_writes(const RemoteWriteOptions& options) {
  const Result<WriteMethod> method = parse_write_method(options.method);
  if (!method.ok()) {
    return method.status();
  }
  const RemoteWrites writes{*method, options.size_bytes, pool_bytes};
  REMORA_TRY(validate(writes));
  const Result<fabric::nic::Profile> profile = fabric::nic::load_profile(options.profile);
  if (!profile.ok()) {
    return profile.status();
  }
  return std::make_unique<RemoteWriteRun>(options, writes, *profile)->run();
}

}  // namespace remora::store_bench
