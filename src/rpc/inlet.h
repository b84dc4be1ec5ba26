// Inlet: where a Server finds requests. A receive queue (inlet_receives.h) is one; memory that
// clients WRITE and the loop looks at is another. The loop has one inlet and one outlet (outlet.h)
// for all of its clients, and knows of a design nothing else.
//
// A request is found once (`poll`), perhaps waits for a core of a modelled machine, is read when it
// is taken (`read`), handled, and released: then its place may be used by the client's next one.
// Between read and release its bytes do not move; who is at the other end may change them at any
// time, where the memory is one that it may WRITE. So a design copies a head once, then judges the
// copy.
//
// A client whose request cannot be read is cut off by the loop. An inlet never fails for others
// because of what one client sent.
//
// What a durable design supplies (its log is the inlet): `poll` finds entries that are persistent,
// in order; `read` names their bytes in the log; its Service says `later` for a call that waits for
// its order key, and gives the result by Server::answer; `release` is no more than "handled once":
// the entry is freed by the design itself, when its completion record is persistent. Where the
// sender is told "persistent" by the receiver (RFlush), the design SENDs that from `poll`, on the
// connection's queue pair, before it gives the request out. What recovery finds in the log, it
// hands out by `poll` with the session of whoever resumed it, or runs before a server stands.
//
// One thread, the loop's. Nothing is allocated while requests flow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rpc/connection.h"
#include "rpc/message.h"

namespace remora::rpc {

// A request that was found. What it means is the inlet's, but for the session.
struct Arrival {
  SessionId session = 0;
  std::uint32_t where = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t immediate = 0;
  bool is_written = false;  // a WRITE with IMM told of it
  bool failed = false;      // it is no request: the connection has ended
};

// The same, read.
struct Request {
  std::uint32_t call = 0;  // the client's number for it; never 0
  Kind kind = 0;
  bool is_written = false;  // for Service::written: the call is the immediate, and there is no body
  ConstBytes body = {};
};

class Inlet {
 public:
  virtual ~Inlet() = default;

  // Whether each client has a queue pair of its own, which the loop makes. Else the inlet has one
  // for all, and the clients' domain is its own.
  virtual bool connects() const { return true; }
  // Whether requests come by completions, which the device's poller makes. Else the loop looks for
  // them in every turn, and sleeps never for long.
  virtual bool is_told() const { return true; }

  // Its part of the queue pair that is to be made for a client.
  virtual void ask(fabric::QueuePairOptions& options) = 0;
  // A client comes: makes what its requests need. The queue pair is initialised and not connected.
  // What the client said may be nonsense; a failure turns it away, and `close` is called then, too.
  virtual Status open(Connection& client, const Introduction& theirs, Introduction& ours) = 0;
  // It has gone, and so has its queue pair.
  virtual void close(Connection& client) = 0;

  // Requests that have come, at most so many. Sessions that are no more are harmless.
  virtual std::size_t poll(std::span<Arrival> out) = 0;
  // Nothing when it is no request of this design.
  virtual std::optional<Request> read(Connection& client, const Arrival& arrival) = 0;
  // It was handled. A failure cuts the client off.
  virtual Status release(Connection& client, const Arrival& arrival) = 0;
  // In place of read and release, when its client has gone or was cut off.
  virtual void forget(const Arrival&) {}
};

}  // namespace remora::rpc
