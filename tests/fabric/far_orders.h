// What near and the agent of a far machine say to each other on a Talk (tests/vm/interop/talk.h)
// while the contract is tested between the two: orders and their answers, one for each, in order;
// and between them completions, which the agent sends as they come. Both are programs of one build,
// so plain structs travel as they are.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fabric/device.h"

namespace remora::fabric::contract::far {

// numbers[0] of an order. numbers[1] is the object that it is for; objects are numbered by the
// agent. What follows is in numbers[2] and up, and in the bytes.
enum Order : std::uint64_t {
  open_device,   // FlushMethod; answered by the place of far's memory, and the attributes
  close_device,  // and all that was made from it
  create_domain,
  register_memory,  // address, size, access, whether it is far's memory; else the bytes, or zeros
  create_queue,     // capacity
  create_pair,      // send queue, receive queue; QueuePairOptions
  destroy,
  initialise,
  connect,  // QueuePairAddress, ConnectOptions
  fail,
  reset,
  state,
  address,
  quiet,
  post_send,     // SendWork, pieces
  post_receive,  // id; pieces
  overrun,
  counters,
  look,     // address, size; answered by what is there
  change,   // address; bytes
  silence,  // the device falls silent
};

// numbers[0] of what the agent says.
enum Answer : std::uint64_t {
  fine,
  refused,      // numbers[1]: the code; bytes: the reason
  completions,  // of the queue numbers[1]; no answer to anything
};

// Puts values into bytes, and takes them out again in the same order.
class Writer {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T> Writer& operator()(const T& value) {
    const ConstBytes plain = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), plain.begin(), plain.end());
    return *this;
  }
  Writer& operator()(const std::string& text) {
    (*this)(text.size());
    bytes_.insert(bytes_.end(), as_bytes(text).begin(), as_bytes(text).end());
    return *this;
  }
  std::vector<std::byte> bytes() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(ConstBytes bytes) : rest_(bytes) {}
  template <typename T>
  requires std::is_trivially_copyable_v<T> Reader& operator()(T& value) {
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    return *this;
  }
  Reader& operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text = as_text(take(size));
    return *this;
  }
  // All that is left.
  template <typename T>
  std::vector<T> all() {
    std::vector<T> values(rest_.size() / sizeof(T));
    for (T& value : values) {
      (*this)(value);
    }
    return values;
  }

 private:
  ConstBytes take(std::size_t size) {
    REMORA_CHECK(size <= rest_.size(), "a message that is too short");
    const ConstBytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  ConstBytes rest_;
};

// A list of capabilities, and the rest, by a Writer or a Reader.
template <typename Stream>
void pass(Stream& stream, DeviceAttributes& all) {
  stream(all.name)(all.wire)(all.gid)(all.path_mtu_bytes)(all.max_message_bytes);
  stream(all.max_queue_pairs)(all.max_work_requests)(all.max_pieces)(all.max_inline_bytes);
  stream(all.max_completions)(all.max_regions)(all.max_reads_in_flight);
  stream(all.max_datagram_bytes)(all.placement_order)(all.flush_worth);
  stream(all.durable);
  stream(all.costs_by_message);
  std::size_t count = all.capabilities.size();
  stream(count);
  all.capabilities.resize(count);
  for (Capability& capability : all.capabilities) {
    stream(capability.name)(capability.support)(capability.how);
  }
}

}  // namespace remora::fabric::contract::far
