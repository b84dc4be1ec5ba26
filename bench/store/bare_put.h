// BarePut: the least that a put over shared memory takes on this machine. One thread checksums a
// value, copies it to memory and tells where; another one checksums it where it lies, compares, and
// answers. No index, no log, no protocol: what the two cores and the lines between them need, and
// no more.
//
// It belongs to the thread that started it, which is the client, and which stays on a core of its
// own meanwhile. The server's thread spins on another one as long as the object lives: nothing else
// is measured beside it. Where there is one core, the two take turns.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bench/nic/shared_memory.h"
#include "lab/measured/seat.h"

namespace remora::bench {

struct BarePutOptions {
  std::size_t value_bytes = 100;  // a word or more
  std::size_t connections = 1;    // each has one put in flight; up to BarePut::most_connections
  // Values go to one place after the other, and to the first again after the last. Room for four
  // values of each connection or more, so that none is overwritten before it is answered.
  std::size_t memory_bytes = std::size_t{256} << 20;
};

class BarePut {
 public:
  static constexpr std::size_t most_connections = 64;

  // Every page of the memory is there when it returns.
  static Result<std::unique_ptr<BarePut>> start(const BarePutOptions& options);
  BarePut(const BarePut&) = delete;
  BarePut& operator=(const BarePut&) = delete;
  ~BarePut();

  // Puts that many values, each by the next connection in turn whose last put is answered. Returns
  // when all are answered.
  void run(std::uint64_t operations);
  // Puts one value of which a byte changes behind its checksum: proof that the server looks.
  void put_spoilt();

  // What the server has seen so far.
  std::uint64_t arrived() const { return arrived_; }
  std::uint64_t mismatches() const { return mismatches_; }

 private:
  // Whoever writes a line has it to itself. The sequence counts from 1; the rest is there with it.
  struct alignas(cache_line_bytes) Request {
    std::atomic<std::uint64_t> sequence = 0;
    std::size_t offset = 0;
    std::uint32_t checksum = 0;
  };
  struct alignas(cache_line_bytes) Reply {
    std::atomic<std::uint64_t> sequence = 0;
  };

  BarePut(const BarePutOptions& options, SharedMemory memory);
  void serve();
  bool is_answered(std::size_t connection) const;
  void await_all() const;
  // Changes the connection's value, and brings it to memory, its place and checksum to the request.
  Bytes place(std::size_t connection);
  // Lets the server see the request.
  void publish(std::size_t connection);

  const std::size_t value_bytes_;
  const std::size_t connections_;
  const std::size_t stride_bytes_;  // from value to value, in the memory and in values_
  const SharedMemory memory_;
  std::array<Request, most_connections> requests_;
  std::array<Reply, most_connections> replies_;

  // The client's.
  alignas(cache_line_bytes) std::vector<std::byte> values_;  // one of each connection
  std::array<std::uint64_t, most_connections> posted_ = {};
  std::uint64_t number_ = 0;
  std::size_t next_offset_ = 0;
  std::optional<lab::Seat> seat_;

  // The server's. The client reads them when all is answered, and nothing changes them.
  alignas(cache_line_bytes) std::uint64_t arrived_ = 0;
  std::uint64_t mismatches_ = 0;

  alignas(cache_line_bytes) std::atomic<bool> ending_ = false;
  std::thread server_;  // made last
};

}  // namespace remora::bench
