#include "fabric/verbs/shared_queue.h"

#include <algorithm>
#include <cerrno>

#include "fabric/verbs/context.h"
#include "fabric/verbs/domain.h"
#include "fabric/verbs/translate.h"

namespace remora::fabric::verbs {

SharedQueue::SharedQueue(Context& context, std::shared_ptr<DomainCore> domain,
                         const SharedReceivesOptions& options)
    : context_(context),
      domain_(std::move(domain)),
      max_pieces_(options.max_pieces),
      entries_(options.max_receives),
      pieces_(std::max(options.max_pieces, 1U)) {
  for (std::uint32_t place = options.max_receives; place > 0; --place) {
    free_.push_back(place - 1);
  }
}

Result<std::unique_ptr<SharedReceives>> SharedQueue::create(Context& context,
                                                            std::shared_ptr<DomainCore> domain,
                                                            const SharedReceivesOptions& options) {
  const DeviceAttributes& most = context.attributes();
  if (options.max_receives == 0 || options.max_receives > most.max_work_requests ||
      options.max_pieces > most.max_pieces) {
    return Status(Code::invalid_argument,
                  "the options exceed the limits of the device; see its attributes");
  }
  std::unique_ptr<SharedQueue> made(new SharedQueue(context, std::move(domain), options));
  const std::optional<std::uint16_t> slot = context.add(*made);
  if (!slot) {
    return Status(Code::no_space, "the device has no shared receive queue left");
  }
  made->slot_ = *slot;
  made->placed_ = true;
  ibv_srq_init_attr init = {};
  init.srq_context = made.get();
  init.attr.max_wr = options.max_receives;
  init.attr.max_sge = std::max(options.max_pieces, 1U);
  made->queue_ = ibv_create_srq(made->domain_->domain(), &init);
  if (made->queue_ == nullptr) {
    return errno == ENOMEM || errno == EINVAL || errno == EOPNOTSUPP
               ? Status(Code::unsupported,
                        context.attributes().name + " makes no such shared receive queue")
               : os_failure("cannot make a shared receive queue", errno);
  }
  return std::unique_ptr<SharedReceives>(std::move(made));
}

SharedQueue::~SharedQueue() {
  if (queue_ != nullptr) {
    context_.take_events();  // acknowledges what has come, which destroying waits for
    ibv_destroy_srq(queue_);
  }
  if (placed_) {
    context_.remove_shared(slot_);
  }
}

Status SharedQueue::post_receive(std::span<const ReceiveWork> works) {
  for (const ReceiveWork& work : works) {
    if (work.pieces.size() > max_pieces_) {
      return Status(Code::invalid_argument,
                    "the request has more pieces than the shared queue's max_pieces");
    }
    if (free_.empty()) {
      return Status(Code::no_space, "the shared receive queue is full");
    }
    const std::uint32_t place = free_.back();
    std::ranges::transform(work.pieces, pieces_.begin(), to_sge);
    ibv_recv_wr request = {.wr_id = WorkName{.sequence = place,
                                             .slot = slot_,
                                             .generation = WorkName::shared_generation,
                                             .receive = true}
                                        .packed(),
                           .next = nullptr,
                           .sg_list = pieces_.data(),
                           .num_sge = static_cast<int>(work.pieces.size())};
    ibv_recv_wr* refused = nullptr;
    if (const int error = ibv_post_srq_recv(queue_, &request, &refused)) {
      return post_failure(error);
    }
    free_.pop_back();
    entries_[place] = {{work.id, work.pieces.empty() ? nullptr : work.pieces[0].address}, true};
  }
  return Status();
}

std::optional<SharedQueue::Posted> SharedQueue::take(std::uint32_t place) {
  if (place >= entries_.size() || !entries_[place].posted) {
    return std::nullopt;
  }
  entries_[place].posted = false;
  free_.push_back(place);
  return entries_[place].work;
}

Status SharedQueue::arm_limit(std::uint32_t limit) {
  ibv_srq_attr attributes = {};
  attributes.srq_limit = limit;
  const int error = ibv_modify_srq(queue_, &attributes, IBV_SRQ_LIMIT);
  return error == 0 ? Status() : os_failure("cannot arm the limit of the shared queue", error);
}

std::uint64_t SharedQueue::limit_events() const {
  context_.take_events();
  return events_;
}

}  // namespace remora::fabric::verbs
