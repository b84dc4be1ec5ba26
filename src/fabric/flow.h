// FlowQueue: verbs for flows. `WorkCompletion completion = co_await flows.write(qp, piece, there)`
// posts, and goes on when the request has completed.
//
// A FlowQueue serves one completion queue, which then is for flows alone. It is a poller of the
// runtime: completions are handed to the flows that wait for them, which the loop resumes in their
// turn. A request that has completed by the time it is awaited does not suspend, but for one in
// many: where every request completes at once, the loop would otherwise never have its turn.
//
// What cannot be posted (a full queue, a request that makes no sense, a queue pair that is not
// connected) completes with local_qp_operation_error: such a flow had better count what it posts.
// What was executed on memory that is gone (QueuePair::lost) completes with remote_operation_error.
//
// The state of an operation lives in the awaiting frame, and its address is the id of the request:
// nothing is allocated. A frame is not destroyed while its request is in flight (but see
// runtime/abandon.h): to cancel, fail the queue pair, and every flow goes on with `flushed`.
//
// One thread, the loop's. The queue and the runtime outlive this; no flow waits when it goes.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "fabric/device.h"
#include "fabric/posted_site.h"
#include "runtime/abandon.h"
#include "runtime/runtime.h"

namespace remora::fabric {

class FlowQueue;

// A request in flight, awaited by one flow.
class [[nodiscard]] FlowOperation {
 public:
  FlowOperation(const FlowOperation&) = delete;
  FlowOperation& operator=(const FlowOperation&) = delete;

  // Posts it now, for a flow that has something else to wait for first and awaits it afterwards;
  // else awaiting it posts it. False when it could not be posted: then it has completed.
  bool begin();

  bool await_ready();
  void await_suspend(std::coroutine_handle<> flow);
  WorkCompletion await_resume() { return completion_; }

 protected:
  explicit FlowOperation(FlowQueue& flows) : flows_(flows) {}
  virtual ~FlowOperation() {
    REMORA_CHECK(state_ != State::posted || AbandonScope::active(),
                 "a flow was destroyed with a request in flight");
  }

  std::uint64_t id() const { return reinterpret_cast<std::uintptr_t>(this); }
  // Posts the request, with id() as its id.
  virtual Status post() = 0;
  // Whether what it did went to memory that is gone.
  virtual bool lost() const { return false; }

 private:
  friend class FlowQueue;
  enum class State : std::uint8_t { fresh, posted, completed };

  FlowQueue& flows_;
  Waiter waiter_;
  WorkCompletion completion_;
  State state_ = State::fresh;
  bool waits_ = false;
};

// The last of `works` is awaited; those before it are posted with it, unsignalled, so that its
// completion vouches for them.
class FlowBatch final : public FlowOperation {
 public:
  FlowBatch(FlowQueue& flows, QueuePair& qp, std::span<SendWork> works)
      : FlowOperation(flows), qp_(qp), works_(works) {
    REMORA_CHECK(!works.empty(), "a batch has a last request");
  }

 private:
  Status post() override;
  bool lost() const override { return qp_.lost(); }

  QueuePair& qp_;
  std::span<SendWork> works_;
};

class FlowSend final : public FlowOperation {
 public:
  // The pieces of `work` are looked at while it is awaited first, that is, within one expression.
  FlowSend(FlowQueue& flows, QueuePair& qp, const SendWork& work)
      : FlowOperation(flows), qp_(qp), work_(work) {}
  FlowSend(FlowQueue& flows, QueuePair& qp, const SendWork& work, const Sge& piece)
      : FlowOperation(flows), qp_(qp), work_(work), piece_(piece) {
    work_.pieces = std::span(&piece_, 1);
  }

 private:
  Status post() override;
  bool lost() const override { return qp_.lost(); }

  QueuePair& qp_;
  SendWork work_;
  Sge piece_;
};

class FlowReceive final : public FlowOperation {
 public:
  FlowReceive(FlowQueue& flows, QueuePair& qp, const Sge& piece)
      : FlowOperation(flows), qp_(qp), piece_(piece), pieces_(&piece_, 1) {}
  FlowReceive(FlowQueue& flows, QueuePair& qp, std::span<const Sge> pieces)
      : FlowOperation(flows), qp_(qp), pieces_(pieces) {}

 private:
  Status post() override;

  QueuePair& qp_;
  Sge piece_;
  std::span<const Sge> pieces_;
};

class FlowQueue final : public Poller {
 public:
  FlowQueue(Runtime& runtime, CompletionQueue& queue) : runtime_(runtime), queue_(queue) {
    runtime.add_poller(*this);
  }

  // Hands completions to their flows; returns whether there were any.
  bool poll() override {
    at_once_ = 0;
    return take();
  }

  FlowSend send(QueuePair& qp, const Sge& piece) {
    return {*this, qp, {.opcode = Opcode::send}, piece};
  }
  FlowSend write(QueuePair& qp, const Sge& piece, const RemoteAddress& to) {
    return {*this, qp, {.opcode = Opcode::write, .remote = to}, piece};
  }
  FlowSend write_imm(QueuePair& qp, const Sge& piece, const RemoteAddress& to,
                     std::uint32_t immediate) {
    return {*this, qp, {.opcode = Opcode::write_imm, .remote = to, .immediate = immediate}, piece};
  }
  FlowSend read(QueuePair& qp, const Sge& piece, const RemoteAddress& from) {
    return {*this, qp, {.opcode = Opcode::read, .remote = from}, piece};
  }
  // The value from before arrives in the eight bytes of `result`.
  FlowSend compare_swap(QueuePair& qp, const Sge& result, const RemoteAddress& word,
                        std::uint64_t compare, std::uint64_t swap) {
    return {*this,
            qp,
            {.opcode = Opcode::compare_swap, .remote = word, .compare = compare, .operand = swap},
            result};
  }
  FlowSend fetch_add(QueuePair& qp, const Sge& result, const RemoteAddress& word,
                     std::uint64_t summand) {
    return {*this, qp, {.opcode = Opcode::fetch_add, .remote = word, .operand = summand}, result};
  }
  // This one and a FLUSH say where they were posted, as persist calls of a Region do.
  FlowSend atomic_write(QueuePair& qp, const RemoteAddress& word, std::uint64_t value,
                        const Site& site = Site::current()) {
    return {*this,
            qp,
            {.opcode = Opcode::atomic_write,
             .remote = word,
             .compare = posted_at(site),
             .operand = value}};
  }
  FlowSend flush(QueuePair& qp, const RemoteAddress& from, std::uint32_t size_bytes,
                 FlushPlacement placement = FlushPlacement::persistence,
                 const Site& site = Site::current()) {
    return {*this,
            qp,
            {.opcode = Opcode::flush,
             .remote = from,
             .compare = posted_at(site),
             .flush_bytes = size_bytes,
             .flush_placement = placement}};
  }
  // And once the bytes are persistent, a receive of the peer's is consumed.
  FlowSend flush_imm(QueuePair& qp, const RemoteAddress& from, std::uint32_t size_bytes,
                     std::uint32_t immediate, const Site& site = Site::current()) {
    return {*this,
            qp,
            {.opcode = Opcode::flush_imm,
             .remote = from,
             .immediate = immediate,
             .compare = posted_at(site),
             .flush_bytes = size_bytes}};
  }
  // And once the bytes are persistent, the word is stored, and made persistent too.
  FlowSend flush_payload(QueuePair& qp, const RemoteAddress& from, std::uint32_t size_bytes,
                         const RemoteAddress& word, std::uint64_t value,
                         const Site& site = Site::current()) {
    return {*this,
            qp,
            {.opcode = Opcode::flush_payload,
             .remote = from,
             .compare = posted_at(site),
             .operand = value,
             .flush_bytes = size_bytes,
             .word = word}};
  }
  // What was sent before is moved to the peer's log, and persistent; the number of the last place
  // arrives in the eight bytes of `place`.
  FlowSend sflush(QueuePair& qp, const Sge& place, const Site& site = Site::current()) {
    return {*this, qp, {.opcode = Opcode::sflush, .compare = posted_at(site)}, place};
  }
  FlowReceive receive(QueuePair& qp, const Sge& piece) { return {*this, qp, piece}; }
  FlowReceive receive(QueuePair& qp, std::span<const Sge> pieces) { return {*this, qp, pieces}; }

  // Any request, with all its settings; `signalled` and `id` are this queue's.
  FlowSend post(QueuePair& qp, const SendWork& work) { return {*this, qp, work}; }
  FlowBatch post_all(QueuePair& qp, std::span<SendWork> works) { return {*this, qp, works}; }

 private:
  friend class FlowOperation;
  static constexpr std::size_t completions_per_poll = 64;
  static constexpr std::uint32_t most_at_once = 64;

  bool take();

  Runtime& runtime_;
  CompletionQueue& queue_;
  std::uint32_t at_once_ = 0;  // requests that completed when posted, since the loop's last turn
  std::array<WorkCompletion, completions_per_poll>
      completions_;  // clearing it costs more than a poll
};

}  // namespace remora::fabric
