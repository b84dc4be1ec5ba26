// How queue pairs of two machines find each other by an IP address and a port, through the fabric
// itself: librdmacm. It tells which device leads there, and carries what the two sides have to tell
// each other; the queue pairs are then connected as by any other means, with QueuePair::connect.
//
//   calls:    CmCall::start(address) … resolved: the device is known; make a queue pair of it
//             ask(own, message)      … answered: connect the queue pair, then establish()
//   listens:  CmListener::listen(address), next() … a CmRequest: make a queue pair, connect it,
//             accept(own, message), or let it go: the caller is refused
//
// Nothing blocks: whoever waits calls again, when the descriptor is readable or now and then. One
// thread. A listener outlives its requests. What stands for a connection here may go when both
// sides are connected; with it goes nothing but the word that librdmacm sends to the other side.
#pragma once

#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/queue_pair.h"

namespace remora::fabric::verbs {

inline constexpr std::size_t cm_message_bytes = 24;  // 56 in all, with the address

// What one side tells the other.
struct CmWord {
  QueuePairAddress address;
  std::array<std::byte, cm_message_bytes> message = {};
};

struct CloseChannel {
  void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};
struct CloseId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
using CmChannel = std::unique_ptr<rdma_event_channel, CloseChannel>;
using CmId = std::unique_ptr<rdma_cm_id, CloseId>;

class CmCall {
 public:
  enum class State : std::uint8_t { resolving, resolved, asking, answered };

  static Result<std::unique_ptr<CmCall>> start(const sockaddr* address);

  // Takes what has happened. Fails with not_found when no device leads there, with closed when
  // nobody listens there or the other side refused, with timed_out.
  Result<State> progress();
  // From `resolved` on: the device that leads there.
  std::string device() const;
  Status ask(const CmWord& own);
  // From `answered` on.
  const CmWord& answer() const { return answer_; }
  // The queue pair is ready: the other side may begin.
  Status establish();
  int descriptor() const { return channel_->fd; }

 private:
  CmCall() = default;
  Status take(const rdma_cm_event& event);

  CmChannel channel_;
  CmId id_;
  State state_ = State::resolving;
  CmWord answer_;
};

// One that calls.
class CmRequest {
 public:
  CmRequest(CmId id, const CmWord& caller) : id_(std::move(id)), caller_(caller) {}
  CmRequest(const CmRequest&) = delete;
  CmRequest& operator=(const CmRequest&) = delete;
  // One that was not accepted is refused.
  ~CmRequest();

  std::string device() const;
  const CmWord& caller() const { return caller_; }
  Status accept(const CmWord& own);

 private:
  CmId id_;
  const CmWord caller_;
  bool accepted_ = false;
};

class CmListener {
 public:
  static Result<std::unique_ptr<CmListener>> listen(const sockaddr* address);

  // The next that calls, or null when nobody does.
  std::unique_ptr<CmRequest> next();
  // Where it listens: the port, if it was given as 0.
  std::uint16_t port() const;
  int descriptor() const { return channel_->fd; }

 private:
  CmListener() = default;

  CmChannel channel_;
  CmId id_;
};

}  // namespace remora::fabric::verbs
