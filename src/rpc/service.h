// Service: who answers the requests that a Server finds. Its functions are plain: they return a
// reply and a ticket, and the reply leaves when the ticket is persistent; or they say `later`, and
// the answer is given by Server::answer, from a flow or whenever it is time.
//
// One thread, the loop's.
#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/device.h"
#include "pmem/region.h"
#include "rpc/message.h"

namespace remora::rpc {

using SessionId = std::uint64_t;  // never used twice

// What the service answers.
struct Reply {
  Code code = Code::ok;
  std::uint32_t size_bytes = 0;  // of the body
  Ticket ticket = {};
  bool later = false;  // not now: the service calls Server::answer when it is time
  // Who asked will wait for a commit next, and does not mind if one that is under way delays this.
  bool patient = false;

  static Reply failure(Bytes body, Code code, std::string_view message);
};

// One client. Its domain is where the service registers what the client may reach.
struct Session {
  SessionId id = 0;
  bool may_write = true;  // else it gets no right but to READ, and no WRITE with IMM is taken of it
  fabric::ProtectionDomain* domain = nullptr;
  fabric::QueuePair* queue_pair = nullptr;
};

class Service {
 public:
  virtual ~Service() = default;
  // A request. Its body comes from outside and may be anything; it stays until this returns. The
  // reply's body is written to `body`.
  virtual Reply handle(const Session& session, std::uint32_t call, Kind kind, ConstBytes request,
                       Bytes body) = 0;
  // A WRITE with IMM: all that it and the WRITEs before it wrote is visible. Answered like a
  // request; `call` is the immediate.
  virtual Reply written(const Session&, std::uint32_t /*call*/, Bytes body) {
    return Reply::failure(body, Code::invalid_argument, "no WRITE with IMM is expected here");
  }
  // A client has come; a failure turns it away. And it has gone: what it was granted may still be
  // written until queue_pair->quiet(); the session's objects are destroyed when this has returned
  // true, which is asked again until then.
  virtual Status joined(const Session&) { return {}; }
  virtual bool client_left(const Session&) { return true; }
};

}  // namespace remora::rpc
