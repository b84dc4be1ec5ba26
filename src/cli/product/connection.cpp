#include "cli/product/connection.h"

#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <utility>

#include "base/bytes.h"
#include "kv/limits.h"
#include "server/settings.h"

namespace remora::cli {
namespace {

constexpr std::size_t usual_buffer_bytes = 1 << 20;
constexpr std::size_t largest_buffer_bytes = 2 * kv::limits::value_bytes;
constexpr std::size_t keys_per_scan = 64;

Result<std::string> token_of(const std::string& text) {
  if (!text.starts_with('@')) {
    return text;
  }
  std::ifstream file(text.substr(1));
  std::string token;
  if (!std::getline(file, token)) {
    return Status(Code::invalid_argument, "cannot read a token from " + text.substr(1));
  }
  return token;
}

// Of HOST, HOST:PORT, an address of IPv6, or [ADDRESS]:PORT.
std::string host_of(const std::string& server) {
  if (server.starts_with('[')) {
    return server.substr(1, server.find(']') - 1);
  }
  const std::size_t colon = server.find(':');
  return colon == server.rfind(':') ? server.substr(0, colon) : server;
}

class CollectingSink final : public kv::ScanSink {
 public:
  void key(ConstBytes key) override { keys.emplace_back(as_text(key)); }
  std::vector<std::string> keys;
};

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const ConnectArguments& arguments) {
  ConnectArguments complete = arguments;
  if (complete.socket.empty()) {
    complete.socket = server::default_socket();
  }
  Result<std::string> token = token_of(complete.token);
  if (!token.ok()) {
    return token.status();
  }
  complete.token = std::move(token).value();
  std::unique_ptr<Connection> connection(new Connection(std::move(complete)));
  REMORA_TRY(connection->connect(usual_buffer_bytes));
  return connection;
}

Status Connection::connect(std::size_t buffer_bytes) {
  server::StoreLinkOptions options;
  options.client.buffer_bytes = buffer_bytes;
  options.client.timeout_ns = 10'000'000'000;
  options.token = arguments_.token;
  if (arguments_.fabric == "roce") {
    if (arguments_.server.empty()) {
      return Status(Code::invalid_argument,
                    "--fabric roce goes with --server HOST[:PORT], where the store listens");
    }
    options.fabric = server::LocalFabric::roce;
  } else if (!arguments_.fabric.empty()) {
    options.verbs = fabric::verbs::parse_wire(arguments_.fabric);
    if (!options.verbs) {
      return Status(Code::invalid_argument,
                    "unknown fabric '" + arguments_.fabric + "'; choose roce or verbs[:DEVICE]");
    }
  }
  if (!arguments_.tls_ca.empty()) {
    if (arguments_.server.empty()) {
      return Status(Code::invalid_argument,
                    "--tls-ca goes with --server HOST[:PORT]; a socket of this machine needs none");
    }
    Result<std::shared_ptr<TlsContext>> tls = TlsContext::client(arguments_.tls_ca);
    if (!tls.ok()) {
      return tls.status();
    }
    options.tls = std::move(tls).value();
    options.tls_host = host_of(arguments_.server);
  }
  if (!arguments_.server.empty()) {
    Result<fabric::nic::IpEndpoint> endpoint = fabric::nic::look_up(arguments_.server);
    if (!endpoint.ok()) {
      return endpoint.status();
    }
    options.network = *endpoint;
  }
  Result<std::unique_ptr<server::StoreLink>> link =
      loop_.block_on(server::StoreLink::connect(loop_, arguments_.socket, std::move(options)));
  if (link.code() == Code::not_found && !arguments_.server.empty()) {
    return Status(Code::unsupported,
                  fmt::format("no store listens at {}; start one there with `remora serve --listen "
                              "ADDRESS:PORT`",
                              arguments_.server));
  }
  if (link.code() == Code::not_found) {
    return Status(Code::unsupported,
                  fmt::format("no store listens at {}; start one with ./run or `remora serve`, or "
                              "name its socket with --socket",
                              arguments_.socket));
  }
  if (!link.ok()) {
    return link.status();
  }
  link_ = std::move(link).value();
  buffer_bytes_ = buffer_bytes;
  return {};
}

Result<bool> Connection::freshen() {
  constexpr std::uint64_t hearing_ns = 200'000;
  if (link_) {
    (void)loop_.run_for(hearing_ns);
  }
  if (link_ && link_->store().failure().ok()) {
    return false;
  }
  link_.reset();
  REMORA_TRY(connect(usual_buffer_bytes));
  return true;
}

Status Connection::make_room(std::size_t value_bytes) {
  if (value_bytes <= buffer_bytes_ / 2) {
    return {};
  }
  link_.reset();
  return connect(std::bit_ceil(2 * value_bytes));
}

Status Connection::put(std::string_view key, std::string_view value, bool persistent) {
  if (value.size() <= kv::limits::value_bytes) {
    REMORA_TRY(make_room(value.size()));
  }
  const kv::PutOptions options{persistent ? kv::Durability::persistent : kv::Durability::standard};
  return loop_.block_on(link_->store().put(as_bytes(key), as_bytes(value), options));
}

Result<std::string> Connection::get(std::string_view key) {
  for (;;) {
    const std::size_t most = buffer_bytes_ / 2;
    std::string value(most, '\0');
    const Result<std::size_t> size =
        loop_.block_on(link_->store().get(as_bytes(key), std::as_writable_bytes(std::span(value))));
    if (size.ok()) {
      value.resize(*size);
      return value;
    }
    if (size.code() != Code::no_space || buffer_bytes_ >= largest_buffer_bytes) {
      return size.status();
    }
    REMORA_TRY(make_room(kv::limits::value_bytes));
  }
}

Status Connection::del(std::string_view key) {
  return loop_.block_on(link_->store().del(as_bytes(key)));
}

Status Connection::scan(const std::function<bool(std::string_view)>& visit) {
  kv::ScanCursor cursor = 0;
  do {
    CollectingSink sink;
    const Result<kv::ScanCursor> next =
        loop_.block_on(link_->store().scan(cursor, keys_per_scan, sink));
    if (!next.ok()) {
      return next.status();
    }
    for (const std::string& key : sink.keys) {
      if (!visit(key)) {
        return {};
      }
    }
    cursor = *next;
  } while (cursor != 0);
  return {};
}

Result<server::Facts> Connection::stat() {
  return loop_.block_on(link_->stat());
}

Result<server::Facts> Connection::stop() {
  return loop_.block_on(link_->stop());
}

Result<server::Facts> Connection::scrub() {
  return loop_.block_on(link_->scrub());
}

std::string Connection::wire() {
  if (const fabric::Device* rdma = link_->rdma()) {
    return rdma->attributes().wire;
  }
  return std::string(to_string(loop_.block_on(link_->wire_taken())));
}

std::string Connection::acknowledged_word(bool persistent) {
  const bool is_persistent =
      persistent || link_->engine().promise().acknowledged == Acknowledged::persistent;
  if (!is_persistent) {
    return "visible";
  }
  const Result<server::Facts> facts = stat();
  if (!facts.ok()) {
    return "visible";
  }
  switch (survives_by(*facts)) {
    case server::Survives::power_cut:
      return "persistent";
    case server::Survives::process_end:
      return "visible; this store's medium is lost in a power cut";
    case server::Survives::nothing:
      break;
  }
  return "visible; this store's memory goes with its process";
}

server::Survives survives_by(const server::Facts& facts) {
  if (server::find_fact(facts, "survives_process_end") == std::string("no")) {
    return server::Survives::nothing;
  }
  return server::find_fact(facts, "survives_power_cut") == std::string("yes")
             ? server::Survives::power_cut
             : server::Survives::process_end;
}

}  // namespace remora::cli
