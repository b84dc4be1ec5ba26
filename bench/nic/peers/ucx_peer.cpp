// Empty where the library is not installed.
#ifdef REMORA_UCX

#include <cstring>
#include <utility>

#include "bench/nic/child.h"
#include "bench/nic/peers/peers.h"
#include "bench/nic/peers/ucx_end.h"

namespace remora::bench {
namespace {

// Both transports need the target's memory and none of its time.
Status serve(const ChildContext& context, const std::string& transport, Bytes memory) {
  REMORA_TRY_RESULT(end, UcxEnd::open(transport));
  REMORA_TRY(memory.empty() ? (*end)->allocate(target_bytes) : (*end)->register_memory(memory));
  touch((*end)->memory());
  REMORA_TRY_RESULT(address, (*end)->address());
  REMORA_TRY(context.ready(std::as_bytes(std::span(&*address, 1))));
  context.sleep_until_ending();
  return Status();
}

// What the two transports share.
class UcxPeer : public Contender {
 public:
  UcxPeer(SharedMemory local, std::unique_ptr<Child> child)
      : local_(std::move(local)), child_(std::move(child)) {}

  Status open(const std::string& transport) {
    REMORA_CHECK(child_->message().size() == sizeof peer_, "the target tells its address");
    std::memcpy(&peer_, child_->message().data(), sizeof peer_);
    REMORA_TRY_RESULT(end, UcxEnd::open(transport));
    end_ = std::move(end).value();
    return end_->connect(peer_);
  }

  pid_t process() const override { return child_->process(); }
  // Both transports copy by themselves: posix what is mapped, cma by the kernel.
  bool is_one_sided() const override { return true; }
  Bytes local() override { return local_.bytes(); }

 protected:
  SharedMemory local_;
  std::unique_ptr<Child> child_;
  UcxAddress peer_;
  std::unique_ptr<UcxEnd> end_;
};

// A put is complete when it returns; a window ends with a flush.
class UcxPosix final : public UcxPeer {
 public:
  using UcxPeer::UcxPeer;

  // Shared memory of UCT's own is all that it can map.
  Status look() {
    REMORA_TRY_RESULT(here, end_->mapped(peer_.memory));
    view_ = Bytes(*here, target_bytes);
    touch(view_);
    return Status();
  }

  std::string name() const override { return "UCX posix"; }
  Bytes view() override { return view_; }

  Status run(const Shape& shape, std::uint64_t operations) override {
    for (std::uint64_t i = 0; i < operations;) {
      for (std::size_t slot = 0; slot < shape.depth && i < operations; ++slot, ++i) {
        std::byte* local = local_.bytes().data() + slot * shape.size_bytes;
        const std::uint64_t remote = peer_.memory + next_offset(shape.size_bytes);
        const ucs_status_t status = transfer(shape, local, remote);
        if (status != UCS_OK) {
          return ucx_failure("uct_ep_put_short or uct_ep_get_bcopy", status);
        }
      }
      if (const ucs_status_t status = uct_ep_flush(end_->endpoint(), 0, nullptr);
          status != UCS_OK) {
        return ucx_failure("uct_ep_flush", status);
      }
    }
    return Status();
  }

 private:
  ucs_status_t transfer(const Shape& shape, std::byte* local, std::uint64_t remote) {
    if (shape.verb == Verb::write) {
      return uct_ep_put_short(end_->endpoint(), local, static_cast<unsigned>(shape.size_bytes),
                              remote, end_->key());
    }
    return uct_ep_get_bcopy(
        end_->endpoint(),
        [](void* to, const void* from, std::size_t size) { std::memcpy(to, from, size); }, local,
        shape.size_bytes, remote, end_->key(), nullptr);
  }

  Bytes view_;
};

// Operations may be under way when they return; the completion counts them.
class UcxCma final : public UcxPeer {
 public:
  UcxCma(SharedMemory local, SharedMemory target, std::unique_ptr<Child> child)
      : UcxPeer(std::move(local), std::move(child)), target_(std::move(target)) {}

  std::string name() const override { return "UCX cma"; }
  Bytes view() override { return target_.bytes(); }

  Status run(const Shape& shape, std::uint64_t operations) override {
    Patience patience("the transport cma");
    // One more than what is in flight: it is never told that all are complete.
    uct_completion_t completion{};
    completion.func = [](uct_completion_t*) {};
    completion.count = 1;
    completion.status = UCS_OK;
    for (std::uint64_t posted = 0; posted < operations || completion.count > 1;) {
      const bool room = static_cast<std::size_t>(completion.count - 1) < shape.depth;
      if (posted < operations && room) {
        REMORA_TRY(post(shape, posted % shape.depth, completion));
        ++posted;
        continue;
      }
      end_->progress();
      REMORA_TRY(patience.spin());
    }
    return completion.status == UCS_OK ? Status() : ucx_failure("a transfer", completion.status);
  }

 private:
  Status post(const Shape& shape, std::size_t slot, uct_completion_t& completion) {
    const std::uint64_t remote = peer_.memory + next_offset(shape.size_bytes);
    uct_iov_t piece{};
    piece.buffer = local_.bytes().data() + slot * shape.size_bytes;
    piece.length = shape.size_bytes;
    piece.count = 1;
    Patience patience("room on the transport cma");
    for (;;) {
      ++completion.count;
      const ucs_status_t status =
          shape.verb == Verb::write
              ? uct_ep_put_zcopy(end_->endpoint(), &piece, 1, remote, end_->key(), &completion)
              : uct_ep_get_zcopy(end_->endpoint(), &piece, 1, remote, end_->key(), &completion);
      if (status == UCS_INPROGRESS) {
        return Status();
      }
      --completion.count;
      if (status != UCS_ERR_NO_RESOURCE) {
        return status == UCS_OK ? Status() : ucx_failure("uct_ep_put_zcopy or get_zcopy", status);
      }
      end_->progress();
      REMORA_TRY(patience.spin());
    }
  }

  SharedMemory target_;
};

Result<std::unique_ptr<Child>> start_target(int core, const char* transport, Bytes memory) {
  return Child::start(
      core, [=](const ChildContext& context) { return serve(context, transport, memory); });
}

Result<SharedMemory> make_local() {
  Result<SharedMemory> local = SharedMemory::create(local_bytes);
  if (local.ok()) {
    touch(local->bytes());
  }
  return local;
}

}  // namespace

Result<std::unique_ptr<Contender>> start_ucx_posix(int far_core) {
  REMORA_TRY_RESULT(local, make_local());
  REMORA_TRY_RESULT(child, start_target(far_core, "posix", {}));
  auto peer = std::make_unique<UcxPosix>(std::move(local).value(), std::move(child).value());
  REMORA_TRY(peer->open("posix"));
  REMORA_TRY(peer->look());
  return std::unique_ptr<Contender>(std::move(peer));
}

Result<std::unique_ptr<Contender>> start_ucx_cma(int far_core) {
  Result<SharedMemory> local = make_local();
  Result<SharedMemory> target = SharedMemory::create(target_bytes);
  if (!local.ok() || !target.ok()) {
    return local.ok() ? target.status() : local.status();
  }
  REMORA_TRY_RESULT(child, start_target(far_core, "cma", target->bytes()));
  auto peer = std::make_unique<UcxCma>(std::move(local).value(), std::move(target).value(),
                                       std::move(child).value());
  REMORA_TRY(peer->open("cma"));
  return std::unique_ptr<Contender>(std::move(peer));
}

}  // namespace remora::bench

#endif  // REMORA_UCX
