// A command's way to a running store: by libremora, as any program's, from the words of a command
// line.
#pragma once

#include <remora/store.h>

#include <string>

#include "base/result.h"

namespace remora::cli {

struct ConnectArguments {
  std::string socket;  // empty: that of the default store
  std::string server;  // HOST[:PORT] on the network, in place of the socket
  std::string fabric;  // roce, or verbs[:DEVICE]: through that device; empty: as the store has it
  std::string tls_ca;  // by TLS: PEM, what vouches for the server; empty: in clear
  std::string token;   // empty: known by the user; "@path": the first line of that file
  std::string verify_reads = "auto";
};

// Fails with `unsupported` when nobody listens there, and a message that says what to do.
Expected<Store> open_store(const ConnectArguments& arguments);

// Of any size that a store takes: a value that is larger than usual costs a new connection.
Expected<void> put_value(Store& store, std::string_view key, std::string_view value,
                         Durability durability);
Expected<std::string> get_value(Store& store, std::string_view key);

// Prints "remora: message" to standard error and returns the exit status of the failure.
int fail(const Error& error);
Status to_status(const Error& error);

}  // namespace remora::cli
