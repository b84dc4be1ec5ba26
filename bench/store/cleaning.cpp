#include "bench/store/cleaning.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

#include "base/histogram.h"
#include "base/random.h"
#include "bench/measure.h"
#include "lab/check/value.h"
#include "lab/measured/board.h"
#include "lab/measured/children.h"
#include "link/store_link.h"
#include "runtime/poll_loop.h"
#include "runtime/when_all.h"
#include "server/store_host.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t tell_ns = 20'000'000;
constexpr int start_look_ms = 2;
// Long, since on a machine that has other work to do processes stand still at times.
constexpr std::uint64_t patience_ns = 10'000'000'000;
constexpr std::uint64_t in_flight = 8;  // updates of the one client; as many gets beside them

// What the server says of itself, in memory that both processes share.
struct Told {
  std::atomic<bool> ready = false;
  std::atomic<bool> end = false;
  std::atomic<std::uint64_t> cleanings = 0;
  std::atomic<std::uint64_t> private_bytes = 0;
  lab::SharedStatus status;
};

class Shared {
 public:
  Shared()
      : memory_(::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)),
        told_(memory_ == MAP_FAILED ? nullptr : new (memory_) Told) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (told_ != nullptr) {
      ::munmap(memory_, sizeof(Told));
    }
  }
  Told* told() { return told_; }

 private:
  void* const memory_;
  Told* const told_;
};

// Memory of this process that no file stands behind.
std::uint64_t private_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (std::uint64_t kilobytes = 0; word == "RssAnon:" && file >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

std::uint64_t counter(const kv::StoreServer& store, std::string_view name) {
  for (const kv::StoreServer::Counter& counter : store.counters()) {
    if (counter.name == name) {
      return counter.value;
    }
  }
  return 0;
}

void serve(const server::StoreHostOptions& options, Told& told) {
  PollLoop loop;
  Result<std::unique_ptr<server::StoreHost>> host = server::StoreHost::open(loop, options);
  if (!host.ok()) {
    told.status.set(host.status());
    return;
  }
  told.ready = true;
  while (!told.end) {
    (void)loop.run_for(tell_ns);
    told.cleanings =
        counter((*host)->store(), "cleanings") + counter((*host)->store(), "cleaned_parts");
    told.private_bytes = private_bytes();
  }
}

// The one client: keys are updated in no order while others are read and looked at.
class Load {
 public:
  Load(PollLoop& loop, const CleaningOptions& options, Told& told, const CleaningStep& step)
      : loop_(loop), options_(options), told_(told), step_(step), random_(options.seed) {}

  Status run(const std::string& socket_path) {
    link::StoreLinkOptions link;
    link.client.in_flight = 2 * in_flight;
    link.client.timeout_ns = 2 * patience_ns;
    REMORA_TRY_RESULT(connected,
                      loop_.block_on(link::StoreLink::connect(loop_, socket_path, link)));
    store_ = &(*connected)->store();
    keys_ = options_.pool_bytes / 4 / options_.value_bytes;
    REMORA_TRY(loop_.block_on(fill()));
    began_ns_ = loop_.now_ns();
    std::vector<Task<void>> flows;
    for (std::uint64_t i = 0; i < in_flight; ++i) {
      flows.push_back(update());
      flows.push_back(read());
    }
    (void)loop_.block_on(when_all(std::move(flows)));
    return failure_;
  }
  const CleaningReport& report() const { return report_; }

 private:
  std::string key_of(std::uint64_t number) const { return "cleaned/" + std::to_string(number); }

  Task<Status> put(std::uint64_t number, std::vector<std::byte>& value) {
    const std::string key = key_of(number);
    fill_value(key, ++puts_, value);
    co_return co_await store_->put(as_bytes(key), value);
  }
  Task<Status> fill() {
    std::vector<std::byte> value(options_.value_bytes);
    for (std::uint64_t number = 0; number < keys_; ++number) {
      REMORA_CO_TRY(co_await put(number, value));
    }
    co_return Status();
  }
  Task<void> update() {
    std::vector<std::byte> value(options_.value_bytes);
    while (report_.updated_bytes < options_.bytes && failure_.ok()) {
      const std::uint64_t begin_ns = loop_.now_ns();
      const Status status = co_await put(random_.below(keys_), value);
      put_ns_.record(loop_.now_ns() - begin_ns);
      ended(status);
      report_.updated_bytes += options_.value_bytes;
      if (report_.updated_bytes / options_.step_bytes != steps_) {
        tell();
      }
    }
  }
  Task<void> read() {
    std::vector<std::byte> value(options_.value_bytes);
    while (report_.updated_bytes < options_.bytes && failure_.ok()) {
      const std::string key = key_of(random_.below(keys_));
      const std::uint64_t begin_ns = loop_.now_ns();
      const Result<std::size_t> size = co_await store_->get(as_bytes(key), value);
      get_ns_.record(loop_.now_ns() - begin_ns);
      ended(size.ok() ? Status() : size.status());
      const Identity identity = identify(value);
      if (size.ok() && (*size != value.size() || identity.wholeness != Wholeness::whole ||
                        identity.hash_of_key != key_hash(key))) {
        ended(Status(Code::damaged, "a get returned what nobody put: " + identity.note));
      }
      ++gets_;
    }
  }
  void ended(const Status& status) {
    if (failure_.ok() && !status.ok()) {
      failure_ = status;
    }
  }
  void tell() {
    ++steps_;
    const std::uint64_t now_ns = loop_.now_ns();
    const double seconds = static_cast<double>(now_ns - began_ns_) / 1e9;
    report_.steps.push_back({.updates_per_s = static_cast<double>(put_ns_.count()) / seconds,
                             .gets_per_s = static_cast<double>(gets_) / seconds,
                             .put_p50_ns = put_ns_.percentile(50),
                             .put_p99_ns = put_ns_.percentile(99),
                             .get_p50_ns = get_ns_.percentile(50),
                             .get_p99_ns = get_ns_.percentile(99),
                             .cleanings = told_.cleanings,
                             .server_private_bytes = told_.private_bytes,
                             .client_private_bytes = private_bytes()});
    began_ns_ = now_ns;
    gets_ = 0;
    put_ns_.clear();
    get_ns_.clear();
    if (step_) {
      step_(report_);
    }
  }

  PollLoop& loop_;
  const CleaningOptions& options_;
  const Told& told_;
  const CleaningStep& step_;
  Random random_;
  kv::StoreClient* store_ = nullptr;
  std::uint64_t keys_ = 0;
  std::uint64_t puts_ = 0;
  std::uint64_t gets_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t began_ns_ = 0;
  Histogram put_ns_;
  Histogram get_ns_;
  Status failure_;
  CleaningReport report_;
};

}  // namespace

Result<CleaningReport> run_cleaning(const CleaningOptions& options, const std::string& folder,
                                    const CleaningStep& step) {
  Shared shared;
  if (shared.told() == nullptr) {
    return Status(Code::no_space, "no memory to share with the server's process");
  }
  Told& told = *shared.told();
  server::StoreHostOptions host;
  host.socket_path = folder + "/cleaning.sock";
  host.pool_bytes = options.pool_bytes;
  host.server.put_timeout_ns = patience_ns;
  host.server.client_timeout_ns = patience_ns;
  if (options.on_disk) {
    host.pool_path = folder + "/cleaning.pool";
  }
  lab::Children children;
  REMORA_TRY(children.start("server", 0, [&] { serve(host, told); }));
  while (!told.ready) {
    const Status ended = children.pause(start_look_ms);
    REMORA_TRY(told.status.get());
    REMORA_TRY(ended);
  }
  PollLoop loop;
  Load load(loop, options, told, step);
  REMORA_TRY(load.run(host.socket_path));
  told.end = true;
  return load.report();
}

Status measure_cleaning(const StoreBenchOptions& options) {
  CleaningOptions run;
  run.bytes = options.cleaning_bytes;
  std::printf(
      "measured: %.1f GB of updates of %u B to a pool of %llu MB, with gets beside them\n"
      "%6s %12s %12s %18s %18s %10s %14s %14s\n",
      static_cast<double>(run.bytes) / 1e9, run.value_bytes,
      static_cast<unsigned long long>(run.pool_bytes >> 20), "GB", "updates/s", "gets/s",
      "put p50/p99 us", "get p50/p99 us", "cleanings", "server MB", "client MB");
  const Result<CleaningReport> report =
      run_cleaning(run, options.folder, [](const CleaningReport& so_far) {
        const CleaningReport::Step& step = so_far.steps.back();
        std::printf(
            "%6.1f %12.0f %12.0f %9.1f/%8.1f %9.1f/%8.1f %10llu %14.1f %14.1f\n",
            static_cast<double>(so_far.updated_bytes) / 1e9, step.updates_per_s, step.gets_per_s,
            static_cast<double>(step.put_p50_ns) / 1e3, static_cast<double>(step.put_p99_ns) / 1e3,
            static_cast<double>(step.get_p50_ns) / 1e3, static_cast<double>(step.get_p99_ns) / 1e3,
            static_cast<unsigned long long>(step.cleanings),
            static_cast<double>(step.server_private_bytes) / 1e6,
            static_cast<double>(step.client_private_bytes) / 1e6);
        std::fflush(stdout);
      });
  return report.ok() ? Status() : report.status();
}

}  // namespace remora::bench
