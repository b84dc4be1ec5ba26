// Empty where the library is not installed.
#ifdef REMORA_LIBFABRIC

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "bench/nic/child.h"
#include "bench/nic/peers/libfabric_end.h"
#include "bench/nic/peers/peers.h"

namespace remora::bench {
namespace {

struct Provider {
  const char* name;
  const char* provider;
  const char* address;
};
constexpr Provider shm_provider{"libfabric shm", "shm", nullptr};
constexpr Provider tcp_provider{"libfabric tcp", "tcp;ofi_rxm", "127.0.0.1"};

// Reading the completion queue is what makes the provider serve its peers.
Status serve(const ChildContext& context, Bytes memory, const Provider& provider) {
  touch(memory);
  REMORA_TRY_RESULT(end, LibfabricEnd::open(memory, provider.provider, provider.address));
  REMORA_TRY_RESULT(address, (*end)->address());
  REMORA_TRY(context.ready(std::as_bytes(std::span(&*address, 1))));
  while (!context.ending()) {
    fi_cq_entry entry;
    fi_cq_read(&(*end)->completions(), &entry, 1);
  }
  return Status();
}

class LibfabricPeer final : public Contender {
 public:
  LibfabricPeer(const Provider& provider, SharedMemory target, SharedMemory local,
                std::unique_ptr<Child> child)
      : provider_(provider),
        target_(std::move(target)),
        local_(std::move(local)),
        child_(std::move(child)) {}

  Status connect() {
    REMORA_CHECK(child_->message().size() == sizeof peer_, "the target tells its address");
    std::memcpy(&peer_, child_->message().data(), sizeof peer_);
    REMORA_TRY_RESULT(end,
                      LibfabricEnd::open(local_.bytes(), provider_.provider, provider_.address));
    end_ = std::move(end).value();
    REMORA_TRY_RESULT(to, end_->connect(peer_));
    to_ = *to;
    return Status();
  }

  std::string name() const override { return provider_.name; }
  pid_t process() const override { return child_->process(); }
  Bytes local() override { return local_.bytes(); }
  Bytes view() override { return target_.bytes(); }

  Status run(const Shape& shape, std::uint64_t operations) override {
    Patience patience("the target of libfabric");
    std::array<fi_cq_entry, most_depth> completions;
    std::uint64_t posted = 0;
    for (std::uint64_t completed = 0; completed < operations;) {
      for (; posted < operations && posted - completed < shape.depth; ++posted) {
        const ssize_t error = post(shape, (posted % shape.depth) * shape.size_bytes);
        if (error == -FI_EAGAIN) {
          break;
        }
        if (error != 0) {
          return libfabric_failure("fi_write or fi_read", error);
        }
        pending_.reset();
      }
      const ssize_t count =
          fi_cq_read(&end_->completions(), completions.data(), completions.size());
      if (count < 0 && count != -FI_EAGAIN) {
        return libfabric_failure("fi_cq_read", count);
      }
      if (count == -FI_EAGAIN) {
        REMORA_TRY(patience.spin());
        continue;
      }
      completed += static_cast<std::uint64_t>(count);
    }
    return Status();
  }

 private:
  // An operation that found no room keeps its place for the next attempt.
  ssize_t post(const Shape& shape, std::size_t local_offset) {
    if (!pending_) {
      pending_ = next_offset(shape.size_bytes);
    }
    std::byte* local = local_.bytes().data() + local_offset;
    const std::uint64_t remote = peer_.memory + *pending_;
    return shape.verb == Verb::write
               ? fi_write(&end_->endpoint(), local, shape.size_bytes, end_->local_descriptor(), to_,
                          remote, peer_.key, nullptr)
               : fi_read(&end_->endpoint(), local, shape.size_bytes, end_->local_descriptor(), to_,
                         remote, peer_.key, nullptr);
  }

  const Provider& provider_;
  SharedMemory target_;
  SharedMemory local_;
  std::unique_ptr<Child> child_;
  LibfabricAddress peer_;
  std::unique_ptr<LibfabricEnd> end_;
  fi_addr_t to_ = FI_ADDR_UNSPEC;
  std::optional<std::size_t> pending_;
};

Result<std::unique_ptr<Contender>> start_libfabric(int far_core, const Provider& provider) {
  Result<SharedMemory> target = SharedMemory::create(target_bytes);
  Result<SharedMemory> local = SharedMemory::create(local_bytes);
  if (!target.ok() || !local.ok()) {
    return target.ok() ? local.status() : target.status();
  }
  touch(local->bytes());
  Result<std::unique_ptr<Child>> child =
      Child::start(far_core, [bytes = target->bytes(), &provider](const ChildContext& context) {
        return serve(context, bytes, provider);
      });
  REMORA_TRY(child.status());
  auto contender = std::make_unique<LibfabricPeer>(
      provider, std::move(target).value(), std::move(local).value(), std::move(child).value());
  REMORA_TRY(contender->connect());
  return std::unique_ptr<Contender>(std::move(contender));
}

}  // namespace

Result<std::unique_ptr<Contender>> start_libfabric_shm(int far_core) {
  return start_libfabric(far_core, shm_provider);
}

Result<std::unique_ptr<Contender>> start_libfabric_tcp(int far_core) {
  return start_libfabric(far_core, tcp_provider);
}

}  // namespace remora::bench

#endif  // REMORA_LIBFABRIC
