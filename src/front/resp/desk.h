// Desk: what the parts of a server that end waits of connections ask of it.
#pragma once

#include <cstddef>

#include "front/resp/connection.h"

namespace remora::resp {

class Desk {
 public:
  // Sends what may leave of its replies, behind them those in the output of the server; false when
  // the connection is gone, or nothing more is to be done for it.
  virtual bool send(Connection& connection) = 0;
  // It waits no more: runs requests that were left, and counts what is kept.
  virtual void go_on(Connection& connection) = 0;
  virtual void count_kept(Connection& connection) = 0;
  virtual void close(Connection& connection) = 0;
  // Frees connections that were closed.
  virtual void bury() = 0;
  // Sockets are to be read in the next turn.
  virtual void look_again() = 0;
  // Clients that are connected.
  virtual std::size_t connected() const = 0;

 protected:
  ~Desk() = default;
};

}  // namespace remora::resp
