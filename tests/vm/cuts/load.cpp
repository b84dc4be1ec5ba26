#include "tests/vm/cuts/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/bytes.h"
#include "lab/lives/stamped_value.h"

namespace remora::vm {
namespace {

constexpr std::uint64_t connect_patience_ns = 300'000'000'000;
constexpr std::uint64_t connect_look_ns = 20'000'000;
constexpr std::uint64_t end_look_ns = 2'000'000'000;

std::string name_of(std::uint32_t key) {
  return fmt::format("key-{}", key);
}

}  // namespace

Load::Load(LoadOptions options)
    : options_(std::move(options)),
      account_(options_.clients * options_.flows_per_client * options_.keys_per_flow) {}

Load::~Load() {
  links_.clear();
  if (journal_ >= 0) {
    ::close(journal_);
  }
}

Status Load::note(Event::Kind kind, std::uint32_t key, std::uint64_t version) {
  const Event event{kind, key, version};
  REMORA_TRY(account_.add(event));
  const std::string line = line_of(event);
  if (::write(journal_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return Status(Code::io_error,
                  fmt::format("cannot write {}: {}", options_.journal, std::strerror(errno)));
  }
  return {};
}

// --- Recovery ---

Status Load::connect_all() {
  const std::uint64_t give_up_ns = loop_.after(connect_patience_ns);
  while (links_.size() < options_.clients) {
    link::StoreLinkOptions link_options;
    link_options.fabric = links_.size() % 2 == 0 ? link::WireKind::mapped : link::WireKind::ring;
    link_options.timeout_ns = connect_patience_ns;
    link_options.client.timeout_ns = connect_patience_ns;
    Result<std::unique_ptr<link::StoreLink>> link =
        loop_.block_on(link::StoreLink::connect(loop_, options_.socket, link_options));
    if (link.ok()) {
      links_.push_back(std::move(link).value());
      continue;
    }
    if (server_->ended()) {
      std::ifstream complaints(options_.socket + ".complaints");
      std::string complaint;
      std::getline(complaints, complaint);
      return Status(Code::closed,
                    fmt::format("the server ended with {} before it could be reached: {}",
                                server_->wait(), complaint));
    }
    if (loop_.now_ns() > give_up_ns) {
      return Status(Code::timed_out,
                    fmt::format("the server cannot be reached within {} s: {}",
                                connect_patience_ns / 1'000'000'000, link.status().message()));
    }
    (void)loop_.run_for(connect_look_ns);
  }
  return {};
}

Status Load::start_and_check() {
  std::ifstream before(options_.journal);
  REMORA_TRY(account_.read(before));
  journal_ = ::open(options_.journal.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (journal_ < 0) {
    return Status(Code::io_error,
                  fmt::format("cannot open {}: {}", options_.journal, std::strerror(errno)));
  }
  REMORA_TRY_RESULT(server,
                    lab::ServerProcess::start(options_.program,
                                              {"--pool", options_.pool, "--socket", options_.socket,
                                               "--size", "16M", "--resp", ""},
                                              options_.socket + ".complaints"));
  server_.emplace(std::move(server).value());
  REMORA_TRY(connect_all());
  return loop_.block_on(check_all());
}

Task<Result<std::uint64_t>> Load::look(kv::StoreClient& store, std::uint32_t key) {
  const std::string name = name_of(key);
  std::string value(options_.longest_value_bytes + 100, '\0');
  const Result<std::size_t> size =
      co_await store.get(as_bytes(name), std::as_writable_bytes(std::span(value)));
  if (size.code() == Code::not_found) {
    co_return std::uint64_t{0};
  }
  REMORA_CO_TRY(size.status());
  const std::optional<std::uint64_t> version =
      lab::stamp_of(name, std::string_view(value).substr(0, *size));
  if (!version) {
    co_return Status(Code::damaged, fmt::format("{} has a torn value, or another key's", name));
  }
  co_return *version;
}

Task<Status> Load::check_all() {
  for (std::uint32_t key = 0; key < account_.keys(); ++key) {
    REMORA_CO_TRY_RESULT(version, co_await look(links_.front()->store(), key));
    REMORA_CO_TRY(note(Event::Kind::found, key, *version));
  }
  co_return Status();
}

// --- Work ---

Status Load::work_for(std::uint64_t span_ns) {
  REMORA_TRY(note(Event::Kind::life, 0, account_.lives() + 1));
  end_ns_ = loop_.after(span_ns);
  Random random(options_.seed + account_.lives());
  std::vector<Task<void>> flows;
  for (std::uint32_t i = 0; i < options_.clients * options_.flows_per_client; ++i) {
    flows.push_back(flow(links_[i / options_.flows_per_client]->store(), i * options_.keys_per_flow,
                         random.next()));
  }
  for (Task<void>& one : flows) {
    (void)loop_.run_until(one);
    one.take();
  }
  return wrong_;
}

Task<void> Load::flow(kv::StoreClient& store, std::uint32_t first_key, std::uint64_t seed) {
  Random random(seed);
  while (wrong_.ok() && loop_.now_ns() < end_ns_) {
    const std::uint32_t key =
        first_key + static_cast<std::uint32_t>(random.below(options_.keys_per_flow));
    const Status status = co_await step(store, key, random);
    // What is lost or torn counts for more than who came late.
    if (!status.ok() && (wrong_.ok() || status.code() == Code::damaged)) {
      wrong_ = status;
    }
  }
}

Task<Status> Load::step(kv::StoreClient& store, std::uint32_t key, Random& random) {
  const std::uint64_t dice = random.below(100);
  const std::uint64_t size_bytes = 40 + random.below(options_.longest_value_bytes - 40);
  if (dice >= 20) {
    co_return co_await change(store, key, dice, size_bytes);
  }
  const Result<std::uint64_t> version = co_await look(store, key);
  co_return version.ok() ? note(Event::Kind::returned, key, *version) : version.status();
}

Task<Status> Load::change(kv::StoreClient& store, std::uint32_t key, std::uint64_t dice,
                          std::uint64_t size_bytes) {
  const std::string name = name_of(key);
  const bool removes = dice < 30;
  kv::PutOptions put;
  put.durability = dice < 70 ? kv::Durability::persistent : kv::Durability::standard;
  const std::uint64_t version = removes ? 0 : account_.next_version(key);
  Status status = note(removes ? Event::Kind::del : Event::Kind::put, key, version);
  if (!status.ok()) {
    co_return status;
  }
  if (removes) {
    status = co_await store.del(as_bytes(name));
  } else {
    const std::string value = lab::stamped_value(name, version, size_bytes);
    status = co_await store.put(as_bytes(name), as_bytes(value), put);
  }
  // A step that took too long may or may not have happened.
  if (status.code() == Code::timed_out && store.failure().ok()) {
    co_return Status();
  }
  if (!status.ok()) {
    co_return status;
  }
  const bool persistent = !removes && put.durability == kv::Durability::persistent;
  co_return note(persistent ? Event::Kind::persistent : Event::Kind::visible, key, version);
}

Status Load::stop() {
  links_.clear();
  server_->ask_to_stop();
  const int status = server_->wait();
  server_.reset();
  return status == 0 ? Status()
                     : Status(Code::io_error, fmt::format("the server ended with {}", status));
}

bool Load::server_ended() {
  // Its sockets are closed a moment before it has ended.
  const std::uint64_t sure_ns = loop_.after(end_look_ns);
  while (server_ && !server_->ended() && loop_.now_ns() < sure_ns) {
    (void)loop_.run_for(connect_look_ns);
  }
  return !server_ || server_->ended();
}

}  // namespace remora::vm
