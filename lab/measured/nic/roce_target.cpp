#include "lab/measured/nic/roce_target.h"

#include <sys/socket.h>

#include <utility>

#include "runtime/poll_loop.h"

namespace remora::lab {

using fabric::nic::roce::IpEndpoint;
using fabric::nic::roce::RoceWire;

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
  REMORA_TRY_RESULT(link, wire.add_link({.endpoint = peer.endpoint,
                                         .gid = peer.side.queue_pair.gid,
                                         .agreed = {.verbs = fabric::all_vendor_verbs}}));
  REMORA_TRY(side.connect(peer.side));
  // Neither begins before both are connected.
  RoceIntroduction ignored;
  return exchange(socket, {}, ignored);
}

Status serve_roce(int socket, std::uint64_t memory_bytes, std::uint64_t depth,
                  const Answering& answering) {
  PollLoop loop;
  REMORA_TRY_RESULT(wire, loopback_roce_wire());
  REMORA_TRY_RESULT(
      side, Side::create(loop, **wire, memory_bytes, depth, fabric::nic::Keys::from_system()));
  const std::shared_ptr<void> answers = answering(loop, **side);
  REMORA_TRY(introduce(socket, **wire, **side));
  for (;;) {  // until it is killed
    loop.turn();
  }
}

}  // namespace

Result<std::unique_ptr<RoceWire>> loopback_roce_wire() {
  REMORA_TRY_RESULT(address, fabric::nic::roce::parse_address("127.0.0.1"));
  return RoceWire::create({.local = {*address, 0}});
}

Result<std::unique_ptr<RoceTarget>> RoceTarget::start(std::uint64_t memory_bytes,
                                                      std::uint64_t depth,
                                                      const Answering& answering) {
  Result<std::unique_ptr<ChildTarget>> child = ChildTarget::start(
      [&](int socket) { return serve_roce(socket, memory_bytes, depth, answering); });
  REMORA_TRY(child.status());
  return std::unique_ptr<RoceTarget>(new RoceTarget(std::move(child).value()));
}

Result<std::unique_ptr<Side>> RoceTarget::connect(Runtime& runtime, std::uint64_t memory_bytes,
                                                  std::uint64_t depth) {
  REMORA_TRY_RESULT(wire, loopback_roce_wire());
  wire_ = std::move(wire).value();
  REMORA_TRY_RESULT(
      side, Side::create(runtime, *wire_, memory_bytes, depth, fabric::nic::Keys::from_system()));
  REMORA_TRY(introduce(child_->socket(), *wire_, **side));
  return side;
}

}  // namespace remora::lab
