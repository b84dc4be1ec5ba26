#include "lab/run/client_run.h"

#include <string_view>
#include <utility>

#include "base/check.h"
#include "lab/check/value.h"
#include "runtime/when_all.h"

namespace remora::store_bench {

using workload::Kind;
using workload::Operation;

namespace {

// How long a flow waits that finds too many inserts of its client under way.
constexpr std::uint64_t insert_window_ns = 1'000;
// How often a put of the load phase that took too long is tried.
constexpr int load_attempts = 5;

std::string_view text_of(ConstBytes key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

Status check_value(ConstBytes key, ConstBytes value) {
  if (value.size() < smallest_value_bytes) {
    return {};
  }
  const Identity identity = identify(value);
  if (identity.wholeness != Wholeness::whole) {
    return Status(Code::damaged, "a get returned a value that is not whole: " + identity.note);
  }
  if (identity.hash_of_key != key_hash(text_of(key))) {
    return Status(Code::damaged, "a get returned the value of another key");
  }
  return {};
}

}  // namespace

// Keeps the keys that a scan is given, one behind the other.
class ClientRun::ScannedKeys final : public kv::ScanSink {
 public:
  ScannedKeys(std::vector<std::byte>& bytes, std::vector<std::size_t>& ends)
      : bytes_(bytes), ends_(ends) {
    bytes_.clear();
    ends_.clear();
  }
  void key(ConstBytes key) override {
    bytes_.insert(bytes_.end(), key.begin(), key.end());
    ends_.push_back(bytes_.size());
  }

 private:
  std::vector<std::byte>& bytes_;
  std::vector<std::size_t>& ends_;
};

ClientRun::ClientRun(const Host& host, kv::StoreClient& store, const workload::Plan& plan,
                     workload::Inserts& inserts, workload::Meter& meter,
                     const ClientRunOptions& options)
    : host_(host),
      store_(store),
      plan_(plan),
      options_(options),
      meter_(meter),
      loader_(plan, options.client),
      stream_(plan, inserts, options.client) {}

std::uint64_t ClientRun::planned() const {
  return stream_.planned() + workload::share_of(plan_.records, options_.client, plan_.clients);
}

ClientRun::Worker& ClientRun::worker(std::size_t index) {
  while (workers_.size() <= index) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->out.resize(plan_.values.largest_bytes());
    workers_.back()->in.resize(plan_.values.largest_bytes());
  }
  return *workers_[index];
}

// --- Phases ---

Task<Status> ClientRun::load() {
  std::vector<Task<void>> flows;
  for (std::size_t i = 0; i < options_.load_depth; ++i) {
    flows.push_back(load_some(worker(i)));
  }
  co_await when_all(std::span(flows));
  co_return first_failure_;
}

Task<void> ClientRun::load_some(Worker& worker) {
  Operation operation;
  while (first_failure_.ok() && loader_.next(operation)) {
    const ConstBytes key = key_of(operation, worker);
    const ConstBytes value = value_of(operation, key, worker);
    Status status;
    for (int attempt = 0; attempt < load_attempts; ++attempt) {
      status = co_await store_.put(key, value, options_.put);
      if (status.code() != Code::timed_out) {
        break;  // else this process, or the server's, had to stand still
      }
    }
    failed(status);
    ++performed_;
  }
}

Task<void> ClientRun::warm_up() {
  const std::uint64_t measured =
      workload::share_of(plan_.operations, options_.client, plan_.clients);
  Going going;
  co_await work_side_by_side(stream_.planned() - measured, going);
}

Task<void> ClientRun::measure() {
  Going going{.metered = true};
  co_await work_side_by_side(stream_.planned(), going);
}

Task<void> ClientRun::keep_on(Going& going) {
  co_await work_side_by_side(UINT64_MAX, going);
}

Task<void> ClientRun::work_side_by_side(std::uint64_t until, Going& going) {
  std::vector<Task<void>> flows;
  for (std::size_t i = 0; i < options_.depth; ++i) {
    flows.push_back(work(worker(i), until, going));
  }
  co_await when_all(std::span(flows));
}

// Each operation begins where the one before it ended, since the clock costs a tenth of the fastest
// ones; or behind its value, where one had to be made.
Task<void> ClientRun::work(Worker& worker, std::uint64_t until, Going& going) {
  Operation operation;
  std::uint64_t& begin_ns = worker.begin_ns;
  begin_ns = host_.now_ns();
  worker.is_at_work = true;
  while (stream_.drawn() < until && !going.stops && store_.failure().ok()) {
    if (!stream_.next(operation)) {
      co_await host_.runtime().sleep_for(insert_window_ns);
      begin_ns = host_.now_ns();
      continue;
    }
    const ConstBytes key = key_of(operation, worker);
    const ConstBytes value = value_of(operation, key, worker);
    if (std::exchange(worker.has_filled, false)) {
      begin_ns = host_.now_ns();
    }
    Outcome outcome;
    if (operation.kind == Kind::read) {  // these without a flow in between, which would count
      outcome = read_outcome(key, worker, co_await store_.get(key, worker.in));
    } else if (operation.kind == Kind::update || operation.kind == Kind::insert) {
      outcome.status = co_await store_.put(key, value, options_.put);
    } else {
      outcome = co_await perform(operation, key, value, worker);
    }
    co_await host_.charged();
    const std::uint64_t end_ns = host_.now_ns();
    ended(operation, outcome, end_ns - std::exchange(begin_ns, end_ns), going);
  }
  worker.is_at_work = false;
}

std::uint64_t ClientRun::under_way_ns() const {
  std::uint64_t sum_ns = 0;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    sum_ns += worker && worker->is_at_work ? host_.now_ns() - worker->begin_ns : 0;
  }
  return sum_ns;
}

void ClientRun::ended(const Operation& operation, const Outcome& outcome, std::uint64_t latency_ns,
                      Going& going) {
  ++performed_;
  ++going.ended;
  failed(outcome.status);
  if (operation.kind == Kind::insert) {
    outcome.status.ok() ? stream_.inserted(operation) : stream_.failed(operation);
  }
  if (!going.metered) {
    return;
  }
  if (!outcome.status.ok()) {
    meter_.record_failure(operation.kind);
  } else if (outcome.missing) {
    meter_.record_missing(operation.kind, latency_ns);
  } else {
    meter_.record(operation.kind, latency_ns);
  }
}

void ClientRun::failed(const Status& status) {
  if (first_failure_.ok() && !status.ok()) {
    first_failure_ = status;
  }
}

// --- Operations ---

ConstBytes ClientRun::key_of(const Operation& operation, Worker& worker) const {
  return std::as_bytes(std::span(plan_.keys.text_of(operation.key, worker.key_buffer)));
}

ConstBytes ClientRun::value_of(const Operation& operation, ConstBytes key, Worker& worker) const {
  const Bytes value = Bytes(worker.out).first(operation.value_bytes);
  if (value.empty()) {
    return value;
  }
  if (options_.check_values || value.size() > worker.made_bytes) {
    workload::fill(text_of(key), operation.id, value);
    worker.made_bytes = value.size();
    worker.has_filled = true;
  } else if (value.size() >= word_bytes) {
    store(value.data(), operation.id);  // nobody looks at it: it has to be another one, no more
  }
  return value;
}

Task<ClientRun::Outcome> ClientRun::perform(const Operation& operation, ConstBytes key,
                                            ConstBytes value, Worker& worker) {
  Outcome outcome;
  switch (operation.kind) {
    case Kind::read:
    case Kind::update:
    case Kind::insert:
      REMORA_CHECK(false, "none of them needs a flow of its own");
      break;
    case Kind::read_modify_write:
      outcome = read_outcome(key, worker, co_await store_.get(key, worker.in));
      if (outcome.status.ok()) {
        outcome.status = co_await store_.put(key, value, options_.put);
      }
      break;
    case Kind::del:
      outcome.status = co_await store_.del(key);
      break;
    case Kind::scan:
      outcome = co_await scan(operation.scan_length, worker);
      break;
  }
  co_return outcome;
}

ClientRun::Outcome ClientRun::read_outcome(ConstBytes key, const Worker& worker,
                                           const Result<std::size_t>& size) const {
  Outcome outcome;
  if (size.ok() && options_.check_values) {
    outcome.status = check_value(key, ConstBytes(worker.in).first(*size));
  }
  if (!size.ok()) {
    outcome.missing = size.code() == Code::not_found;
    outcome.status = outcome.missing ? Status() : size.status();
  }
  return outcome;
}

Task<ClientRun::Outcome> ClientRun::scan(std::uint32_t records, Worker& worker) {
  Outcome outcome;
  ScannedKeys keys(worker.scanned, worker.scanned_ends);
  bool from_the_start = cursor_ == 0;
  do {
    const Result<kv::ScanCursor> next =
        co_await store_.scan(cursor_, records - worker.scanned_ends.size(), keys);
    if (!next.ok()) {
      outcome.status = next.status();
      co_return outcome;
    }
    cursor_ = *next;
    // Where the last scan ended there may have been nothing left.
  } while (worker.scanned_ends.size() < records &&
           (cursor_ != 0 || (worker.scanned_ends.empty() && !std::exchange(from_the_start, true))));
  std::size_t begin = 0;
  for (std::size_t i = 0; i < worker.scanned_ends.size() && i < records; ++i) {
    const std::size_t end = worker.scanned_ends[i];
    const ConstBytes key = ConstBytes(worker.scanned).subspan(begin, end - begin);
    outcome = read_outcome(key, worker, co_await store_.get(key, worker.in));
    if (!outcome.status.ok()) {
      co_return outcome;
    }
    begin = end;
  }
  outcome.missing = worker.scanned_ends.empty();
  co_return outcome;
}

}  // namespace remora::store_bench
