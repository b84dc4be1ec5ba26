// Connection: a command's way to a running store, with the words of a person: keys and values are
// text, and every call blocks until it has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/poll_loop.h"
#include "server/durability_words.h"
#include "server/facts.h"
#include "server/store_link.h"

namespace remora::cli {

struct ConnectArguments {
  std::string socket;  // empty: that of the default store
  std::string server;  // HOST[:PORT] on the network, in place of the socket
  std::string fabric;  // roce, or verbs[:DEVICE]: through that device; empty: as the store has it
  std::string tls_ca;  // by TLS: PEM, what vouches for the server; empty: in clear
  std::string token;   // empty: known by the user; "@path": the first line of that file
};

class Connection {
 public:
  // Fails with `unsupported` when nobody listens there, and a message that says what to do.
  static Result<std::unique_ptr<Connection>> open(const ConnectArguments& arguments);

  // A value that is larger than usual makes the connection anew, with larger buffers.
  Status put(std::string_view key, std::string_view value, bool persistent);
  Result<std::string> get(std::string_view key);
  Status del(std::string_view key);
  // Calls visit(key) until it returns false or there are no more. A key may come twice.
  Status scan(const std::function<bool(std::string_view)>& visit);
  // As kv::StoreClient::copy.
  Status copy(kv::CopySink& sink) { return loop_.block_on(link_->store().copy(sink)); }
  // What works on persistent memory of this process is handed.
  Host host(Region* region) {
    const Host own = link_->host();
    return Host(own.runtime(), own.device(), region);
  }
  Result<server::Facts> stat();
  Result<server::Facts> stop();
  Result<server::Facts> scrub();
  // Waits, and hears what the store says meanwhile.
  void rest(std::uint64_t span_ns) { (void)loop_.run_for(span_ns); }
  // What was taken: mapped, ring, roce, or verbs:DEVICE.
  std::string wire();

  // Whether its session is encrypted.
  bool is_by_tls() const { return !arguments_.tls_ca.empty(); }
  const std::string& role() const { return link_->role(); }
  const kv::Engine& engine() const { return link_->engine(); }
  // What an acknowledged put means now, in a word or two: "persistent", "visible".
  std::string acknowledged_word(bool persistent);
  // Hears what came while nobody ran the loop, and connects anew if the connection has ended;
  // whether it did.
  Result<bool> freshen();

 private:
  explicit Connection(ConnectArguments arguments) : arguments_(std::move(arguments)) {}
  Status connect(std::size_t buffer_bytes);
  Status make_room(std::size_t value_bytes);

  const ConnectArguments arguments_;
  PollLoop loop_;
  std::size_t buffer_bytes_ = 0;
  std::unique_ptr<server::StoreLink> link_;
};

// What a store's medium survives, by what it tells of itself.
server::Survives survives_by(const server::Facts& facts);

}  // namespace remora::cli
