#include "lab/measured/nic/ring_target.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "lab/measured/socket_folder.h"

namespace remora::lab {

using fabric::nic::LinkId;
using fabric::nic::LinkOwner;
using fabric::nic::joined::MappedWire;
using fabric::nic::ring::RingWire;

namespace {

constexpr std::uint64_t patience_ns = 10'000'000'000;
constexpr std::uint64_t mapping_ns = 1'000'000'000;

ConstBytes bytes_of(const Introduction& introduction) {
  return std::as_bytes(std::span(&introduction, 1));
}

// Answers the first introduction with its own, and is connected from then on.
class TargetProcess final : LinkOwner {
 public:
  TargetProcess(bool mapped, std::uint64_t memory_bytes, std::uint64_t depth,
                const Answering& answering)
      : mapped_(mapped), memory_bytes_(memory_bytes), depth_(depth), answering_(answering) {}

  Status run(const std::string& path, int ready) {
    REMORA_TRY_RESULT(wire, HostWire::create(loop_, this, mapped_));
    wire_ = std::move(wire).value();
    REMORA_TRY_RESULT(side, Side::create(loop_, wire_->wire(), memory_bytes_, depth_,
                                         fabric::nic::Keys::from_system()));
    side_ = std::move(side).value();
    REMORA_TRY(wire_->wire().listen(path));
    const char told = 1;
    if (write(ready, &told, 1) != 1) {
      return os_failure("cannot tell that the target is ready", errno);
    }
    while (!gone_) {
      loop_.turn();
    }
    return Status();
  }

 private:
  void control(LinkId link, ConstBytes bytes) override {
    if (answers_ || bytes.size() != sizeof(Introduction)) {
      return;
    }
    Introduction peer;
    std::memcpy(&peer, bytes.data(), sizeof peer);
    if (side_->connect(peer).ok() &&
        wire_->wire().send_control(link, bytes_of(side_->introduction())).ok()) {
      answers_ = answering_(loop_, *side_);
    }
  }
  void link_down(LinkId) override { gone_ = true; }

  const bool mapped_;
  const std::uint64_t memory_bytes_;
  const std::uint64_t depth_;
  const Answering& answering_;
  PollLoop loop_;
  std::unique_ptr<HostWire> wire_;
  std::unique_ptr<Side> side_;
  std::shared_ptr<void> answers_;
  bool gone_ = false;
};

}  // namespace

Result<std::unique_ptr<HostWire>> HostWire::create(Runtime& runtime, LinkOwner* owner,
                                                   bool mapped) {
  std::unique_ptr<HostWire> wire(new HostWire());
  if (mapped) {
    REMORA_TRY_RESULT(made, MappedWire::create(runtime, owner));
    wire->mapped_ = std::move(made).value();
    return wire;
  }
  REMORA_TRY_RESULT(made, RingWire::create(runtime, owner));
  wire->ring_ = std::move(made).value();
  return wire;
}

Result<std::unique_ptr<RingTarget>> RingTarget::start(bool mapped, std::uint64_t memory_bytes,
                                                      std::uint64_t depth,
                                                      const Answering& answering) {
  REMORA_TRY_RESULT(folder, make_socket_folder());
  std::unique_ptr<RingTarget> target(new RingTarget(std::move(folder).value()));
  Result<std::unique_ptr<ChildTarget>> child = ChildTarget::start([&](int socket) {
    return TargetProcess(mapped, memory_bytes, depth, answering).run(target->path(), socket);
  });
  REMORA_TRY(child.status());
  target->child_ = std::move(child).value();
  char told = 0;
  if (read(target->child_->socket(), &told, 1) != 1) {
    return Status(Code::io_error, "the target process could not start");
  }
  return target;
}

RingTarget::~RingTarget() {
  child_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<Side>> RingClient::connect(const std::string& path,
                                                  std::uint64_t memory_bytes, std::uint64_t depth) {
  REMORA_TRY_RESULT(wire, HostWire::create(loop_, this, mapped_));
  wire_ = std::move(wire).value();
  REMORA_TRY_RESULT(side, Side::create(loop_, wire_->wire(), memory_bytes, depth,
                                       fabric::nic::Keys::from_system()));
  REMORA_TRY_RESULT(link, loop_.block_on(wire_->wire().connect(path)));
  if (Status status = wire_->wire().send_control(*link, bytes_of((*side)->introduction()));
      !status.ok()) {
    return status;
  }
  const std::uint64_t give_up_ns = loop_.now_ns() + patience_ns;
  while (!answer_) {
    if (down_ || loop_.now_ns() > give_up_ns) {
      return Status(Code::timed_out, "the target process does not answer");
    }
    loop_.turn();
  }
  REMORA_TRY((*side)->connect(*answer_));
  map((*side)->queue_pair().number(), (*side)->peer().memory.key);
  return side;
}

void RingClient::map(fabric::QpNumber own, fabric::RemoteKey key) {
  MappedWire* mapped = wire_->mapped();
  if (mapped == nullptr) {
    return;
  }
  mapped->ask(own, key);
  const std::uint64_t give_up_ns = loop_.now_ns() + mapping_ns;
  while (!mapped->is_mapped(own, key) && loop_.now_ns() < give_up_ns) {
    loop_.turn();
  }
}

void RingClient::control(LinkId, ConstBytes bytes) {
  if (bytes.size() == sizeof(Introduction) && !answer_) {
    answer_ = std::make_unique<Introduction>();
    std::memcpy(answer_.get(), bytes.data(), sizeof(Introduction));
  }
}

void RingClient::link_down(LinkId) {
  down_ = true;
}

}  // namespace remora::lab
