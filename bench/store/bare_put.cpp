#include "bench/store/bare_put.h"

#include <utility>

#include "base/check.h"
#include "base/crc32c.h"

namespace remora::bench {
namespace {

// As the store's runs have it: the server on the first processor, the clients on the next.
constexpr unsigned server_seat = 0;
constexpr unsigned client_seat = 1;
constexpr std::size_t places_per_connection = 4;

// In whole lines; where these are whole pages, one line more: with values that all begin at the
// same place in a page, a fifth of the rate was lost.
std::size_t stride_of(std::size_t value_bytes) {
  const std::size_t lines = (value_bytes + cache_line_bytes - 1) / cache_line_bytes;
  const std::size_t size_bytes = lines * cache_line_bytes;
  return size_bytes % page_bytes == 0 ? size_bytes + cache_line_bytes : size_bytes;
}

// Gives the processor away after many looks in vain, since the other side may have no other one.
// Between two that run it hardly ever comes to that.
class Lookout {
 public:
  void look(bool found) {
    in_vain_ = found ? 0 : in_vain_ + 1;
    if (in_vain_ == looks_max) {
      in_vain_ = 0;
      std::this_thread::yield();
    }
  }

 private:
  static constexpr std::uint32_t looks_max = 2000;
  std::uint32_t in_vain_ = 0;
};

}  // namespace

Result<std::unique_ptr<BarePut>> BarePut::start(const BarePutOptions& options) {
  REMORA_TRY_RESULT(memory, SharedMemory::create(options.memory_bytes));
  touch(memory->bytes());
  return std::unique_ptr<BarePut>(new BarePut(options, std::move(memory).value()));
}

BarePut::BarePut(const BarePutOptions& options, SharedMemory memory)
    : value_bytes_(options.value_bytes),
      connections_(options.connections),
      stride_bytes_(stride_of(options.value_bytes)),
      memory_(std::move(memory)),
      values_(connections_ * stride_bytes_) {
  REMORA_CHECK(connections_ > 0 && connections_ <= most_connections, "so many have no lines");
  REMORA_CHECK(value_bytes_ >= word_bytes, "a value changes in its first word");
  REMORA_CHECK(memory_.bytes().size() >= places_per_connection * connections_ * stride_bytes_,
               "a value could be overwritten before it is answered");
  server_ = std::thread([this] { serve(); });
  // Not before: a thread begins with the processors of the one that made it.
  seat_.emplace(client_seat);
}

BarePut::~BarePut() {
  ending_.store(true, std::memory_order_relaxed);
  server_.join();
}

void BarePut::run(std::uint64_t operations) {
  Lookout lookout;
  for (std::uint64_t put = 0; put < operations;) {
    const std::uint64_t before = put;
    for (std::size_t connection = 0; connection < connections_ && put < operations; ++connection) {
      if (is_answered(connection)) {
        (void)place(connection);
        publish(connection);
        ++put;
      }
    }
    lookout.look(put != before);
  }
  await_all();
}

void BarePut::put_spoilt() {
  place(0)[value_bytes_ / 2] ^= std::byte{1};
  publish(0);
  await_all();
}

void BarePut::serve() {
  const lab::Seat seat(server_seat);
  std::array<std::uint64_t, most_connections> seen = {};
  Lookout lookout;
  while (!ending_.load(std::memory_order_relaxed)) {
    bool found = false;
    for (std::size_t connection = 0; connection < connections_; ++connection) {
      const Request& request = requests_[connection];
      const std::uint64_t sequence = request.sequence.load(std::memory_order_acquire);
      if (sequence == seen[connection]) {
        continue;
      }
      const ConstBytes value = memory_.bytes().subspan(request.offset, value_bytes_);
      if (crc32c(value) != request.checksum) {
        ++mismatches_;
      }
      ++arrived_;
      seen[connection] = sequence;
      replies_[connection].sequence.store(sequence, std::memory_order_release);
      found = true;
    }
    lookout.look(found);
  }
}

bool BarePut::is_answered(std::size_t connection) const {
  return replies_[connection].sequence.load(std::memory_order_acquire) == posted_[connection];
}

void BarePut::await_all() const {
  Lookout lookout;
  for (std::size_t connection = 0; connection < connections_; ++connection) {
    while (!is_answered(connection)) {
      lookout.look(false);
    }
  }
}

Bytes BarePut::place(std::size_t connection) {
  const Bytes value = Bytes(values_).subspan(connection * stride_bytes_, value_bytes_);
  store(value.data(), ++number_);
  Request& request = requests_[connection];
  request.checksum = crc32c(value);
  request.offset = next_offset_;
  const Bytes there = memory_.bytes().subspan(next_offset_, value_bytes_);
  copy_bytes(there.data(), value);
  next_offset_ += stride_bytes_;
  if (memory_.bytes().size() - next_offset_ < stride_bytes_) {
    next_offset_ = 0;
  }
  return there;
}

void BarePut::publish(std::size_t connection) {
  requests_[connection].sequence.store(++posted_[connection], std::memory_order_release);
}

}  // namespace remora::bench
