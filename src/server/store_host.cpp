#include "server/store_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace remora::server {

using fabric::nic::HostPeer;
using fabric::nic::Keys;
using fabric::nic::LinkId;
using fabric::nic::Nic;

StoreHost::StoreHost(Runtime& runtime, const StoreHostOptions& options, const kv::Engine& engine)
    : runtime_(runtime), options_(options), engine_(&engine) {}

StoreHost::~StoreHost() = default;

Result<std::unique_ptr<StoreHost>> StoreHost::open(Runtime& runtime,
                                                   const StoreHostOptions& options) {
  const Result<const kv::Engine*> engine = kv::find_engine(options.engine);
  if (!engine.ok()) {
    return engine.status();
  }
  std::unique_ptr<StoreHost> host(new StoreHost(runtime, options, **engine));
  REMORA_TRY(host->open_pool());
  REMORA_TRY(host->start());
  return host;
}

Status StoreHost::open_pool() {
  if (options_.pool_path.empty()) {
    Result<std::unique_ptr<Region>> memory = make_dram(options_.pool_bytes);
    if (!memory.ok()) {
      return memory.status();
    }
    memory_ = std::move(memory).value();
    Result<std::unique_ptr<Pool>> pool = Pool::create(*memory_, {});
    if (!pool.ok()) {
      return pool.status();
    }
    memory_pool_ = std::move(pool).value();
    return {};
  }
  Result<PoolFile> file =
      std::filesystem::exists(options_.pool_path)
          ? PoolFile::open(options_.pool_path, options_.media)
          : PoolFile::create(options_.pool_path, options_.pool_bytes, options_.media);
  if (!file.ok()) {
    return file.status();
  }
  file_ = std::make_unique<PoolFile>(std::move(file).value());
  return {};
}

Status StoreHost::start() {
  Result<LocalWire> wire = LocalWire::create(
      runtime_, this, options_.fabric,
      {.max_links = std::min(options_.server.most_clients, fabric::nic::ring_limits::links_max)});
  if (!wire.ok()) {
    return wire.status();
  }
  wire_ = std::make_unique<LocalWire>(std::move(wire).value());
  nic_ = std::make_unique<Nic>(runtime_, wire_->wire(), dma_,
                               fabric::nic::NicOptions{.keys = Keys::from_system()});
  kv::ServerOptions server = options_.server;
  server.create = pool().root_names().empty();
  Result<std::unique_ptr<kv::StoreServer>> store =
      engine_->start_server(Host(runtime_, *nic_, &region()), pool(), server);
  if (!store.ok()) {
    return store.status();
  }
  store_ = std::move(store).value();
  return wire_->wire().listen(options_.socket_path);
}

// --- Clients come and go ---

void StoreHost::link_up(LinkId link, const HostPeer&) {
  guests_[link] = {.joined = false, .came_ns = runtime_.now_ns()};
  if (!porter_.armed()) {
    runtime_.arm(porter_, runtime_.after(options_.join_timeout_ns));
  }
}

void StoreHost::link_down(LinkId link) {
  guests_.erase(link);
}

void StoreHost::control(LinkId link, ConstBytes bytes) {
  const Result<SessionMessage> message = decode(bytes);
  if (!message.ok() && message.code() != Code::unsupported) {
    wire_->wire().cut_off(link);
    return;
  }
  Result<SessionMessage> reply =
      message.ok() ? answer(link, *message) : Result<SessionMessage>(message.status());
  const SessionMessage sent =
      reply.ok() ? std::move(reply).value()
                 : SessionMessage{.kind = SessionKind::refusal, .reason = reply.status()};
  if (!wire_->wire().send_control(link, encode(sent)).ok()) {
    wire_->wire().cut_off(link);  // it reads none of its answers
  }
}

Result<SessionMessage> StoreHost::answer(LinkId link, const SessionMessage& message) {
  switch (message.kind) {
    case SessionKind::ask:
      return SessionMessage{.kind = SessionKind::offer, .engine = std::string(engine_->name())};
    case SessionKind::join:
      return join(link, message);
    default:
      return Status(Code::invalid_argument, "a client asks or joins, and says nothing else");
  }
}

Result<SessionMessage> StoreHost::join(LinkId link, const SessionMessage& message) {
  const auto guest = guests_.find(link);
  if (guest == guests_.end() || guest->second.joined) {
    return Status(Code::in_use, "a link is joined once; connect anew for another client");
  }
  if (message.engine != engine_->name()) {
    return Status(Code::invalid_argument, fmt::format("this store's engine is {}, not \"{}\"",
                                                      engine_->name(), message.engine));
  }
  // Nobody joins in the name of another link.
  if (wire_->wire().link_to(message.queue_pair.gid) != link) {
    return Status(Code::invalid_argument, "the queue pair is not one of this link's device");
  }
  const Result<kv::PeerAddress> address = store_->accept({message.queue_pair});
  if (!address.ok()) {
    return address.status();
  }
  guest->second.joined = true;
  return SessionMessage{.kind = SessionKind::welcome, .queue_pair = address->queue_pair};
}

void StoreHost::cut_off_the_silent() {
  std::vector<LinkId> silent;
  bool some_wait = false;
  for (const auto& [link, guest] : guests_) {
    if (guest.joined) {
      continue;
    }
    if (runtime_.now_ns() - guest.came_ns >= options_.join_timeout_ns) {
      silent.push_back(link);
    } else {
      some_wait = true;
    }
  }
  for (const LinkId link : silent) {
    wire_->wire().cut_off(link);
  }
  if (some_wait) {
    runtime_.arm(porter_, runtime_.after(options_.join_timeout_ns));
  }
}

}  // namespace remora::server
