// RequestCores: in virtual time, requests that wait for the request cores of a modelled server
// (runtime/core_group.h). A core that is free takes what waits for it, at most a batch with one
// poll, and handles one after the other; so a request takes effect when its core gets to it, and
// under load those that wait form batches. A dispatcher pays one poll for its batch and as much
// again for each request that it hands on, and who is handed one pays that, too: a line that
// another core wrote.
//
// One thread, the loop's. Nothing happens in real time: nobody makes one there.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "host/host.h"
#include "rpc/inlet.h"

namespace remora::rpc {

class RequestCores {
 public:
  // The host's core stands for a group.
  RequestCores(const Host& host, std::uint32_t batch);

  // A request of the client with this number has come.
  void add(const Arrival& request, std::uint64_t client);
  // One that a core takes now: what is charged from here on is charged to that core. If there is
  // none, the loop has an event when a core will be free for those that wait.
  std::optional<Arrival> take();
  std::size_t waiting() const { return count_; }

 private:
  using Requests = std::deque<Arrival>;
  // Handed on by the dispatcher, and visible to others from then on.
  struct Handed {
    Arrival request;
    std::uint64_t from_ns;
  };
  class Wake final : public Timer {
   public:
    void expire() override {}
  };

  bool dispatches() const { return group_.spread == Spread::dispatched && group_.count > 1; }
  std::uint64_t free_ns(std::uint32_t core);
  Requests& source_of(std::uint32_t core);
  std::uint64_t dispatch(std::uint64_t now_ns);
  bool fill(std::uint32_t core, std::uint64_t now_ns, std::uint64_t& next_ns);

  const Host host_;
  const CoreGroup group_;
  const std::size_t batch_;
  std::vector<Requests> waiting_;  // by core; the first holds all where the cores have one queue
  std::vector<Requests> taken_;    // by core: of the batch that it is at
  std::deque<Handed> handed_;
  std::size_t count_ = 0;
  Wake wake_;
};

}  // namespace remora::rpc
