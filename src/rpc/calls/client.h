// CallClient: the calling side of durable calls, WFlush-RPC (Figure 4) and, where the receiver
// flushes, W-RFlush-RPC:
//
//   Call call(runtime, method_number("append"), arguments);
//   client.issue(call);
//   co_await call.persistent();   // it survives a power cut, and will run exactly once
//   co_await call.answered();     // and here is what came of it: call.code(), call.result()
//
// A call is persistent before it has run, and the next one may be issued then, or at once. Calls
// that are issued while others are on their way travel together: one WRITE and one FLUSH for all.
//
// The client outlives its connections. When one has failed, `open` and `join` make another, to the
// same server or to one that has recovered its pool, and every call goes on: what the log has is
// not sent again, what it has not is, and results that were on their way are told once more. It is
// one life of the session's caller: another client that joins by the same name takes the session
// over.
//
// One thread, the loop's. The host outlives it. A call is the caller's, stays where it is until it
// is answered, and its arguments until it is persistent.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rpc/caller.h"
#include "rpc/calls/log_writer.h"
#include "rpc/calls/messages.h"
#include "runtime/event.h"
#include "runtime/flows.h"

namespace remora::rpc::calls {

class Call {
 public:
  Call(Runtime& runtime, std::uint32_t method, ConstBytes arguments)
      : method_(method), arguments_(arguments), persistent_(runtime), answered_(runtime) {}

  // Each is awaited by one flow at most.
  Event& persistent() { return persistent_; }
  Event& answered() { return answered_; }

  // From answered() on.
  Code code() const { return code_; }
  ConstBytes result() const { return result_; }  // or the message of a failure
  // From issue() on; 0 while it waits for room in the log.
  Sequence sequence() const { return sequence_; }

 private:
  friend class CallClient;

  const std::uint32_t method_;
  const ConstBytes arguments_;
  Event persistent_;
  Event answered_;
  Sequence sequence_ = 0;
  Code code_ = Code::ok;
  std::vector<std::byte> result_;
};

struct CallClientOptions {
  std::string name;
  std::uint64_t secret = 0;
  std::uint64_t holder = 0;  // random: this life of the caller
  std::uint64_t ring_bytes = 1 << 20;
  std::uint32_t window = 256;
  Form form = Form::checksum;
  std::uint32_t most_together = 8;  // calls that travel together
  std::uint32_t most_batches = 8;   // on their way
  std::uint64_t timeout_ns = 1'000'000'000;
  fabric::ConnectOptions connect = {};
};

class CallClient {
 public:
  CallClient(const Host& host, const CallClientOptions& options);
  CallClient(const CallClient&) = delete;
  CallClient& operator=(const CallClient&) = delete;
  ~CallClient();

  // A new connection: its address, for the server. What the one before had under way has ended.
  Task<Result<fabric::QueuePairAddress>> open();
  // Resumes the session by it.
  Task<Status> join(const fabric::QueuePairAddress& server);

  // invalid_argument, before anything is sent, where the call is too large for the log. Before the
  // first join, sizes are not known, and join tells.
  Status issue(Call& call);
  // Calls that travel together.
  Status issue(std::span<Call* const> calls);

  // Asks for a sign of life.
  Task<Status> ping();
  // Why the connection is of no use, or success.
  Status failure() const;
  // Calls that are not answered.
  std::size_t open_calls() const { return waiting_.size() + unanswered_; }
  // Whether the server asks its callers to slow down.
  bool is_to_slow_down() const { return slow_down_; }
  bool receiver_flushes() const { return receiver_flushes_; }

 private:
  // Entries one behind the other in the ring.
  struct Batch {
    Sequence last = 0;
    std::uint64_t begin = 0;
    std::uint64_t first_end = 0;  // of its first entry
    std::uint64_t end = 0;
    std::uint32_t count = 0;
    std::array<LogWriter::Entry, 16> entries = {};
  };

  Result<AttachReply> check_reply(ConstBytes reply) const;
  Status begin_epoch(const AttachReply& reply);
  Task<void> send_waiting();
  Batch compose();
  Task<void> send(Batch batch);
  void persistent_upto(Sequence sequence);
  void told(ConstBytes notice);
  void answer(Sequence sequence, Code code, ConstBytes result);
  Call*& slot_of(Sequence sequence) { return calls_[sequence % calls_.size()]; }
  bool is_acknowledged(Sequence sequence) const { return sequence <= acknowledged_; }

  const Host host_;
  const CallClientOptions options_;
  std::unique_ptr<Caller> caller_;
  std::uint64_t connection_ = 0;  // counts them
  std::optional<LogWriter> writer_;
  std::vector<std::byte> copy_;  // of the ring
  std::unique_ptr<fabric::MemoryRegion> memory_;
  fabric::RemoteAddress ring_;
  bool joined_ = false;
  bool is_fresh_ = true;
  bool receiver_flushes_ = false;
  bool slow_down_ = false;
  bool sending_ = false;
  std::uint32_t batches_ = 0;  // on their way

  std::deque<Call*> waiting_;  // have no place in the log yet
  std::vector<Call*> calls_;   // by number: those that are in the log and not answered
  std::vector<bool> has_result_;
  std::size_t unanswered_ = 0;
  Sequence next_ = 1;           // that a call gets
  Sequence acknowledged_ = 0;   // all results up to this one are there
  Sequence persistent_ = 0;     // all calls up to this one are
  std::deque<Sequence> again_;  // to be sent once more
  Flows flows_;
};

}  // namespace remora::rpc::calls
