// Empty where the library is not installed.
#ifdef REMORA_UCX

#include <array>
#include <cstring>
#include <utility>

#include "bench/nic/child.h"
#include "bench/nic/peers/peers.h"
#include "bench/nic/peers/ucx_end.h"

namespace remora::bench {
namespace {

constexpr const char* tcp_transport = "tcp";
constexpr const char* loopback_device = "lo";

// The target's own progress is what stores the bytes.
Status serve_tcp(const ChildContext& context, Bytes memory) {
  REMORA_TRY_RESULT(end, UcxEnd::open(tcp_transport, loopback_device));
  REMORA_TRY((*end)->register_memory(memory));
  touch(memory);
  REMORA_TRY_RESULT(address, (*end)->address());
  REMORA_TRY(context.ready(std::as_bytes(std::span(&*address, 1))));
  while (!context.ending()) {
    (*end)->progress();
  }
  return Status();
}

// A put is complete when a flush behind it is: only that is told by the target. So puts go in
// groups with a flush behind each, some of which are on their way. There is no get.
class UcxTcp final : public Contender {
 public:
  UcxTcp(SharedMemory local, SharedMemory target, std::unique_ptr<Child> child)
      : local_(std::move(local)), target_(std::move(target)), child_(std::move(child)) {}

  Status open() {
    REMORA_CHECK(child_->message().size() == sizeof peer_, "the target tells its address");
    std::memcpy(&peer_, child_->message().data(), sizeof peer_);
    REMORA_TRY_RESULT(end, UcxEnd::open(tcp_transport, loopback_device));
    end_ = std::move(end).value();
    return end_->connect(peer_);
  }

  std::string name() const override { return "UCX tcp"; }
  pid_t process() const override { return child_->process(); }
  Bytes local() override { return local_.bytes(); }
  Bytes view() override { return target_.bytes(); }

  Status run(const Shape& shape, std::uint64_t operations) override {
    return shape.verb == Verb::write ? put_all(shape, operations) : look_at(shape, operations);
  }

 private:
  static constexpr std::size_t groups_in_flight = 4;
  struct Group {
    uct_completion_t completion{};
  };

  Status look_at(const Shape& shape, std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      std::memcpy(local_.bytes().data() + i % shape.depth * shape.size_bytes,
                  target_.bytes().data() + next_offset(shape.size_bytes), shape.size_bytes);
    }
    return Status();
  }

  Status put_all(const Shape& shape, std::uint64_t operations) {
    const std::size_t groups = std::min(shape.depth, groups_in_flight);
    const std::size_t in_group = shape.depth / groups;
    std::size_t next = 0;
    for (std::uint64_t posted = 0; posted < operations; next = (next + 1) % groups) {
      REMORA_TRY(await(groups_[next]));
      for (std::size_t i = 0; i < in_group && posted < operations; ++i, ++posted) {
        REMORA_TRY(put(shape, posted % shape.depth));
      }
      REMORA_TRY(flush(groups_[next]));
    }
    for (Group& group : groups_) {
      REMORA_TRY(await(group));
    }
    return Status();
  }

  Status await(Group& group) {
    Patience patience("the target of UCX tcp");
    while (group.completion.count > 0) {
      end_->progress();
      REMORA_TRY(patience.spin());
    }
    return group.completion.status == UCS_OK ? Status()
                                             : ucx_failure("a put", group.completion.status);
  }

  template <typename Call>
  Status insist(const char* what, Call call) {
    Patience patience("room on the transport tcp");
    for (;;) {
      const ucs_status_t status = call();
      if (status == UCS_OK || status == UCS_INPROGRESS) {
        return Status();
      }
      if (status != UCS_ERR_NO_RESOURCE) {
        return ucx_failure(what, status);
      }
      end_->progress();
      REMORA_TRY(patience.spin());
    }
  }

  Status put(const Shape& shape, std::size_t slot) {
    const std::uint64_t remote = peer_.memory + next_offset(shape.size_bytes);
    uct_iov_t piece{};
    piece.buffer = local_.bytes().data() + slot * shape.size_bytes;
    piece.length = shape.size_bytes;
    piece.count = 1;
    return insist("uct_ep_put_zcopy", [&] {
      return uct_ep_put_zcopy(end_->endpoint(), &piece, 1, remote, end_->key(), nullptr);
    });
  }

  Status flush(Group& group) {
    group.completion.func = [](uct_completion_t*) {};
    group.completion.status = UCS_OK;
    return insist("uct_ep_flush", [&] {
      group.completion.count = 1;
      const ucs_status_t status = uct_ep_flush(end_->endpoint(), 0, &group.completion);
      group.completion.count = status == UCS_INPROGRESS ? group.completion.count : 0;
      return status;
    });
  }

  SharedMemory local_;
  SharedMemory target_;
  std::unique_ptr<Child> child_;
  UcxAddress peer_;
  std::unique_ptr<UcxEnd> end_;
  std::array<Group, groups_in_flight> groups_;
};

}  // namespace

Result<std::unique_ptr<Contender>> start_ucx_tcp(int far_core) {
  Result<SharedMemory> local = SharedMemory::create(local_bytes);
  Result<SharedMemory> target = SharedMemory::create(target_bytes);
  if (!local.ok() || !target.ok()) {
    return local.ok() ? target.status() : local.status();
  }
  touch(local->bytes());
  Result<std::unique_ptr<Child>> child = Child::start(
      far_core,
      [bytes = target->bytes()](const ChildContext& context) { return serve_tcp(context, bytes); });
  REMORA_TRY(child.status());
  auto peer = std::make_unique<UcxTcp>(std::move(local).value(), std::move(target).value(),
                                       std::move(child).value());
  REMORA_TRY(peer->open());
  return std::unique_ptr<Contender>(std::move(peer));
}

}  // namespace remora::bench

#endif  // REMORA_UCX
