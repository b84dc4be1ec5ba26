#include "cli/product/connection.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "cli/exit_status.h"
#include "fabric/nic/wire/roce/roce_limits.h"
#include "kv/limits.h"
#include "kv/verify_reads.h"
#include "server/settings.h"

namespace remora::cli {
namespace {

constexpr std::size_t usual_value_bytes = 256 << 10;

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

// Of HOST, HOST:PORT, an address of IPv6, or [ADDRESS] with a port or without.
std::string with_port(const std::string& server) {
  const std::string port = ":" + std::to_string(fabric::nic::roce::limits::udp_port);
  if (server.starts_with('[')) {
    return server.ends_with(']') ? server + port : server;
  }
  switch (std::ranges::count(server, ':')) {
    case 0:
      return server + port;
    case 1:
      return server;
    default:
      return "[" + server + "]" + port;
  }
}

// A path, which a name with a colon in it is only with a slash.
std::string as_path(const std::string& socket) {
  return socket.find('/') == socket.npos ? "./" + socket : socket;
}

Result<ConnectOptions> options_of(const ConnectArguments& arguments) {
  if (arguments.server.empty() && arguments.fabric == "roce") {
    return Status(Code::invalid_argument,
                  "--fabric roce needs --server HOST[:PORT], the address where the store listens");
  }
  if (arguments.server.empty() && !arguments.tls_ca.empty()) {
    return Status(Code::invalid_argument,
                  "--tls-ca needs --server HOST[:PORT]; a socket of this machine has no TLS");
  }
  REMORA_TRY_RESULT(token, token_of(arguments.token));
  REMORA_TRY_RESULT(verify, kv::parse_verify_reads(arguments.verify_reads));
  ConnectOptions options;
  options.token = std::move(token).value();
  options.tls_ca = arguments.tls_ca;
  options.fabric = arguments.fabric;
  options.largest_value_bytes = usual_value_bytes;
  options.verify_reads = static_cast<VerifyReads>(*verify);
  return options;
}

}  // namespace

Expected<Store> open_store(const ConnectArguments& arguments) {
  const Result<ConnectOptions> options = options_of(arguments);
  if (!options.ok()) {
    return Error{static_cast<ErrorCode>(options.code()), std::string(options.status().message())};
  }
  const std::string socket =
      as_path(arguments.socket.empty() ? server::default_socket() : arguments.socket);
  const std::string where = arguments.server.empty() ? socket : with_port(arguments.server);
  Expected<Store> store = Store::connect(where, *options);
  if (store.is(ErrorCode::not_found)) {
    return Error{
        ErrorCode::unsupported,
        arguments.server.empty()
            ? "no store listens at " + socket +
                  "; start one with ./run or `remora serve`, or name its socket with --socket"
            : store.error().message};
  }
  return store;
}

Expected<void> put_value(Store& store, std::string_view key, std::string_view value,
                         Durability durability) {
  if (value.size() > usual_value_bytes && value.size() <= kv::limits::value_bytes) {
    if (const Expected<void> room = store.make_room(value.size()); !room) {
      return room;
    }
  }
  return store.put(key, value, durability);
}

Expected<std::string> get_value(Store& store, std::string_view key) {
  Expected<std::string> value = store.get(key);
  if (value.is(ErrorCode::no_space)) {
    if (const Expected<void> room = store.make_room(kv::limits::value_bytes); !room) {
      return room.error();
    }
    return store.get(key);
  }
  return value;
}

Status to_status(const Error& error) {
  return Status(static_cast<Code>(error.code), error.message);
}

int fail(const Error& error) {
  return fail(to_status(error));
}

}  // namespace remora::cli
