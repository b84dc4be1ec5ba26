// SharedQueue: a shared receive queue of a verbs device (SRQ). Its receives complete in any order:
// their names have a generation that no queue pair has, and what they stand for is kept here.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/shared_receives.h"
#include "fabric/verbs/work_ring.h"

namespace remora::fabric::verbs {

class Context;
class DomainCore;

class SharedQueue final : public SharedReceives {
 public:
  static Result<std::unique_ptr<SharedReceives>> create(Context& context,
                                                        std::shared_ptr<DomainCore> domain,
                                                        const SharedReceivesOptions& options);
  SharedQueue(const SharedQueue&) = delete;
  SharedQueue& operator=(const SharedQueue&) = delete;
  ~SharedQueue() override;

  Status post_receive(std::span<const ReceiveWork> works) override;
  Status arm_limit(std::uint32_t limit) override;
  std::uint64_t limit_events() const override;

  ibv_srq* queue() const { return queue_; }
  const DomainCore* domain() const { return domain_.get(); }
  // The limit was reached.
  void note_event() { ++events_; }

  struct Posted {
    std::uint64_t id = 0;
    std::byte* begin = nullptr;  // of its first piece
  };
  // The receive of this name, which has completed.
  std::optional<Posted> take(std::uint32_t place);

 private:
  SharedQueue(Context& context, std::shared_ptr<DomainCore> domain,
              const SharedReceivesOptions& options);

  struct Entry {
    Posted work;
    bool posted = false;
  };

  Context& context_;
  const std::shared_ptr<DomainCore> domain_;
  const std::uint32_t max_pieces_;
  ibv_srq* queue_ = nullptr;
  std::uint16_t slot_ = 0;
  bool placed_ = false;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;  // places of entries
  std::vector<ibv_sge> pieces_;
  std::uint64_t events_ = 0;
};

}  // namespace remora::fabric::verbs
