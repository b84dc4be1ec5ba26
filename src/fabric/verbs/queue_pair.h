// Qp: the queue pair of a verbs device.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/queue_pair.h"
#include "fabric/verbs/context.h"
#include "fabric/verbs/rxe_ring.h"
#include "fabric/verbs/work_ring.h"

namespace remora::fabric::verbs {

class Completions;
class DomainCore;
class SharedQueue;

class Qp final : public QueuePair {
 public:
  static Result<std::unique_ptr<QueuePair>> create(Context& context,
                                                   std::shared_ptr<DomainCore> domain,
                                                   const QueuePairOptions& options);
  Qp(const Qp&) = delete;
  Qp& operator=(const Qp&) = delete;
  ~Qp() override;

  QpNumber number() const override { return pair_->qp_num; }
  QpState state() const override;
  QueuePairAddress address() const override;
  Status initialise() override;
  Status connect(const QueuePairAddress& peer, const ConnectOptions& options) override;
  void fail() override;
  void reset() override;
  Agreed agreed() const override { return {.flush_worth = context_.attributes().flush_worth}; }
  Status post_receive(std::span<const ReceiveWork> works) override;

  // A completion of one of its requests: fills `out`, and returns whether the caller is to see it.
  bool completed(const WorkName& name, const ibv_wc& completion, WorkCompletion& out);
  // The same of a receive that it has taken from a shared queue.
  bool received(SharedQueue& shared, const WorkName& name, const ibv_wc& completion,
                WorkCompletion& out);
  bool uses(const Completions& queue) const;

 private:
  Status post_sends(std::span<const SendWork> works) override;
  bool execute(const SendWork&) override { return false; }
  static constexpr std::size_t batch = 16;  // requests that go to the device by one call

  Qp(Context& context, std::shared_ptr<DomainCore> domain, const QueuePairOptions& options);

  Status modify(ibv_qp_attr& attributes, int mask, const char* what);
  bool is_datagram() const { return options_.transport == Transport::ud; }
  const char* why_not(const SendWork& work) const;
  void fill_received(const ibv_wc& completion, std::byte* begin, WorkCompletion& out);
  Status become_ready_to_receive(const QueuePairAddress& peer, const ConnectOptions& options);
  Status become_ready_to_send(const ConnectOptions& options);
  void note_breach();
  void enter_error();

  WorkName name_of_next(bool receive) const;
  Status post_ready(std::size_t count);
  Status post_native(const SendWork& work);
  void fill(const SendWork& work, std::size_t place);
  void fill_refused(std::size_t place);
  void fill_fallback(const SendWork& work, std::size_t place);
  bool is_native(Opcode opcode) const;
  void keep_pieces(const SendWork& work);
  std::span<Sge> kept_pieces(std::uint32_t sequence);
  bool has_wrong_piece(std::uint32_t sequence, const PostedWork& work);
  bool wants_signal(const SendWork& work);

  Context& context_;
  const std::shared_ptr<DomainCore> domain_;
  const QueuePairOptions options_;
  ibv_qp* pair_ = nullptr;
  ibv_qp_ex* extended_ = nullptr;  // where something native needs it
  std::optional<RxeRing> ring_;    // where FLUSH is native and libibverbs does not know
  Context::Place place_{};
  bool placed_ = false;
  mutable QpState state_ = QpState::reset;
  bool failed_here_ = false;  // the error state has a cause on this side
  bool flushing_ = false;     // the request that failed has been told of, or there was none
  PacketSequence first_packet_ = 0;
  Gid peer_{};
  WorkRing sends_;
  WorkRing receives_;
  std::uint32_t unsignalled_ = 0;  // since the last that was signalled
  // What one call hands over.
  std::array<ibv_send_wr, batch> requests_;
  std::array<std::uint64_t, batch> words_;
  std::vector<ibv_sge> pieces_;
  std::vector<Sge> kept_;            // the pieces of what is in the ring of sends
  std::vector<std::byte*> headers_;  // of datagrams: where those in the ring of receives begin
};

}  // namespace remora::fabric::verbs
