#include "bench/nic/udp_ideal.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "bench/nic/child.h"
#include "fabric/nic/wire/roce/roce_limits.h"
#include "fabric/nic/wire/roce/udp_socket.h"

namespace remora::bench {
namespace {

using fabric::nic::roce::IpEndpoint;
using fabric::nic::roce::UdpSocket;
namespace limits = fabric::nic::roce::limits;

constexpr std::size_t largest_piece = 4096;
constexpr std::size_t datagrams_on_their_way = 128;

struct PieceHead {
  std::uint64_t offset;
  std::uint64_t size_bytes;
};

Result<UdpSocket> open_loopback() {
  REMORA_TRY_RESULT(address, fabric::nic::roce::parse_address("127.0.0.1"));
  return UdpSocket::open({*address, 0});
}

// Answers with how many datagrams came so far.
Status serve_udp(const ChildContext& context, Bytes target) {
  REMORA_TRY_RESULT(socket, open_loopback());
  const std::uint16_t port = socket->local().port;
  REMORA_TRY(context.ready(object_bytes(port)));
  std::vector<std::byte> buffer(limits::receive_bytes);
  std::uint64_t came = 0;
  while (!context.ending()) {
    UdpSocket::Arrived arrived;
    if (!socket->receive(buffer, arrived)) {
      continue;
    }
    for (ConstBytes rest = arrived.bytes; !rest.empty();) {
      const ConstBytes one = rest.first(std::min(rest.size(), arrived.segment_bytes));
      rest = rest.subspan(one.size());
      PieceHead head;
      std::memcpy(&head, one.data(), sizeof head);
      std::memcpy(target.data() + head.offset, one.data() + sizeof head, head.size_bytes);
      ++came;
    }
    const SocketAddress back = fabric::nic::roce::socket_address(arrived.from);
    (void)socket->send(back, object_bytes(came), sizeof came);
  }
  return Status();
}

class UdpIdeal final : public Contender {
 public:
  UdpIdeal(SharedMemory target, SharedMemory local, std::unique_ptr<Child> child, UdpSocket socket)
      : target_(std::move(target)),
        local_(std::move(local)),
        child_(std::move(child)),
        socket_(std::move(socket)),
        out_(limits::batch_bytes),
        in_(limits::receive_bytes) {
    std::uint16_t port = 0;
    std::memcpy(&port, child_->message().data(), sizeof port);
    to_ = fabric::nic::roce::socket_address({socket_.local().address, port});
  }

  std::string name() const override { return "bare UDP"; }
  pid_t process() const override { return child_->process(); }
  Bytes local() override { return local_.bytes(); }
  Bytes view() override { return target_.bytes(); }

  Status run(const Shape& shape, std::uint64_t operations) override {
    return shape.verb == Verb::write ? write_all(shape, operations) : look_at(shape, operations);
  }

 private:
  Status look_at(const Shape& shape, std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const std::size_t offset = next_offset(shape.size_bytes);
      std::memcpy(local_.bytes().data() + i % shape.depth * shape.size_bytes,
                  target_.bytes().data() + offset, shape.size_bytes);
    }
    return Status();
  }

  Status write_all(const Shape& shape, std::uint64_t operations) {
    const std::size_t piece = std::min(shape.size_bytes, largest_piece);
    const std::uint64_t pieces = shape.size_bytes / piece;
    const std::uint64_t end = sent_ + operations * pieces;
    const std::uint64_t most =
        std::min<std::uint64_t>(shape.depth * pieces, datagrams_on_their_way);
    const std::size_t fit =
        std::min<std::size_t>(limits::batch_packets, out_.size() / (sizeof(PieceHead) + piece));
    Patience patience("the target of the datagrams");
    std::uint64_t posted = 0;
    std::size_t offset = 0;
    for (std::size_t part = 0; came_ < end;) {
      std::size_t bytes = 0;
      std::size_t count = 0;
      for (; count < fit && sent_ + count < end && sent_ + count - came_ < most; ++count) {
        if (part == 0) {
          offset = next_offset(shape.size_bytes);
        }
        const std::size_t from = posted % shape.depth * shape.size_bytes + part * piece;
        const PieceHead head{offset + part * piece, piece};
        std::memcpy(out_.data() + bytes, &head, sizeof head);
        std::memcpy(out_.data() + bytes + sizeof head, local_.bytes().data() + from, piece);
        bytes += sizeof head + piece;
        part = part + 1 == pieces ? 0 : part + 1;
        posted += part == 0 ? 1 : 0;
      }
      if (count != 0) {
        while (socket_.send(to_, ConstBytes(out_).first(bytes), sizeof(PieceHead) + piece) !=
               UdpSocket::Sent::yes) {
          REMORA_TRY(patience.spin());
        }
        sent_ += count;
      }
      if (!hear()) {
        REMORA_TRY(patience.spin());
      }
    }
    return Status();
  }

  bool hear() {
    UdpSocket::Arrived arrived;
    if (!socket_.receive(in_, arrived) || arrived.bytes.size() < sizeof came_) {
      return false;
    }
    std::memcpy(&came_, arrived.bytes.data() + arrived.bytes.size() - sizeof came_, sizeof came_);
    return true;
  }

  SharedMemory target_;
  SharedMemory local_;
  std::unique_ptr<Child> child_;
  UdpSocket socket_;
  SocketAddress to_{};
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::uint64_t sent_ = 0;  // datagrams
  std::uint64_t came_ = 0;  // of them, as the target says
};

}  // namespace

Result<std::unique_ptr<Contender>> start_udp(int core) {
  Result<SharedMemory> target = SharedMemory::create(target_bytes);
  Result<SharedMemory> local = SharedMemory::create(local_bytes);
  Result<UdpSocket> socket = open_loopback();
  if (!target.ok() || !local.ok() || !socket.ok()) {
    return !target.ok() ? target.status() : !local.ok() ? local.status() : socket.status();
  }
  touch(local->bytes());
  touch(target->bytes());
  Result<std::unique_ptr<Child>> child =
      Child::start(core, [bytes = target->bytes()](const ChildContext& context) {
        touch(bytes);
        return serve_udp(context, bytes);
      });
  REMORA_TRY(child.status());
  return std::unique_ptr<Contender>(
      std::make_unique<UdpIdeal>(std::move(target).value(), std::move(local).value(),
                                 std::move(child).value(), std::move(socket).value()));
}

}  // namespace remora::bench
