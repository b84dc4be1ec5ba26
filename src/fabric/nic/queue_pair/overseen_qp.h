// OverseenQp: a queue pair of whose requests somebody is asked before they are posted: the crash
// world, which can take the effect from one place in the source at a time. Nobody else has one, and
// a queue pair that nobody oversees has nothing of this on its way.
#pragma once

#include <memory>
#include <utility>

#include "fabric/nic/overseer.h"
#include "fabric/queue_pair.h"

namespace remora::fabric::nic {

class OverseenQp final : public QueuePair {
 public:
  // The overseer outlives this.
  OverseenQp(std::unique_ptr<QueuePair> qp, Overseer& overseer)
      : qp_(std::move(qp)), overseer_(overseer) {}

  QpNumber number() const override { return qp_->number(); }
  QpState state() const override { return qp_->state(); }
  QueuePairAddress address() const override { return qp_->address(); }
  Status initialise() override { return qp_->initialise(); }
  Status connect(const QueuePairAddress& peer, const ConnectOptions& options) override {
    return qp_->connect(peer, options);
  }
  void fail() override { qp_->fail(); }
  void reset() override { qp_->reset(); }
  bool quiet() const override { return qp_->quiet(); }
  bool lost() const override { return qp_->lost(); }
  Agreed agreed() const override { return qp_->agreed(); }
  Status post_receive(std::span<const ReceiveWork> works) override {
    return qp_->post_receive(works);
  }

 private:
  bool execute(const SendWork&) override { return false; }
  // One by one: what is refused, those after it are not posted, as ever.
  Status post_sends(std::span<const SendWork> works) override {
    for (SendWork work : works) {
      overseer_.look(work);
      REMORA_TRY(qp_->post_send(std::span(&work, 1)));
    }
    return {};
  }

  const std::unique_ptr<QueuePair> qp_;
  Overseer& overseer_;
};

}  // namespace remora::fabric::nic
