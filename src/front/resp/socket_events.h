// SocketEvents: where a server of many sockets finds what is ready, and sleeps meanwhile: its epoll
// set, how often it looks, and how long it looks or naps before it sleeps.
//
// A turn of the loop takes the events that a look or a sleep has found. After a look that found all
// there was, the next comes when the loop has slept here; or after some turns, in a loop that does
// not sleep.
//
// One thread, the loop's. The runtime outlives it; owners are removed before they go.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/result.h"
#include "front/resp/gathering.h"
#include "front/resp/limits.h"
#include "front/resp/short_waits.h"
#include "runtime/poller.h"
#include "runtime/runtime.h"

namespace remora::resp {

class SocketEvents final : public Sleeper {
 public:
  // `clients_wait` tells that clients wait for a commit: what comes then has its reply after the
  // next one, at best, so that nothing is gained by looking for it.
  SocketEvents(Runtime& runtime, std::function<bool()> clients_wait)
      : runtime_(runtime), clients_wait_(std::move(clients_wait)) {}
  SocketEvents(const SocketEvents&) = delete;
  SocketEvents& operator=(const SocketEvents&) = delete;
  ~SocketEvents() override;

  Status open();
  int descriptor() const { return epoll_; }

  // Events tell of this owner when they happen; a socket that is closed leaves by itself. And once
  // more, what is so now, of what is watched. False when the system refuses.
  bool add(int socket, std::uint32_t events, void* owner);
  bool tell_again(int socket, std::uint32_t events, void* owner);
  // Events that were found and not taken name this owner no more.
  void forget(const void* owner);

  // What is ready, if it is time to look; good until the next look or sleep.
  std::span<const epoll_event> take();
  // Whether an event is none of an owner's: it woke the loop for its other pollers.
  bool is_for_others(const epoll_event& event) const { return event.data.ptr == this; }
  // Something may be ready; or nothing is.
  void look_again() { look_ = true; }
  void nothing_came() { look_ = false; }
  // A client is served, one of so many.
  void serve(Gathering::Seen& seen, std::size_t connected) { gathering_.serve(seen, connected); }

  bool watch_also(int others) override;
  bool sleep(std::uint64_t span_ns) override;

 private:
  // What a sleep has found.
  int look_and_sleep(std::uint64_t span_ns);
  int sleep_for(std::uint64_t span_ns);
  int gather(std::uint64_t span_ns);

  Runtime& runtime_;
  const std::function<bool()> clients_wait_;
  int epoll_ = -1;
  bool look_ = true;         // something may be ready
  std::uint32_t turns_ = 0;  // since the last look
  std::array<epoll_event, limits::events_per_turn> events_;
  std::optional<int> slept_;  // so many events were found by a sleep, and not yet taken
  ShortWaits short_waits_;
  Gathering gathering_;
  int others_ = -1;           // a sleep ends, too, when this is readable
  bool others_came_ = false;  // to the end of a nap
};

}  // namespace remora::resp
