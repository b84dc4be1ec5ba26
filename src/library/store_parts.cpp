#include "library/store_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "kv/limits.h"

namespace remora {
namespace {

constexpr std::size_t usual_value_bytes = 4096;
constexpr std::size_t object_head_bytes = 4096;  // what lies around a value, key included
constexpr std::uint64_t idle_ns = 100'000'000;
constexpr std::uint64_t hearing_ns = 200'000;
constexpr std::uint64_t embedded_patience_ns = 5'000'000'000;

static_assert(static_cast<int>(ErrorCode::conflict) == static_cast<int>(Code::conflict) &&
              static_cast<int>(ErrorCode::timed_out) == static_cast<int>(Code::timed_out) &&
              static_cast<int>(ErrorCode::not_found) == static_cast<int>(Code::not_found) &&
              static_cast<int>(ErrorCode::closed) == static_cast<int>(Code::closed));
static_assert(static_cast<int>(VerifyReads::never) == static_cast<int>(kv::VerifyReads::never) &&
              static_cast<int>(VerifyReads::always) == static_cast<int>(kv::VerifyReads::always));

// HOST:PORT, and no path of a socket.
bool is_on_network(const std::string& where) {
  return where.find('/') == where.npos && where.find(':') != where.npos;
}

// Of HOST:PORT or [ADDRESS]:PORT.
std::string host_of(const std::string& server) {
  return server.starts_with('[') ? server.substr(1, server.find(']') - 1)
                                 : server.substr(0, server.find(':'));
}

Status choose_fabric(link::StoreLinkOptions& link, const std::string& fabric, bool on_network) {
  if (fabric.empty()) {
    return {};
  }
  if (fabric == "roce") {
    link.fabric = link::WireKind::roce;
    return on_network ? Status()
                      : Status(Code::invalid_argument,
                               "the fabric roce leads to another machine: name HOST:PORT, where "
                               "the store listens");
  }
  link.verbs = fabric::verbs::parse_wire(fabric);
  return link.verbs ? Status()
                    : Status(Code::invalid_argument,
                             "unknown fabric '" + fabric + "'; choose roce or verbs[:DEVICE]");
}

Status choose_tls(link::StoreLinkOptions& link, const std::string& authority,
                  const std::string& server) {
  if (authority.empty()) {
    return {};
  }
  if (server.empty()) {
    return Status(Code::invalid_argument,
                  "TLS leads to another machine, HOST:PORT; a socket of this one needs none");
  }
  Result<std::shared_ptr<TlsContext>> tls = TlsContext::client(authority);
  if (!tls.ok()) {
    return Status(tls.code() == Code::not_found ? Code::invalid_argument : tls.code(),
                  std::string(tls.status().message()));
  }
  link.tls = std::move(tls).value();
  link.tls_host = host_of(server);
  return {};
}

}  // namespace

Error error_of(const Status& status) {
  return {static_cast<ErrorCode>(status.code()), std::string(status.message())};
}

Expected<void> expected_of(const Status& status) {
  return status.ok() ? Expected<void>() : Expected<void>(error_of(status));
}

StoreParts::~StoreParts() {
  wait_all();
  link.reset();
}

StoreParts& StoreParts::of(Store& store) {
  return *store.parts_;
}

Status StoreParts::embed(const std::string& pool_path, const OpenOptions& options) {
  REMORA_TRY_RESULT(media, parse_media(options.media));
  server::StoreHostOptions host;
  host.engine = options.engine;
  host.pool_path = pool_path;
  host.media = *media;
  host.pool_bytes = options.pool_bytes;
  // Its only client is this very process, which may be kept from running for a while.
  host.server.put_timeout_ns = embedded_patience_ns;
  host.server.client_timeout_ns = embedded_patience_ns;
  REMORA_TRY_RESULT(opened, EmbeddedStore::open(loop, host));
  embedded = std::move(opened).value();
  path = embedded->socket_path();
  link_options.client.in_flight = options.in_flight;
  link_options.client.verify_reads = static_cast<kv::VerifyReads>(options.verify_reads);
  // A commit on a slow disk takes its time, and nobody but this process could be gone.
  link_options.client.timeout_ns = 60'000'000'000;
  return connect_for(options.largest_value_bytes);
}

Status StoreParts::connect(const std::string& where, const ConnectOptions& options) {
  const bool on_network = is_on_network(where);
  (on_network ? server : path) = where;
  link_options.token = options.token;
  link_options.timeout_ns = options.timeout_ns;
  link_options.client.timeout_ns = options.timeout_ns;
  link_options.client.in_flight = options.in_flight;
  link_options.client.verify_reads = static_cast<kv::VerifyReads>(options.verify_reads);
  REMORA_TRY(choose_fabric(link_options, options.fabric, on_network));
  REMORA_TRY(choose_tls(link_options, options.tls_ca, server));
  return connect_for(options.largest_value_bytes);
}

Status StoreParts::connect_for(std::size_t largest_value) {
  if (largest_value > kv::limits::value_bytes) {
    return Status(Code::invalid_argument,
                  "values have at most 16 MB; choose a smaller largest_value_bytes");
  }
  largest_value_bytes = largest_value;
  // Two values of the largest size at a time.
  link_options.client.buffer_bytes = std::bit_ceil(2 * (largest_value + object_head_bytes));
  return connect_now();
}

Status StoreParts::connect_now() {
  link.reset();
  if (!server.empty()) {
    // Every time: its address may have changed meanwhile.
    REMORA_TRY_RESULT(endpoint, fabric::nic::roce::look_up(server));
    link_options.network = *endpoint;
  }
  Result<std::unique_ptr<link::StoreLink>> made =
      loop.block_on(link::StoreLink::connect(loop, path, link_options));
  if (made.code() == Code::not_found) {
    return Status(
        Code::not_found,
        fmt::format("no store listens at {}; start one {}", server.empty() ? path : server,
                    server.empty() ? "with `remora serve`"
                                   : "there with `remora serve --listen ADDRESS:PORT`"));
  }
  REMORA_TRY(made.status());
  link = std::move(made).value();
  return {};
}

Result<bool> StoreParts::ready() {
  const std::uint64_t now_ns = loop.now_ns();
  const bool was_idle = now_ns - std::exchange(last_ns, now_ns) > idle_ns;
  if (was_idle && link) {
    (void)loop.run_for(hearing_ns);
  }
  if (link && (link->store().failure().ok() || under_way != 0)) {
    return false;
  }
  // Not `not_found`: that is said of keys.
  const Status status = connect_now();
  return status.ok() ? Result<bool>(true) : Status(Code::closed, std::string(status.message()));
}

void StoreParts::wait_all() {
  while (under_way != 0) {
    (void)loop.turn();
  }
  loop.leave();
}

Task<Status> StoreParts::read(std::string_view key, std::string& value) {
  value.resize(std::min(usual_value_bytes, largest_value_bytes));
  for (;;) {
    const Result<std::size_t> size =
        co_await link->store().get(as_bytes(key), std::as_writable_bytes(std::span(value)));
    if (size.ok()) {
      value.resize(*size);
      co_return Status();
    }
    if (size.code() != Code::no_space || value.size() >= largest_value_bytes) {
      co_return size.status();
    }
    value.resize(largest_value_bytes);
  }
}

Task<Status> StoreParts::read_version(std::string_view key, Versioned& found) {
  std::string& value = found.value;
  value.resize(std::min(usual_value_bytes, largest_value_bytes));
  for (;;) {
    const Result<kv::StoreClient::Versioned> got =
        co_await link->store().get_version(as_bytes(key), std::as_writable_bytes(std::span(value)));
    if (got.ok()) {
      value.resize(got->size_bytes);
      found.version = got->version;
      co_return Status();
    }
    if (got.code() != Code::no_space || value.size() >= largest_value_bytes) {
      co_return got.status();
    }
    value.resize(largest_value_bytes);
  }
}

}  // namespace remora
