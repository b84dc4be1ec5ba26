#include "lab/lives/kill_lives.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/bytes.h"
#include "lab/lives/stamped_value.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t connect_look_ns = 5'000'000;

}  // namespace

KillLives::KillLives(KillOptions options) : options_(std::move(options)), random_(options_.seed) {
  const std::uint32_t flows = options_.clients * options_.flows_per_client + options_.redis_clients;
  const std::uint32_t keys = flows * options_.keys_per_flow;
  for (std::uint32_t i = 0; i < keys; ++i) {
    keys_.push_back(std::make_unique<Key>());
    keys_.back()->name = fmt::format("key-{}", i);
  }
}

KillLives::~KillLives() {
  clients_.clear();
  redis_.clear();
}

// --- A life begins ---

Status KillLives::start_server() {
  std::vector<std::string> arguments = {"--pool", options_.folder + "/kill.pool", "--socket",
                                        socket()};
  arguments.insert(arguments.end(), options_.serve.begin(), options_.serve.end());
  if (options_.redis_clients != 0) {
    redis_port_ = RespLink::free_port();
    arguments.insert(arguments.end(), {"--resp", fmt::format("127.0.0.1:{}", redis_port_),
                                       "--resp-durability", "persistent"});
  }
  REMORA_TRY_RESULT(
      server, ServerProcess::start(options_.program, arguments, options_.folder + "/complaints"));
  server_.emplace(std::move(server).value());
  return {};
}

Status KillLives::connect_all() {
  const std::uint64_t give_up_ns = loop_.after(options_.patience_ns);
  for (std::uint32_t i = 0; i < options_.clients;) {
    link::StoreLinkOptions link_options;
    link_options.fabric = i % 2 == 0 ? link::WireKind::mapped : link::WireKind::ring;
    link_options.client.timeout_ns = 60'000'000'000;
    Result<std::unique_ptr<link::StoreLink>> link =
        loop_.block_on(link::StoreLink::connect(loop_, socket(), link_options));
    if (link.ok()) {
      clients_.push_back({std::move(link).value()});
      ++i;
      continue;
    }
    if (server_->ended() || loop_.now_ns() > give_up_ns) {
      std::ifstream complaints(options_.folder + "/complaints");
      std::string complaint;
      std::getline(complaints, complaint);
      return Status(Code::closed, fmt::format("the server does not come up: {}{}",
                                              link.status().message(), "; " + complaint));
    }
    (void)loop_.run_for(connect_look_ns);
  }
  return {};
}

// The server listens for natives before it does for these.
Status KillLives::connect_redis() {
  const std::uint64_t give_up_ns = loop_.after(options_.patience_ns);
  while (redis_.size() < options_.redis_clients) {
    Result<std::unique_ptr<RespLink>> link = RespLink::connect(loop_, redis_port_);
    if (link.ok()) {
      redis_.push_back(std::move(link).value());
    } else if (server_->ended() || loop_.now_ns() > give_up_ns) {
      return link.status();
    } else {
      (void)loop_.run_for(connect_look_ns);
    }
  }
  return {};
}

Status KillLives::start_and_check() {
  const std::uint64_t started_ns = loop_.now_ns();
  REMORA_TRY(start_server());
  REMORA_TRY(connect_all());
  REMORA_TRY(connect_redis());
  restart_ns_ = loop_.now_ns() - started_ns;
  REMORA_TRY(check_size());
  return loop_.block_on(check_all());
}

// --- The pool grows ---

// What was acknowledged as larger is so for good; what was not may be.
Status KillLives::check_size() {
  if (options_.grow_bytes == 0) {
    return {};
  }
  REMORA_TRY_RESULT(facts, loop_.block_on(clients_.front().link->stat()));
  pool_bytes_ = std::stoull(find_fact(*facts, "pool_bytes").value_or("0"));
  return pool_bytes_ >= grown_bytes_
             ? Status()
             : Status(Code::damaged,
                      fmt::format("the pool has {} bytes, and its growth to {} was acknowledged",
                                  pool_bytes_, grown_bytes_));
}

Task<void> KillLives::grow() {
  link::StoreLink& link = *clients_.front().link;
  const std::uint64_t to_bytes = pool_bytes_ + options_.grow_bytes;
  Result<Facts> facts = co_await link.grow(to_bytes);
  life_.was_growing = facts.ok();
  while (facts.ok() && find_fact(*facts, "pool_growing_to") != "0") {
    facts = co_await link.stat();
  }
  if (facts.ok()) {
    life_.was_growing = false;
    life_.has_grown = find_fact(*facts, "pool_growth_failure") == "none";
    grown_bytes_ = life_.has_grown ? to_bytes : grown_bytes_;
    if (!life_.has_grown) {
      wrong(Status(Code::io_error, "the pool cannot grow: " +
                                       find_fact(*facts, "pool_growth_failure").value_or("")));
    }
  } else if (!killed_ && facts.code() != Code::unsupported) {  // it was grown too often
    wrong(facts.status());
  }
}

// --- What it holds ---

// None: there is no such key.
Task<Status> KillLives::fetch(Way way, const Key& key, std::optional<std::string>& value) {
  if (way.redis != nullptr) {
    std::string request = RespLink::encode({"GET", key.name});
    REMORA_CO_TRY_RESULT(reply, co_await way.redis->ask(std::move(request)));
    value = std::move(reply).value();
    co_return Status();
  }
  std::string bytes(options_.longest_value_bytes + 100, '\0');
  const Result<std::size_t> size =
      co_await way.store->get(as_bytes(key.name), std::as_writable_bytes(std::span(bytes)));
  if (size.code() == Code::not_found) {
    value.reset();
    co_return Status();
  }
  REMORA_CO_TRY(size.status());
  bytes.resize(*size);
  value = std::move(bytes);
  co_return Status();
}

Task<Result<std::optional<std::uint64_t>>> KillLives::read(Way way, const Key& key) {
  std::optional<std::string> value;
  REMORA_CO_TRY(co_await fetch(way, key, value));
  if (!value) {
    co_return std::optional<std::uint64_t>(0);
  }
  const std::optional<std::uint64_t> version = stamp_of(key.name, *value);
  if (!version) {
    co_return Status(Code::damaged, fmt::format("{} has a torn value, or another key's", key.name));
  }
  co_return version;
}

Task<Status> KillLives::check_all() {
  const Way way = {.store = &clients_.front().link->store()};
  for (const std::unique_ptr<Key>& key : keys_) {
    REMORA_CO_TRY_RESULT(found, co_await read(way, *key));
    REMORA_CO_TRY(judge(*key, **found));
    Step base;
    base.version = **found;
    base.acknowledged = true;  // a get has returned it
    base.persistent = true;
    key->steps = {base};
    ++keys_checked_;
  }
  co_return Status();
}

// The steps are in order, since one flow made them one after the other: what is there must be what
// one of them left, and none that was acknowledged may come after that one.
Status KillLives::judge(const Key& key, std::uint64_t found) {
  std::size_t at = key.steps.size();
  while (at != 0 && key.steps[at - 1].version != found) {
    --at;
  }
  if (at == 0) {
    return Status(Code::damaged, fmt::format("{} has version {}, which was overwritten, or never "
                                             "put",
                                             key.name, found));
  }
  for (std::size_t later = at; later < key.steps.size(); ++later) {
    if (key.steps[later].acknowledged) {
      return Status(Code::damaged,
                    fmt::format("{} has lost version {}, which was acknowledged as {}; it has {}",
                                key.name, key.steps[later].version,
                                key.steps[later].persistent ? "persistent" : "visible", found));
    }
  }
  return {};
}

// --- The load ---

Result<LifeReport> KillLives::live_and_kill() {
  life_ = {};
  killed_ = false;
  kill_at_ = options_.shortest_life_ops +
             random_.below(options_.longest_life_ops - options_.shortest_life_ops + 1);
  // Now and then there is not enough time for it, and now and then some.
  grow_at_ = options_.grow_bytes == 0
                 ? ~std::uint64_t{0}
                 : kill_at_ - std::min(kill_at_, random_.below(1 + random_.below(kill_at_)));
  std::vector<Task<void>> flows;
  std::size_t next = 0;
  const auto begin = [&](Way way) {
    std::vector<Key*> own;
    for (std::uint32_t k = 0; k < options_.keys_per_flow; ++k) {
      own.push_back(keys_[next++].get());
    }
    flows.push_back(flow(way, std::move(own), random_.next()));
  };
  for (std::uint32_t client = 0; client < options_.clients; ++client) {
    for (std::uint32_t i = 0; i < options_.flows_per_client; ++i) {
      begin({.store = &clients_[client].link->store()});
    }
  }
  for (const std::unique_ptr<RespLink>& link : redis_) {
    begin({.redis = link.get()});
  }
  for (Task<void>& one : flows) {
    (void)loop_.run_until(one);
    one.take();
  }
  server_->wait();
  if (growing_) {
    (void)loop_.run_until(*growing_);
    growing_.reset();
  }
  clients_.clear();
  redis_.clear();
  server_.reset();
  if (!wrong_.ok()) {
    return wrong_;
  }
  return life_;
}

Task<void> KillLives::flow(Way way, std::vector<Key*> keys, std::uint64_t seed) {
  Random random(seed);
  bool goes_on = true;
  while (wrong_.ok() && goes_on) {
    goes_on = co_await step(way, *keys[random.below(keys.size())], random);
  }
  // Whatever went wrong: the life is over.
  server_->kill();
}

Task<Status> KillLives::change(Way way, Key& key, Step step, std::string value) {
  key.steps.push_back(step);
  if (way.redis != nullptr) {
    std::string request = step.version == 0 ? RespLink::encode({"DEL", key.name})
                                            : RespLink::encode({"SET", key.name, value});
    const Result<std::optional<std::string>> reply = co_await way.redis->ask(std::move(request));
    key.steps.back().acknowledged = reply.ok();
    co_return reply.ok() ? Status() : reply.status();
  }
  kv::PutOptions put;
  put.durability = step.persistent ? kv::Durability::persistent : kv::Durability::standard;
  Status status;
  if (step.version == 0) {
    status = co_await way.store->del(as_bytes(key.name));
  } else {
    status = co_await way.store->put(as_bytes(key.name), as_bytes(value), put);
  }
  key.steps.back().acknowledged = status.ok();
  co_return status;
}

// Whether the flow goes on. A put that took too long may or may not have happened, and ends
// nothing.
Task<bool> KillLives::step(Way way, Key& key, Random& random) {
  const std::uint64_t dice = random.below(100);
  Step step;
  Status status;
  if (dice < 20) {
    const Result<std::optional<std::uint64_t>> found = co_await read(way, key);
    status = found.ok() ? judge(key, **found) : found.status();
  } else if (dice < 30) {
    step.persistent = true;  // a del always is
    status = co_await change(way, key, step, "");
  } else {
    step.version = ++key.versions;
    step.persistent = dice < 60 || way.redis != nullptr;
    std::string value =
        stamped_value(key.name, step.version, 40 + random.below(options_.longest_value_bytes - 40));
    status = co_await change(way, key, step, std::move(value));
  }
  if (status.code() == Code::damaged) {
    wrong(status);
    co_return false;
  }
  if (status.ok()) {
    count(step);
    co_return true;
  }
  if (status.code() == Code::timed_out && way.store != nullptr && way.store->failure().ok()) {
    co_return true;
  }
  if (!killed_) {
    wrong(Status(status.code(),
                 fmt::format("before the kill: {}{}", status.message(),
                             server_->ended() ? "; the server has ended by itself" : "")));
  }
  ++life_.in_flight;
  co_return false;
}

// The kill comes while the operations of all other flows are under way.
void KillLives::count(const Step& step) {
  ++life_.acknowledged;
  life_.acknowledged_persistent += step.persistent ? 1u : 0u;
  if (!killed_ && !growing_ && life_.acknowledged >= grow_at_) {
    growing_.emplace(grow());
  }
  if (!killed_ && life_.acknowledged >= kill_at_) {
    killed_ = true;
    server_->kill();
  }
}

void KillLives::wrong(Status status) {
  if (wrong_.ok()) {
    wrong_ = std::move(status);
  }
}

Status KillLives::stop() {
  clients_.clear();
  redis_.clear();
  server_->ask_to_stop();
  const int status = server_->wait();
  server_.reset();
  return status == 0 ? Status()
                     : Status(Code::io_error, fmt::format("the server ended with {}", status));
}

}  // namespace remora::lab
