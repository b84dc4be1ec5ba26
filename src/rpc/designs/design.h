// Design: one way of making calls on another machine, as a paper draws it. It is two halves: the
// ends that a Server (rpc/server.h) is handed, and a client whose call reads like the figure. All
// designs have one interface, so that one harness loads them and one test holds them to what they
// say.
//
// A call has a slot of the client, at most `window` at a time; the argument is written there first:
//
//   std::memcpy(client.request(slot).data(), ...);
//   Status persistent = co_await client.persistent(slot, kind, size);
//   Result<ConstBytes> result = co_await client.result(slot);
//
// `persistent` goes on when the call survives a power cut of the server; of a rival that is when
// its result is there, because the handler has flushed before it answered. The result's bytes stay
// until the slot's next call.
//
// Failure is final, and typed: `closed` when the server is gone or has cut the client off,
// `timed_out` when it does not answer. A call that is longer than the design carries is an
// invalid_argument before anything is sent; nothing is lost by it.
//
// One thread, the loop's. No call is in flight when a client goes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "host/host.h"
#include "rpc/connection.h"
#include "rpc/server.h"
#include "runtime/task.h"

namespace remora::rpc {

inline constexpr std::uint32_t most_window = 16;

struct DesignOptions {
  std::uint32_t most_clients = 64;  // of a server
  std::uint32_t window = 1;         // calls that a client has in flight, at most most_window
  std::size_t body_bytes = 4096;    // the longest argument, and the longest result
  std::uint64_t timeout_ns = 1'000'000'000;  // of a call
  // Where a message may be lost, the client sends it again after so long.
  std::uint64_t resend_ns = 20'000'000;
  std::uint64_t system_call_ns = 0;  // modelled, where a design makes system calls
  fabric::ConnectOptions connect = {};
};

class DesignClient {
 public:
  virtual ~DesignClient() = default;

  virtual Introduction introduction() const = 0;
  // To the server that has accepted the introduction and answered with its own.
  virtual Status connect(const Introduction& server) = 0;
  // Null where it has no connection.
  virtual fabric::QueuePair* queue_pair() = 0;

  virtual Bytes request(std::uint32_t slot) = 0;
  Task<Status> persistent(std::uint32_t slot, Kind kind, std::size_t size_bytes);
  virtual Task<Result<ConstBytes>> result(std::uint32_t slot) = 0;
  // Both.
  Task<Result<ConstBytes>> call(std::uint32_t slot, Kind kind, std::size_t size_bytes);

  std::uint32_t window() const { return options_.window; }
  // Messages that were sent again, because an answer was long in coming.
  std::uint64_t sent_again() const { return sent_again_; }

 protected:
  DesignClient(const Host& host, const DesignOptions& options) : host_(host), options_(options) {}
  virtual Task<Status> begin(std::uint32_t slot, Kind kind, std::size_t size_bytes) = 0;

  const Host host_;
  const DesignOptions options_;
  std::uint64_t sent_again_ = 0;
};

// A row of the paper's Table 1: by which verb a request travels, on which transports.
enum class RequestVerb : std::uint8_t { write, send, write_imm };
std::string_view to_string(RequestVerb verb);

struct Design {
  Descriptor descriptor;  // its kind says nothing: lists say "rpc design"
  RequestVerb verb = RequestVerb::write;
  std::span<const fabric::Transport> transports = {};
  bool considers_ddio = false;    // the paper's last column
  std::string_view request = {};  // how a call and its answer travel, for people
  std::string_view answer = {};
  std::string_view figure = {};
  bool is_durable = false;  // persistent before it has run
  // The longest argument and result on this device, 0 where it cannot be run there.
  std::size_t (*most_body_bytes)(const fabric::Device& device) = nullptr;
  Result<Ends> (*serve)(const Host& host, const DesignOptions& options) = nullptr;
  Result<std::unique_ptr<DesignClient>> (*start_client)(const Host& host,
                                                        const DesignOptions& options) = nullptr;
};

std::string_view to_string(fabric::Transport transport);

// What a design promises, for people.
inline constexpr std::string_view rival_promise =
    "a write that was answered is persistent; one that was not has run or has not, and sent again "
    "it runs "
    "again";
inline constexpr std::string_view durable_promise =
    "a call that was acknowledged runs exactly once, whatever happens before it has run";

// All of them, in the order of the paper's figure 2. A durable design is added here.
const std::vector<const Design*>& designs();
std::string design_names();
// By name, or a failure that lists the names.
Result<const Design*> find_design(std::string_view name);

// Server and ends of the design together. Refuses bodies that the design cannot carry here.
Result<std::unique_ptr<Server>> serve(const Design& design, const Host& host, Service& service,
                                      const DesignOptions& options);

}  // namespace remora::rpc
