#include "server/store_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <ranges>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "pmem/dax_region.h"

namespace remora::server {
namespace {

// Nobody waits longer than this for the pages of a store in memory; the rest are found by the puts
// that come to them first, for half as much again as a small one costs.
constexpr std::chrono::milliseconds longest_touch{500};
// Memory that nobody may ever use is not taken without end.
constexpr std::size_t most_touched_bytes = std::size_t{256} << 20;

}  // namespace

using fabric::nic::HostPeer;
using fabric::nic::Keys;
using fabric::nic::LinkId;
using fabric::nic::Nic;

StoreHost::StoreHost(Runtime& runtime, const StoreHostOptions& options, const kv::Engine& engine)
    : runtime_(runtime),
      options_(options),
      access_(options.access),
      engine_(&engine),
      own_uid_(::geteuid()),
      opened_ns_(runtime.now_ns()) {}

// The store last: other services may stand on it.
StoreHost::~StoreHost() {
  growth_.reset();
  while (!services_.empty()) {
    services_.pop_back();
  }
}

Result<std::unique_ptr<StoreHost>> StoreHost::open(Runtime& runtime,
                                                   const StoreHostOptions& options) {
  REMORA_TRY_RESULT(engine, kv::find_engine(options.engine));
  std::unique_ptr<StoreHost> host(new StoreHost(runtime, options, **engine));
  REMORA_TRY(host->open_pool());
  if (const Status status = host->start(); !status.ok()) {
    host->undo_pool();
    return status;
  }
  return host;
}

// It is removed while it is locked: nobody else has opened it.
void StoreHost::undo_pool() {
  if (made_file_ && !file_->file().is_device()) {
    (void)::unlink(options_.pool_path.c_str());
  }
}

Status StoreHost::finish() {
  for (const std::unique_ptr<PoolService>& service : std::views::reverse(services_)) {
    REMORA_TRY(service->finish());
  }
  return pool().close();
}

bool StoreHost::busy() const {
  return growing_to() != 0 ||
         std::ranges::any_of(services_, [](const auto& service) { return service->busy(); });
}

std::size_t StoreHost::clients() const {
  std::size_t clients = 0;
  for (const std::unique_ptr<PoolService>& service : services_) {
    clients += service->clients();
  }
  return clients;
}

Result<PoolService*> StoreHost::find_service(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const std::unique_ptr<PoolService>& service : services_) {
    if (service->name() == name) {
      return service.get();
    }
    names.push_back(service->name());
  }
  return Status(Code::not_found, fmt::format("this server has no service \"{}\"; it has: {}", name,
                                             fmt::join(names, ", ")));
}

Status StoreHost::open_pool() {
  if (options_.pool_path.empty()) {
    REMORA_TRY_RESULT(memory, make_dram(options_.pool_bytes));
    memory_ = std::move(memory).value();
    touch_pages(memory_->bytes().first(std::min(memory_->size(), most_touched_bytes)),
                longest_touch);
    REMORA_TRY_RESULT(pool, Pool::create(*memory_, {}));
    memory_pool_ = std::move(pool).value();
    return {};
  }
  std::error_code unknown;  // `create` then tells what is wrong
  const bool is_there = std::filesystem::exists(options_.pool_path, unknown) &&
                        !PoolFile::is_blank_device(options_.pool_path);
  REMORA_TRY_RESULT(
      file, is_there ? PoolFile::open(options_.pool_path, options_.media)
                     : PoolFile::create(options_.pool_path, options_.pool_bytes, options_.media));
  file_ = std::make_unique<PoolFile>(std::move(file).value());
  made_file_ = !is_there;
  return {};
}

Result<link::Wires> StoreHost::make_wire() {
  const std::uint32_t max_links =
      std::min(options_.server.most_clients, fabric::nic::ring::limits::links_max);
  if (!options_.listen) {
    return link::Wires::create(runtime_, this, options_.fabric, {.max_links = max_links});
  }
  const fabric::nic::roce::RoceNetOptions net{.max_links = max_links + options_.strangers,
                                              .tls = options_.tls};
  return options_.socket_path.empty()
             ? link::Wires::listen_at(runtime_, *this, *options_.listen, net)
             : link::Wires::create_both(runtime_, *this, options_.fabric, max_links,
                                        *options_.listen, net);
}

Status StoreHost::start() {
  REMORA_TRY_RESULT(wire, make_wire());
  wire_ = std::make_unique<link::Wires>(std::move(wire).value());
  nic_ = std::make_unique<Nic>(runtime_, wire_->device_wire(), dma_,
                               fabric::nic::NicOptions{.keys = Keys::from_system()});
  if (options_.verbs) {
    REMORA_TRY_RESULT(opened, fabric::verbs::VerbsDevice::open(*options_.verbs));
    (*opened)->wake(runtime_);
    rdma_ = std::move(opened).value();
  }
  kv::ServerOptions server = options_.server;
  if (options_.listen) {
    server.connect = link::network_connect;  // as patient with the clients of this machine
    server.may_stand_still = false;
  }
  if (rdma_) {
    server.connect = link::rdma_connect;
    server.may_stand_still = false;
  }
  recovered_ = !pool().root_names(Account::store).empty();
  server.create = !recovered_;
  if (options_.threads > 1) {
    worker_ = std::make_unique<Worker>(runtime_);
  }
  REMORA_TRY_RESULT(store, engine_->start_server(handed(), pool(), server));
  auto service = std::make_unique<StoreService>(*engine_, std::move(store).value());
  store_ = service.get();
  services_.push_back(std::move(service));
  if (file_) {
    growth_ = std::make_unique<PoolGrowth>(runtime_, *file_, store_->store());
  }
  if (options_.listen && options_.socket_path.empty()) {
    return {};
  }
  // Who may come is judged by `admit`; the file's mode keeps out whom nobody would let in.
  return wire_->wire().listen(options_.socket_path, socket_mode());
}

Status StoreHost::grow(std::uint64_t size_bytes) {
  return growth_
             ? growth_->begin(size_bytes)
             : Status(Code::unsupported,
                      "this store is in memory, as large as it was made; start it with a larger "
                      "--size");
}

Status StoreHost::grow(std::string_view request) {
  std::uint64_t size_bytes = 0;
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::istringstream words{std::string(request)};
  if (!(words >> size_bytes)) {
    return Status(Code::invalid_argument, "a growth names the size that the pool is to have");
  }
  struct stat own {};
  if (growth_ && words >> device >> number &&
      (fstat(file_->file().descriptor(), &own) != 0 || own.st_dev != device ||
       own.st_ino != number)) {
    return Status(Code::invalid_argument,
                  fmt::format("this server serves another pool, {}", options_.pool_path));
  }
  return grow(size_bytes);
}

void StoreHost::change_access(const link::AccessRules& rules) {
  access_ = rules;
  if (!options_.socket_path.empty()) {
    (void)::chmod(options_.socket_path.c_str(), socket_mode());
  }
}

void StoreHost::close_doors() {
  closed_ = true;
  std::vector<LinkId> links;
  for (const auto& [link, guest] : guests_) {
    links.push_back(link);
  }
  for (const LinkId link : links) {
    wire_->cut_off(link);
  }
}

// --- Clients come and go ---

// With tokens nobody can be turned away by the user alone.
Status StoreHost::admit(const HostPeer& peer) {
  const uid_t uid = peer.identity.uid;
  if (closed_) {
    return Status(Code::closed, "the store is about to stop; try again later");
  }
  const bool from_network = uid == fabric::nic::roce::no_user;
  if (from_network && access_.tokens.empty()) {
    return Status(Code::permission_denied,
                  "this store lets nobody in from the network: its settings have no "
                  "[access.tokens]");
  }
  if (uid == own_uid_) {
    return {};
  }
  if (from_network) {
    return admit_stranger(peer);
  }
  if (access_.tokens.empty()) {
    REMORA_TRY(link::role_of(access_, uid, own_uid_, "").status());
  }
  REMORA_TRY(find_place());
  const auto same_user = [&](const auto& guest) { return guest.second.uid == uid; };
  const std::uint32_t most = access_.clients_per_user;
  if (std::ranges::count_if(guests_, same_user) >= most) {
    return Status(Code::no_space, fmt::format("user {} has reached the limit of connections in the "
                                              "store's settings ({}); close one first",
                                              uid, most));
  }
  return {};
}

Status StoreHost::find_place() const {
  const auto is_other = [&](const auto& guest) {
    return guest.second.uid != own_uid_ && guest.second.has_place();
  };
  return std::ranges::count_if(guests_, is_other) <
                 link::places_for_others(options_.server.most_clients)
             ? Status()
             : Status(Code::no_space,
                      "the store has reached its limit of clients of other users; try again later");
}

// It takes no place before it has shown its token. Those who only wait are few of each address, and
// who has waited longest makes way for one that comes.
Status StoreHost::admit_stranger(const HostPeer& peer) {
  std::uint32_t waiting = 0;
  std::uint32_t of_address = 0;
  auto oldest = guests_.end();
  for (auto guest = guests_.begin(); guest != guests_.end(); ++guest) {
    if (guest->second.has_place()) {
      continue;
    }
    ++waiting;
    of_address += guest->second.address == peer.from ? 1u : 0u;
    if (oldest == guests_.end() || guest->second.give_up_ns < oldest->second.give_up_ns) {
      oldest = guest;
    }
  }
  if (of_address >= options_.strangers_of_address) {
    return Status(Code::no_space,
                  "too many peers of this address have connected and not joined; try again later");
  }
  if (waiting >= options_.strangers) {
    wire_->cut_off(oldest->first);
  }
  return {};
}

void StoreHost::link_up(LinkId link, const HostPeer& peer) {
  ++links_total_;
  const bool from_network = wire_->is_network(link);
  const std::uint64_t give_up_ns =
      runtime_.after(from_network ? options_.stranger_timeout_ns : options_.join_timeout_ns);
  guests_[link] = {.from_network = from_network,
                   .give_up_ns = give_up_ns,
                   .uid = peer.identity.uid,
                   .address = peer.from};
  porter_.disarm();
  cut_off_the_silent();
}

void StoreHost::link_down(LinkId link) {
  guests_.erase(link);
}

void StoreHost::control(LinkId link, ConstBytes bytes) {
  const Result<link::SessionMessage> message = link::decode(bytes);
  if (!message.ok() && message.code() != Code::unsupported) {
    wire_->cut_off(link);
    return;
  }
  Result<link::SessionMessage> reply =
      message.ok() ? answer(link, *message) : Result<link::SessionMessage>(message.status());
  refusals_total_ += reply.ok() ? 0u : 1u;
  const link::SessionMessage sent =
      reply.ok()
          ? std::move(reply).value()
          : link::SessionMessage{.kind = link::SessionKind::refusal, .reason = reply.status()};
  if (!wire_->send_control(link, link::encode(sent)).ok()) {
    wire_->cut_off(link);  // it reads none of its answers
  }
}

Result<link::SessionMessage> StoreHost::answer(LinkId link, const link::SessionMessage& message) {
  switch (message.kind) {
    case link::SessionKind::ask:
      return offer(link, message);
    case link::SessionKind::join:
      return join(link, message);
    case link::SessionKind::stat:
    case link::SessionKind::scrub:
    case link::SessionKind::grow:
    case link::SessionKind::stop: {
      REMORA_TRY_RESULT(allowed, standing(link, message));
      if (message.kind != link::SessionKind::stat && allowed->role != link::Role::admin) {
        return Status(Code::permission_denied,
                      message.kind == link::SessionKind::stop
                          ? "only a client of the role admin stops the store"
                      : message.kind == link::SessionKind::grow
                          ? "only a client of the role admin makes the pool larger"
                          : "only a client of the role admin has the store verified");
      }
      if (message.kind == link::SessionKind::grow) {
        REMORA_TRY(grow(message.text));
      }
      if (message.kind == link::SessionKind::scrub) {
        const std::string before = link::to_text(facts());
        const Status begun = store().scrub();
        return begun.ok() ? Result<link::SessionMessage>(link::SessionMessage{
                                .kind = link::SessionKind::facts, .facts = before})
                          : begun;
      }
      if (message.kind == link::SessionKind::stop) {
        stop_wanted_ = true;
        stopper_ = link;
      }
      return link::SessionMessage{.kind = link::SessionKind::facts,
                                  .facts = link::to_text(facts())};
    }
    default:
      return Status(Code::invalid_argument,
                    "a client asks, joins, or asks how it goes, to scrub, to grow or to stop");
  }
}

// The nonces of a link are those of its first question.
Result<link::SessionMessage> StoreHost::offer(LinkId link, const link::SessionMessage& ask) {
  REMORA_TRY_RESULT(service, find_service(ask.service));
  link::SessionMessage offer{.kind = link::SessionKind::offer,
                             .service = ask.service,
                             .design = std::string((*service)->design()),
                             .text = rdma_ ? std::string(link::offers_verbs) : ""};
  if (const auto guest = guests_.find(link); guest != guests_.end()) {
    std::optional<link::ProofTalk>& talk = guest->second.talk;
    if (!talk) {
      talk = {.client = ask.nonce, .host = link::fresh_nonce()};
    }
    offer.nonce = talk->host;
  }
  return offer;
}

Result<StoreHost::Standing> StoreHost::standing(LinkId link, const link::SessionMessage& message) {
  const auto guest = guests_.find(link);
  if (guest == guests_.end()) {
    return Status(Code::closed, "the link is gone");
  }
  if (message.proof != link::SessionProof{}) {
    return standing_by_token(guest->second, message);
  }
  const std::optional<uid_t> uid =
      wire_->is_network(link) ? std::nullopt : std::optional(guest->second.uid);
  const Result<link::Role> role = link::role_of(access_, uid, own_uid_, "");
  return role.ok() ? Result<Standing>(Standing{.role = *role}) : role.status();
}

Result<StoreHost::Standing> StoreHost::standing_by_token(Guest& guest,
                                                         const link::SessionMessage& message) {
  if (!guest.talk) {
    return Status(Code::invalid_argument, "a client asks before it proves that it knows a token");
  }
  const std::string who = guest.from_network ? fabric::nic::roce::address_text(guest.address)
                                             : fmt::format("user {}", guest.uid);
  if (wrong_tries_.must_wait(who, runtime_.now_ns())) {
    return Status(Code::permission_denied,
                  fmt::format("too many wrong tokens from {}; wait a minute", who));
  }
  const std::uint32_t number = guest.proofs++;
  const link::TokenRule* known = nullptr;
  for (const link::TokenRule& rule : access_.tokens) {
    known = link::is_proven(rule.token, link::ProofSide::client, *guest.talk, number, message)
                ? &rule
                : known;
  }
  if (known == nullptr) {
    wrong_tries_.add(who, runtime_.now_ns());
    return Status(Code::permission_denied, "the store knows no such token");
  }
  return Standing{.role = known->role, .by = known};
}

Result<link::SessionMessage> StoreHost::join(LinkId link, const link::SessionMessage& message) {
  const auto guest = guests_.find(link);
  if (guest == guests_.end() || guest->second.joined) {
    return Status(Code::in_use,
                  "this link has joined already; open another connection for another client");
  }
  REMORA_TRY_RESULT(service, find_service(message.service));
  if (message.design != (*service)->design()) {
    return Status(Code::invalid_argument,
                  fmt::format("{} serves the {} here, not \"{}\"", (*service)->design(),
                              message.service, message.design));
  }
  // Nobody joins in the name of another link.
  const bool soft = wire_->device_wire().link_to(message.queue_pair.gid) == link;
  if (rdma_ && soft) {
    return Status(Code::invalid_argument,
                  "this store is reached through an RDMA device, as its offer says");
  }
  if (!rdma_ && !soft) {
    return Status(Code::invalid_argument, "the queue pair is not one of this link's device");
  }
  REMORA_TRY_RESULT(given, standing(link, message));
  if (!guest->second.has_place()) {
    REMORA_TRY(find_place());
  }
  REMORA_TRY_RESULT(address, (*service)->accept(message.queue_pair, given->role));
  guest->second.joined = true;
  link::SessionMessage welcome{.kind = link::SessionKind::welcome,
                               .queue_pair = *address,
                               .text = std::string(to_string(given->role))};
  if (given->by != nullptr) {
    welcome.proof =
        link::prove(given->by->token, link::ProofSide::host, *guest->second.talk, 0, welcome);
  }
  return welcome;
}

StoreHost::ClientsByWire StoreHost::clients_by_wire() const {
  const std::size_t joined = clients();
  if (rdma_) {
    return {.verbs = joined};
  }
  const auto from_network =
      static_cast<std::size_t>(std::ranges::count_if(guests_, [this](const auto& guest) {
        return guest.second.joined && wire_->is_network(guest.first);
      }));
  ClientsByWire by_wire;
  by_wire.roce = std::min(from_network, joined);
  by_wire.mapped = std::min(wire_->mapped_peers(), joined - by_wire.roce);
  by_wire.ring = joined - by_wire.roce - by_wire.mapped;
  return by_wire;
}

void StoreHost::cut_off_the_silent() {
  std::vector<LinkId> silent;
  std::uint64_t next_ns = never_ns;
  for (const auto& [link, guest] : guests_) {
    if (guest.joined) {
      continue;
    }
    if (runtime_.now_ns() >= guest.give_up_ns) {
      silent.push_back(link);
    } else {
      next_ns = std::min(next_ns, guest.give_up_ns);
    }
  }
  for (const LinkId link : silent) {
    wire_->cut_off(link);
  }
  if (next_ns != never_ns) {
    runtime_.arm(porter_, next_ns);
  }
}

}  // namespace remora::server
