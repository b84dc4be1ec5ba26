// DatagramEnd: a queue pair for datagrams with its receives, and buffers to send from. Of a server
// it is one for all clients; a client has one of its own.
//
// Anybody on the network may send a datagram here, with any sender in it. So each message begins
// with a token that whoever may send was told; one with another is dropped, and nobody is the worse
// for it.
//
// One thread, the loop's. Nothing is allocated while messages flow.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric/device.h"
#include "rpc/message.h"

namespace remora::rpc {

inline constexpr std::size_t token_bytes = 8;

struct DatagramOptions {
  std::uint32_t receives = 64;
  std::uint32_t buffers = 64;  // to send from
  std::size_t body_bytes = 1024;
};

// The longest body that a datagram of this device carries; 0 where it carries none.
std::size_t most_datagram_body(const fabric::Device& device);

class DatagramEnd {
 public:
  // unsupported where the device has no datagrams, invalid_argument for bodies that no datagram
  // carries.
  static Result<std::unique_ptr<DatagramEnd>> create(fabric::Device& device,
                                                     const DatagramOptions& options);

  fabric::QueuePairAddress address() const { return queue_pair_->address(); }
  fabric::QueueKey key() const { return key_; }
  fabric::ProtectionDomain& domain() { return *domain_; }

  // Who is at the other end.
  struct Peer {
    fabric::RemoteAddress to = {};
    std::uint64_t token = 0;  // that it wants
  };
  Result<Peer> find(const fabric::QueuePairAddress& address, fabric::QueueKey key,
                    std::uint64_t token);

  // Messages that came, as the buffers that they lie in. A buffer is this side's until it is
  // released.
  std::size_t poll(std::span<std::uint32_t> buffers);
  struct Message {
    std::uint64_t token = 0;
    MessageHead head;
    ConstBytes body;
  };
  std::optional<Message> message(std::uint32_t buffer) const;
  Status release(std::uint32_t buffer);

  // A place to write a body to; none while all are on their way.
  std::optional<std::uint32_t> take();
  Bytes body(std::uint32_t buffer);
  void give_back(std::uint32_t buffer) { unused_.push_back(buffer); }
  Status send(std::uint32_t buffer, const Peer& peer, const MessageHead& head);
  // Frees what has left. Returns whether there was anything.
  bool collect();

 private:
  static constexpr std::size_t most_polled = 64;

  explicit DatagramEnd(const DatagramOptions& options) : options_(options) {}
  std::size_t message_bytes() const { return token_bytes + head_bytes + options_.body_bytes; }
  std::size_t stride() const { return (message_bytes() + 63) / 64 * 64; }
  std::size_t receive_stride() const {
    return (fabric::datagram_header_bytes + message_bytes() + 63) / 64 * 64;
  }

  const DatagramOptions options_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  // To each device that was asked for: they go after the queue pair.
  std::vector<std::pair<fabric::Gid, std::unique_ptr<fabric::AddressHandle>>> ways_;
  std::vector<std::byte> sent_memory_;
  std::vector<std::byte> received_memory_;
  std::unique_ptr<fabric::MemoryRegion> sent_;
  std::unique_ptr<fabric::MemoryRegion> received_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  fabric::QueueKey key_ = 0;
  std::vector<std::uint32_t> sizes_;  // by receive: of the message in it
  std::vector<std::uint32_t> unused_;
  std::array<fabric::WorkCompletion, most_polled> completions_;
};

}  // namespace remora::rpc
