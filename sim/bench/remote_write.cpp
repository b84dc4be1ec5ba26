#include "sim/bench/remote_write.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/flow.h"
#include "host/host.h"
#include "runtime/virtual_loop.h"
#include "sim/bench/costs.h"
#include "sim/bench/machine.h"
#include "sim/bench/plain_region.h"

namespace remora::store_bench {
namespace {

using fabric::WorkCompletion;
using fabric::WorkStatus;

constexpr std::uint32_t most_bytes = 1 << 20;
constexpr std::uint32_t notice_bytes = 16;  // what tells the server to persist, and every answer
constexpr std::uint64_t pool_bytes = std::uint64_t{64} << 20;
constexpr CoreId server_core = 0;
constexpr CoreId client_core = 1;

enum class Method : std::uint8_t { rpc, ca, saw, imm };

Result<Method> parse_method(const std::string& name) {
  const std::pair<const char*, Method> methods[] = {
      {"rpc", Method::rpc}, {"ca", Method::ca}, {"saw", Method::saw}, {"imm", Method::imm}};
  for (const auto& [known, method] : methods) {
    if (name == known) {
      return method;
    }
  }
  return Status(Code::invalid_argument,
                "no way of writing is called " + name + "; there are rpc, ca, saw and imm");
}

// One end of the connection: messages it sends and receives, and flows that wait for them.
class End {
 public:
  explicit End(const Host& host) : host_(host) {}

  Status open(Bytes sent, Bytes received) {
    Result<std::unique_ptr<fabric::CompletionQueue>> queue =
        host_.device().create_completion_queue(16);
    if (!queue.ok()) {
      return queue.status();
    }
    queue_ = std::move(queue).value();
    domain_ = host_.device().create_domain();
    REMORA_TRY(add(sent, fabric::local_read, nullptr, sent_));
    REMORA_TRY(add(received, fabric::local_write, nullptr, received_));
    Result<std::unique_ptr<fabric::QueuePair>> pair =
        domain_->create_queue_pair({.send_queue = queue_.get(), .receive_queue = queue_.get()});
    if (!pair.ok()) {
      return pair.status();
    }
    pair_ = std::move(pair).value();
    flows_ = std::make_unique<fabric::FlowQueue>(host_.runtime(), *queue_);
    return pair_->initialise();
  }
  // Memory that the other end may write.
  Status share(Bytes bytes, Region& region) {
    return add(bytes, fabric::local_write | fabric::remote_write, &region, shared_);
  }

  const Host& host() const { return host_; }
  fabric::QueuePair& pair() { return *pair_; }
  fabric::FlowQueue& flows() { return *flows_; }
  fabric::MemoryRegion& shared() { return *shared_; }
  ConstBytes received() const { return received_->bytes(); }
  fabric::Sge to_send(std::size_t size_bytes) const { return sent_->piece(0, size_bytes); }

  // A receive that is posted at once.
  Task<WorkCompletion> receive() {
    co_return co_await flows_->receive(*pair_, received_->piece(0, received_->bytes().size()));
  }
  // Before something is posted.
  CpuTime ready() const {
    host_.charge(Work::post);
    return host_.settled();
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
  std::unique_ptr<fabric::CompletionQueue> queue_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::MemoryRegion> sent_;
  std::unique_ptr<fabric::MemoryRegion> received_;
  std::unique_ptr<fabric::MemoryRegion> shared_;
  std::unique_ptr<fabric::QueuePair> pair_;
  std::unique_ptr<fabric::FlowQueue> flows_;
};

class RemoteWriteRun {
 public:
  RemoteWriteRun(const RemoteWriteOptions& options, Method method,
                 const fabric::nic::Profile& profile)
      : options_(options),
        method_(method),
        costs_(costs_of(profile)),
        loop_({.seed = options.seed}),
        network_(loop_, profile.nic, profile.memory, Random(mix(options.seed))) {
    loop_.add_cores(2);
  }

  Result<ModelledReport> run() {
    REMORA_TRY(start());
    Task<void> serving = serve();
    REMORA_TRY(loop_.block_on(write_all(options_.warm_up, nullptr)));
    server_cpu_ = {};
    client_cpu_ = {};
    workload::Meter meter;
    const std::uint64_t begin_ns = loop_.now_ns();
    REMORA_TRY(loop_.block_on(write_all(options_.operations, &meter)));
    ModelledReport report;
    static_cast<Report&>(report) = report_of(meter, loop_.now_ns() - begin_ns);
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
    const std::size_t message_bytes = std::max(options_.size_bytes, notice_bytes);
    for (std::vector<std::byte>& memory : memory_) {
      memory.resize(message_bytes);
    }
    REMORA_TRY(server_->open(memory_[0], memory_[1]));
    REMORA_TRY(client_->open(memory_[2], memory_[3]));
    REMORA_TRY(server_->share(region_->bytes(), *region_));
    REMORA_TRY(server_->pair().connect(client_->pair().address(), {}));
    return client_->pair().connect(server_->pair().address(), {});
  }

  // Answers until its queue pair fails.
  Task<void> serve() {
    End& end = *server_;
    const Host& host = end.host();
    Task<WorkCompletion> next = end.receive();
    for (;;) {
      const WorkCompletion arrived = co_await std::move(next);
      if (arrived.status != WorkStatus::success) {
        co_return;
      }
      host.charge(Work::poll);
      host.charge(Work::request);
      std::byte* const place = region_->data() + place_;
      if (method_ == Method::rpc) {
        host.copy(place, end.received().first(options_.size_bytes));
        (void)host.drain();
      } else {
        (void)host.persist(ConstBytes(place, options_.size_bytes));
      }
      next = end.receive();
      co_await end.ready();
      // If it cannot be sent, the receive fails too.
      (void)co_await end.flows().send(end.pair(), end.to_send(notice_bytes));
    }
  }

  Task<Status> write_all(std::uint64_t count, workload::Meter* meter) {
    for (; count > 0; --count) {
      // A new place each time, as a log has it.
      place_ = (place_ + round_up(std::uint64_t{options_.size_bytes}, std::uint64_t{64})) %
               (pool_bytes - most_bytes);
      const std::uint64_t begin_ns = loop_.now_ns();
      const Status status = co_await write();
      if (!status.ok()) {
        co_return status;
      }
      if (meter != nullptr) {
        meter->record(workload::Kind::update, loop_.now_ns() - begin_ns);
      }
    }
    co_return Status();
  }

  Task<Status> write() {
    End& end = *client_;
    const fabric::Sge value = end.to_send(options_.size_bytes);
    const fabric::RemoteAddress there = server_->shared().remote(place_);
    if (method_ == Method::ca) {
      co_await end.ready();
      const WorkCompletion written = co_await end.flows().write(end.pair(), value, there);
      end.host().charge(Work::poll);
      co_await end.host().settled();
      co_return status_of(written);
    }
    Task<WorkCompletion> answer = end.receive();
    co_await end.ready();
    WorkCompletion sent;
    if (method_ == Method::rpc) {
      sent = co_await end.flows().send(end.pair(), value);
    } else if (method_ == Method::imm) {
      sent = co_await end.flows().write_imm(end.pair(), value, there, 1);
    } else {
      sent = co_await end.flows().write(end.pair(), value, there);
      end.host().charge(Work::poll);
      if (sent.status == WorkStatus::success) {
        co_await end.ready();
        sent = co_await end.flows().send(end.pair(), end.to_send(notice_bytes));
      }
    }
    if (sent.status != WorkStatus::success) {
      end.pair().fail();  // or the answer would be awaited for ever
    }
    const WorkCompletion answered = co_await std::move(answer);
    end.host().charge(Work::poll);
    co_await end.host().settled();
    co_return status_of(sent.status == WorkStatus::success ? answered : sent);
  }

  static Status status_of(const WorkCompletion& completion) {
    return completion.status == WorkStatus::success
               ? Status()
               : Status(Code::io_error, "a remote write failed: " +
                                            std::string(fabric::to_string(completion.status)));
  }

  const RemoteWriteOptions& options_;
  const Method method_;
  const HostCosts costs_;
  HostTally server_cpu_;
  HostTally client_cpu_;
  VirtualLoop loop_;
  fabric::nic::SimNetwork network_;
  std::unique_ptr<PlainRegion> region_;
  std::vector<std::byte> memory_[4];
  std::unique_ptr<Machine> far_;
  std::unique_ptr<Machine> near_;
  std::unique_ptr<End> server_;
  std::unique_ptr<End> client_;
  std::uint64_t place_ = 0;
};

}  // namespace

Result<ModelledReport> run_remote_writes(const RemoteWriteOptions& options) {
  const Result<Method> method = parse_method(options.method);
  if (!method.ok()) {
    return method.status();
  }
  if (options.size_bytes == 0 || options.size_bytes > most_bytes) {
    return Status(Code::invalid_argument, "a remote write has 1 byte to 1 MB");
  }
  const Result<fabric::nic::Profile> profile = fabric::nic::load_profile(options.profile);
  if (!profile.ok()) {
    return profile.status();
  }
  return std::make_unique<RemoteWriteRun>(options, *method, *profile)->run();
}

}  // namespace remora::store_bench
