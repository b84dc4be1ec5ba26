#include "lab/measured/measured.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "lab/measured/board.h"
#include "lab/measured/children.h"
#include "lab/measured/roles.h"
#include "lab/measured/socket_folder.h"
#include "lab/run/sizes.h"

namespace remora::lab {
namespace {

constexpr int look_ms = 2;
constexpr int quiet_looks_max = 5000;
// Long, since on a machine that has other work to do processes stand still at times.
constexpr std::uint64_t put_timeout_ns = 2'000'000'000;

// A folder for the socket, and the run's pool file; both go with it.
class Scratch {
 public:
  explicit Scratch(std::string pool_path) : pool_path_(std::move(pool_path)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) {
      std::filesystem::remove_all(folder_, ignored);
      if (!pool_path_.empty()) {
        std::filesystem::remove(pool_path_, ignored);
      }
    }
  }

  Status make() {
    if (!pool_path_.empty() && std::filesystem::exists(pool_path_)) {
      return Status(Code::already_exists, pool_path_ +
                                              " exists; name a file that does not: the benchmark "
                                              "makes its pool there and removes it");
    }
    Result<std::string> folder = make_socket_folder();
    if (folder.ok()) {
      folder_ = std::move(folder).value();
    }
    return folder.status();
  }
  std::string socket_path() const { return folder_ + "/socket"; }

 private:
  const std::string pool_path_;
  std::string folder_;
};

class MeasuredRun {
 public:
  explicit MeasuredRun(const MeasuredOptions& options)
      : options_(options), plan_(options.plan), scratch_(options.pool_path) {}

  Result<MeasuredReport> run() {
    REMORA_TRY(scratch_.make());
    REMORA_TRY_RESULT(board, Board::create(plan_.clients));
    board_ = std::move(board).value();
    REMORA_TRY(start_server());
    REMORA_TRY(start_clients());
    REMORA_TRY(run_phase(Phase::load));
    REMORA_TRY(await_quiet());
    REMORA_TRY(run_phase(Phase::warm_up));
    REMORA_TRY(run_phase(Phase::measure));
    board_->phase() = Phase::end;
    REMORA_TRY(await([this] { return board_->server().ended.load(); }));
    return report();
  }

 private:
  Status start_server() {
    const server::StoreHostOptions host{
        .engine = options_.engine,
        .socket_path = scratch_.socket_path(),
        .fabric = options_.fabric,
        .verbs = options_.verbs,
        .pool_path = options_.pool_path,
        .pool_bytes =
            options_.pool_bytes != 0 ? options_.pool_bytes : store_bench::pool_bytes_for(plan_),
        .server = store_bench::server_options_for(plan_, server_options())};
    REMORA_TRY(children_.start("server", 0, [&] { serve(host, *board_); }));
    return await([this] { return board_->server().ready.load(); });
  }

  kv::ServerOptions server_options() const {
    kv::ServerOptions options;
    options.put_timeout_ns = put_timeout_ns;
    options.clean_always = options_.clean_always;
    options.connect = link::patient_connect;  // as the product has it
    return options;
  }

  Status start_clients() {
    const unsigned for_clients = children_.processors() < 2 ? 1 : children_.processors() - 1;
    const std::uint32_t processes = std::min(
        plan_.clients, options_.processes == 0 ? std::uint32_t{for_clients} : options_.processes);
    std::uint32_t first = 0;
    for (std::uint32_t process = 0; process < processes; ++process) {
      const std::uint32_t left = plan_.clients - first;
      const std::uint32_t count = (left + processes - process - 1) / (processes - process);
      const ClientRole role{.first = first,
                            .count = count,
                            .depth = options_.depth,
                            .alone = processes <= for_clients && children_.processors() > 1 &&
                                     options_.placement == Placement::apart,
                            .engine = options_.engine,
                            .socket_path = scratch_.socket_path(),
                            .fabric = options_.fabric,
                            .verbs = options_.verbs,
                            .durability = options_.durability,
                            .verify_reads = options_.verify_reads,
                            .as_product = options_.as_product};
      // More than there are processors beside the server's share that one too.
      const unsigned processor = options_.placement == Placement::together ? 0
                                 : processes <= for_clients
                                     ? 1 + process
                                     : process % std::max(1u, children_.processors());
      REMORA_TRY(children_.start("clients " + std::to_string(process), processor,
                                 [&] { act(role, plan_, *board_); }));
      first += count;
    }
    return {};
  }

  Status run_phase(Phase phase) {
    board_->phase() = phase;
    return await([this, phase] {
      for (std::uint32_t client = 0; client < board_->clients(); ++client) {
        if (board_->client(client).ended.load() < phase) {
          return false;
        }
      }
      return true;
    });
  }

  // Until the server has no background work, or has had its time.
  Status await_quiet() {
    const std::uint64_t before = board_->server().looks;
    int looks = 0;
    return await([&] {
      const ServerPart& server = board_->server();
      return (server.looks > before + 2 && !server.busy) || ++looks > quiet_looks_max;
    });
  }

  template <typename Predicate>
  Status await(Predicate predicate) {
    while (!predicate()) {
      const Status ended = children_.pause(look_ms);
      REMORA_TRY(board_->server().status.get());
      for (std::uint32_t client = 0; client < board_->clients(); ++client) {
        REMORA_TRY(board_->client(client).status.get());
      }
      REMORA_TRY(ended);
      show_progress();
    }
    show_progress();
    return {};
  }

  void show_progress() {
    if (!options_.progress) {
      return;
    }
    std::uint64_t performed = 0;
    for (std::uint32_t client = 0; client < board_->clients(); ++client) {
      performed += board_->client(client).performed.load(std::memory_order_relaxed);
    }
    options_.progress(performed, plan_.records + plan_.warm_up + plan_.operations);
  }

  MeasuredReport report() {
    auto meter = std::make_unique<workload::Meter>();
    std::uint64_t span_ns = 0;
    MeasuredReport report;
    for (std::uint32_t number = 0; number < board_->clients(); ++number) {
      const ClientPart& client = board_->client(number);
      meter->merge(client.meter);
      span_ns = std::max(span_ns, client.span_ns);
      report.requests_by_wire += client.device.requests_by_wire;
      report.requests_short_cut += client.device.requests_short_cut;
    }
    static_cast<store_bench::Report&>(report) = store_bench::report_of(*meter, span_ns);
    for (std::uint32_t number = 0; number < board_->clients() && report.first_failure.ok();
         ++number) {
      report.first_failure = board_->client(number).first_failure.get();
    }
    for (const ServerPart::Counter& counter : board_->server().counters) {
      if (counter.name[0] != '\0') {
        report.counters.emplace_back(counter.name.data(), counter.value);
      }
    }
    return report;
  }

  const MeasuredOptions& options_;
  const workload::Plan& plan_;
  Scratch scratch_;
  std::unique_ptr<Board> board_;
  Children children_;  // end before what they use goes
};

}  // namespace

Result<MeasuredReport> run_measured(const MeasuredOptions& options) {
  REMORA_TRY(workload::validate(options.plan));
  if (const Result<const kv::Engine*> engine = kv::find_engine(options.engine); !engine.ok()) {
    return engine.status();
  }
  return MeasuredRun(options).run();
}

}  // namespace remora::lab
