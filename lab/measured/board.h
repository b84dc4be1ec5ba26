// Board: memory that the processes of a measured run share. The parent says which phase it is; the
// server and each client say how far they are and, in the end, what they saw.
//
// Made before the children are forked; each child writes its own part.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/device.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"
#include "kv/store.h"
#include "lab/workload/meter.h"

namespace remora::lab {

enum class Phase : std::uint32_t { start, load, warm_up, measure, end };

// A failure that a child met.
class SharedStatus {
 public:
  void set(const Status& status);
  Status get() const;

 private:
  std::atomic<std::uint32_t> code_ = 0;
  std::array<char, 500> text_ = {};
};

struct ServerPart {
  static constexpr std::size_t counters_max = 64;
  struct Counter {
    std::array<char, 48> name = {};
    std::uint64_t value = 0;
  };

  std::atomic<bool> ready = false;        // it lets clients in
  fabric::nic::roce::IpEndpoint network;  // where, if not at the socket; before `ready`
  std::array<char, 72> token = {};        // that it wants there; zeros behind it
  std::atomic<std::uint64_t> looks = 0;   // how often `busy` was said
  std::atomic<bool> busy = false;         // with background work
  std::atomic<bool> ended = false;        // the rest is final
  SharedStatus status;
  std::array<Counter, counters_max> counters = {};

  void publish(const std::vector<kv::StoreServer::Counter>& all);
};

struct ClientPart {
  std::atomic<Phase> ended = Phase::start;  // the last phase that it has ended
  std::atomic<std::uint64_t> performed = 0;
  SharedStatus status;         // why it could not go on
  SharedStatus first_failure;  // of an operation
  std::uint64_t span_ns = 0;   // of the measured phase
  fabric::DeviceCounters device;
  workload::Meter meter;
};

class Board {
 public:
  static Result<std::unique_ptr<Board>> create(std::uint32_t clients);
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  std::atomic<Phase>& phase() { return shared_->phase; }
  ServerPart& server() { return shared_->server; }
  ClientPart& client(std::uint32_t number) { return clients_[number]; }
  std::uint32_t clients() const { return client_count_; }

 private:
  struct alignas(cache_line_bytes) Shared {
    std::atomic<Phase> phase = Phase::start;
    ServerPart server;
  };

  Board(void* memory, std::size_t size_bytes, std::uint32_t clients);

  void* const memory_;
  const std::size_t size_bytes_;
  const std::uint32_t client_count_;
  Shared* shared_;
  ClientPart* clients_;
};

}  // namespace remora::lab
