#include "cli/nic_bench/roce_target.h"

#include <sys/socket.h>

#include <utility>

#include "runtime/poll_loop.h"

namespace remora::cli {

using fabric::nic::IpEndpoint;
using fabric::nic::RoceWire;

namespace {

// Travels as it is between two processes of one program.
struct RoceIntroduction {
  Introduction side;
  IpEndpoint endpoint;
};

Status exchange(int socket, const RoceIntroduction& own, RoceIntroduction& peer) {
  constexpr auto size = static_cast<ssize_t>(sizeof own);
  if (send(socket, &own, sizeof own, MSG_NOSIGNAL) != size ||
      recv(socket, &peer, sizeof peer, MSG_WAITALL) != size) {
    return Status(Code::io_error, "the other process of the benchmark is gone");
  }
  return Status();
}

Status introduce(int socket, RoceWire& wire, Side& side) {
  RoceIntroduction peer;
  REMORA_TRY(exchange(socket, {side.introduction(), wire.local()}, peer));
  const auto link = wire.add_link({.endpoint = peer.endpoint, .gid = peer.side.queue_pair.gid});
  if (!link.ok()) {
    return link.status();
  }
  REMORA_TRY(side.connect(peer.side));
  // Neither begins before both are connected.
  RoceIntroduction ignored;
  return exchange(socket, {}, ignored);
}

Status serve_roce(int socket, std::uint64_t memory_bytes, std::uint64_t depth,
                  const Answering& answering) {
  PollLoop loop;
  Result<std::unique_ptr<RoceWire>> wire = loopback_roce_wire();
  if (!wire.ok()) {
    return wire.status();
  }
  Result<std::unique_ptr<Side>> side =
      Side::create(loop, **wire, memory_bytes, depth, fabric::nic::Keys::from_system());
  if (!side.ok()) {
    return side.status();
  }
  const std::shared_ptr<void> answers = answering(loop, **side);
  REMORA_TRY(introduce(socket, **wire, **side));
  for (;;) {  // until it is killed
    loop.turn();
  }
}

}  // namespace

Result<std::unique_ptr<RoceWire>> loopback_roce_wire() {
  Result<fabric::Gid> address = fabric::nic::parse_address("127.0.0.1");
  if (!address.ok()) {
    return address.status();
  }
  return RoceWire::create({.local = {*address, 0}});
}

Result<std::unique_ptr<RoceTarget>> RoceTarget::start(std::uint64_t memory_bytes,
                                                      std::uint64_t depth,
                                                      const Answering& answering) {
  Result<std::unique_ptr<ChildTarget>> child = ChildTarget::start(
      [&](int socket) { return serve_roce(socket, memory_bytes, depth, answering); });
  if (!child.ok()) {
    return child.status();
  }
  return std::unique_ptr<RoceTarget>(new RoceTarget(std::move(child).value()));
}

Result<std::unique_ptr<Side>> RoceTarget::connect(Runtime& runtime, std::uint64_t memory_bytes,
                                                  std::uint64_t depth) {
  Result<std::unique_ptr<RoceWire>> wire = loopback_roce_wire();
  if (!wire.ok()) {
    return wire.status();
  }
  wire_ = std::move(wire).value();
  Result<std::unique_ptr<Side>> side =
      Side::create(runtime, *wire_, memory_bytes, depth, fabric::nic::Keys::from_system());
  if (!side.ok()) {
    return side.status();
  }
  if (Status status = introduce(child_->socket(), *wire_, **side); !status.ok()) {
    return status;
  }
  return side;
}

}  // namespace remora::cli
