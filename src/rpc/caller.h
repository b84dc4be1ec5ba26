// Caller: the calling side of the RPC, and the queue pair that it shares with one-sided operations
// of the same client. A call is one SEND there and one SEND back:
//
//   CallSlot slot = co_await caller.slot();
//   std::memcpy(slot.request().data(), ...);
//   Result<ConstBytes> reply = co_await caller.call(slot, kind, size);
//
// There are as many slots as calls may be in flight; who finds none waits for one. The reply's
// bytes stay until the slot goes.
//
// Failure is final: a peer that is gone, that answers nonsense, or that does not answer in time
// (options.timeout_ns) makes every call fail, with `closed` or `timed_out`, and the queue pair is
// in error.
//
// One thread, the loop's; no allocation after construction. The host outlives it; no call and no
// one-sided operation is in flight when it goes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/device.h"
#include "fabric/flow.h"
#include "host/host.h"
#include "rpc/message.h"
#include "runtime/semaphore.h"
#include "runtime/task.h"

namespace remora::rpc {

struct CallerOptions {
  std::uint32_t slots = 16;            // calls in flight
  std::uint32_t operations = 64;       // one-sided operations in flight, beside the calls
  std::uint32_t request_bytes = 2048;  // the longest body
  std::uint32_t reply_bytes = 4096;
  std::uint32_t notices = 4;                 // that may arrive at once
  std::uint64_t timeout_ns = 1'000'000'000;  // of a call
  std::uint32_t first_round = 0;             // after which the calls of each slot are numbered
};

class Caller;

// A place for one call. Moves; gives itself back when it goes.
class CallSlot {
 public:
  CallSlot() = default;
  CallSlot(Caller& caller, std::uint32_t index) : caller_(&caller), index_(index) {}
  CallSlot(CallSlot&& other) noexcept : caller_(other.caller_), index_(other.index_) {
    other.caller_ = nullptr;
  }
  CallSlot& operator=(CallSlot&& other) noexcept;
  CallSlot(const CallSlot&) = delete;
  CallSlot& operator=(const CallSlot&) = delete;
  ~CallSlot();

  // Where the body of the request is written.
  Bytes request();

 private:
  friend class Caller;
  Caller* caller_ = nullptr;
  std::uint32_t index_ = 0;
};

class Caller final : private Poller {
 public:
  static Result<std::unique_ptr<Caller>> create(const Host& host, const CallerOptions& options);
  ~Caller() override;

  fabric::QueuePairAddress address() const { return queue_pair_->address(); }
  Status connect(const fabric::QueuePairAddress& peer, const fabric::ConnectOptions& options);

  // Notices that the peer sends on its own; called from the loop's turn, not from inside a call.
  // Those that came before are handed over at once.
  using OnNotice = std::function<void(Kind, ConstBytes body)>;
  void on_notice(OnNotice handler);

  // Waits for a slot.
  class [[nodiscard]] SlotWait {
   public:
    explicit SlotWait(Caller& caller) : caller_(caller), credit_(caller.free_.acquire()) {}
    bool await_ready() { return credit_.await_ready(); }
    void await_suspend(std::coroutine_handle<> flow) { credit_.await_suspend(flow); }
    CallSlot await_resume() { return caller_.take_slot(); }

   private:
    Caller& caller_;
    Semaphore::Awaiter credit_;
  };
  SlotWait slot() { return SlotWait(*this); }
  // One call at a time for each slot. `size_bytes` of its request are sent. The reply, or the
  // failure that the peer answered with.
  Task<Result<ConstBytes>> call(CallSlot& slot, Kind kind, std::size_t size_bytes);
  // The two halves of a call that is not made by a SEND but by a WRITE with IMM, which the caller
  // posts itself: the number to send as the immediate, and the wait for the reply.
  std::uint32_t begin(CallSlot& slot);
  Task<Result<ConstBytes>> reply(CallSlot& slot);
  // When the slot's last call began: before the request was sent.
  std::uint64_t began_ns(const CallSlot& slot) const { return slots_[slot.index_].began_ns; }

  const Host& host() const { return host_; }
  fabric::ProtectionDomain& domain() { return *domain_; }
  fabric::QueuePair& queue_pair() { return *queue_pair_; }
  fabric::FlowQueue& flows() { return flows_; }

  // Why nothing can succeed any more, or success.
  const Status& failure() const { return failure_; }
  // Makes every operation fail from here on.
  void fail(Status reason);

 private:
  friend class CallSlot;
  static constexpr std::uint32_t no_buffer = UINT32_MAX;
  static constexpr std::size_t completions_per_poll = 32;

  // Looks now and then whether a call has waited too long.
  class Watchdog final : public Timer {
   public:
    explicit Watchdog(Caller& caller) : caller_(caller) {}
    void expire() override { caller_.look_at_clock(); }

   private:
    Caller& caller_;
  };
  struct Slot {
    std::uint32_t call = 0;            // 0: none under way
    std::uint32_t round = 0;           // makes the numbers of its calls distinct
    std::uint32_t buffer = no_buffer;  // which receive its reply lies in
    std::uint32_t size_bytes = 0;      // of the reply
    Code code = Code::ok;
    bool answered = false;  // or will never be
    std::uint64_t began_ns = 0;
    Waiter* waiter = nullptr;
  };
  // Waits until the slot is answered.
  class Answer {
   public:
    explicit Answer(Slot& slot) : slot_(slot) {}
    bool await_ready() { return slot_.answered; }
    void await_suspend(std::coroutine_handle<> flow) {
      waiter_.suspend(flow);
      slot_.waiter = &waiter_;
    }
    void await_resume() {}

   private:
    Slot& slot_;
    Waiter waiter_;
  };

  Caller(const Host& host, const CallerOptions& options,
         std::unique_ptr<fabric::CompletionQueue> sends);

  bool poll() override;
  void arrived(const fabric::WorkCompletion& completion);
  void notice(std::uint32_t buffer, const MessageHead& head);
  Status post_receive(std::uint32_t buffer);
  CallSlot take_slot();
  void answer(Slot& slot);
  void release(std::uint32_t index);
  Result<ConstBytes> result_of(const Slot& slot) const;
  void look_at_clock();
  std::size_t request_stride() const { return head_bytes + options_.request_bytes; }
  std::size_t reply_stride() const { return head_bytes + options_.reply_bytes; }

  Host host_;
  const CallerOptions options_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::vector<std::byte> request_bytes_;
  std::vector<std::byte> reply_bytes_;
  std::unique_ptr<fabric::MemoryRegion> requests_;
  std::unique_ptr<fabric::MemoryRegion> replies_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  fabric::FlowQueue flows_;
  Semaphore free_;
  std::vector<std::uint32_t> unused_;
  std::vector<Slot> slots_;
  Watchdog watchdog_{*this};
  std::array<fabric::WorkCompletion, completions_per_poll> completions_;
  OnNotice on_notice_;
  std::vector<std::pair<std::uint32_t, MessageHead>> early_;  // notices that nobody has heard
  Status failure_;
};

}  // namespace remora::rpc
