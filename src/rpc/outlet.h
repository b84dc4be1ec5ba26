// Outlet: how a Server's answers leave. By SEND (outlet_sends.h), by WRITE into memory of the
// client's, or not at all: left where the client READs them.
//
// A place is taken for an answer before the request is handled, and its body is written there. Then
// the answer is sent, at once or when its ticket is persistent; until what was sent has left, the
// place is the outlet's.
//
// What a durable design supplies: an outlet like any other for results; its message says with which
// head the log begins, so that the caller may use again what is before it.
//
// One thread, the loop's. Nothing is allocated while answers flow.
#pragma once

#include <cstdint>

#include "rpc/connection.h"
#include "rpc/message.h"

namespace remora::rpc {

class Outlet {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Place {
    std::uint32_t index = none;
    Bytes body = {};
  };
  // Who is told that nothing more can be sent to a client.
  class Broken {
   public:
    virtual void broken(SessionId session) = 0;

   protected:
    ~Broken() = default;
  };

  virtual ~Outlet() = default;

  // As Inlet has them.
  virtual void ask(fabric::QueuePairOptions& options) = 0;
  virtual Status open(Connection& client, const Introduction& theirs, Introduction& ours) = 0;
  virtual void close(Connection& client) = 0;

  // Frees the places of what has left; returns whether there was anything.
  virtual bool collect(Broken& broken) = 0;
  // A place for the answer to this call; none while all are in use.
  virtual Place take(Connection& client, std::uint32_t call) = 0;
  // The same for a message that nobody asked for. Most designs have none.
  virtual Place take_for_notice(Connection&) { return {}; }
  // It is not used after all.
  virtual void give_back(Connection& client, std::uint32_t index) = 0;
  // The same, when its client has gone or was cut off.
  virtual void forget(std::uint32_t) {}
  virtual Bytes body(Connection& client, std::uint32_t index) = 0;
  // A failure cuts the client off.
  virtual Status send(Connection& client, std::uint32_t index, const MessageHead& head) = 0;
};

}  // namespace remora::rpc
