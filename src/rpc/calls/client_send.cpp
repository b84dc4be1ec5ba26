// How calls travel: WFlush-RPC and W-RFlush-RPC.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "fabric/posted_site.h"
#include "rpc/calls/client.h"
#include "rpc/calls/faults.h"

namespace remora::rpc::calls {

using fabric::Opcode;
using fabric::SendWork;

namespace {

SendWork flush_of(const fabric::RemoteAddress& there, std::uint32_t size_bytes, const Site& site) {
  return {.opcode = Opcode::flush,
          .remote = there,
          .compare = fabric::posted_at(site),
          .flush_bytes = size_bytes};
}

}  // namespace

Task<void> CallClient::send_waiting() {
  if (sending_) {
    co_return;
  }
  sending_ = true;
  const std::uint64_t connection = connection_;
  while (joined_ && connection == connection_ && batches_ < options_.most_batches) {
    const Batch batch = compose();
    if (batch.count == 0) {
      break;
    }
    host_.charge_copy(batch.end - batch.begin);
    host_.charge(Work::post);
    co_await host_.charged();
    if (connection == connection_ && caller_ != nullptr) {
      flows_.keep(send(batch));
    }
  }
  sending_ = false;
}

// The calls that have waited longest, as many as there is room for, without a gap between them.
CallClient::Batch CallClient::compose() {
  Batch batch;
  while (batch.count < std::min<std::size_t>(options_.most_together, batch.entries.size())) {
    const bool is_again = !again_.empty();
    if (!is_again && waiting_.empty()) {
      break;
    }
    // One that is sent again only because calls after it are needs no arguments: it has run.
    Call* const call = is_again ? slot_of(again_.front()) : waiting_.front();
    const ConstBytes arguments = call != nullptr ? call->arguments_ : ConstBytes();
    if (!writer_->has_room(arguments.size()) ||
        (!is_again && next_ > acknowledged_ + calls_.size())) {
      break;
    }
    const std::uint64_t begin = writer_->place_of_next(arguments.size());
    if (batch.count != 0 && (begin != batch.end || writer_->offset_of(begin) == 0)) {
      break;
    }
    const LogWriter::Entry entry =
        writer_->append(call != nullptr ? call->method_ : 0, arguments, acknowledged_);
    if (is_again) {
      REMORA_CHECK(entry.sequence == again_.front(), "a call is sent again by another number");
      again_.pop_front();
    } else {
      REMORA_CHECK(entry.sequence == next_, "the log and its caller count differently");
      call->sequence_ = next_++;
      slot_of(call->sequence_) = call;
      has_result_[call->sequence_ % has_result_.size()] = false;
      ++unanswered_;
      waiting_.pop_front();
    }
    if (batch.count == 0) {
      batch.begin = entry.begin;
      batch.first_end = entry.end;
    }
    batch.end = entry.end;
    batch.last = entry.sequence;
    batch.entries[batch.count++] = entry;
  }
  return batch;
}

// Figure 4, and with several calls Figure 6(b). In the form `checksum`:
//
//   WRITE the entries into the ring, FLUSH them there         one round trip, and no CPU of the
//   peer
//
// In the form `ordered`, the data before the operator, posted in one go:
//
//   WRITE the data, FLUSH it, ATOMIC WRITE the operators, FLUSH them
//
// The answer to the last FLUSH says that the calls are persistent. Where the receiver flushes, it
// is left out, and the receiver tells.
Task<void> CallClient::send(Batch batch) {
  const Faults& faults = host_.faults();
  const std::uint64_t connection = connection_;
  const std::uint64_t at = writer_->offset_of(batch.begin);
  const auto size = static_cast<std::uint32_t>(batch.end - batch.begin);
  const fabric::Sge piece = memory_->piece(at, size);
  const fabric::RemoteAddress there{ring_.address + at, ring_.key};
  const bool is_ordered = writer_->epoch().form == Form::ordered;
  std::array<SendWork, 3 + std::tuple_size_v<decltype(batch.entries)>> works;
  std::size_t count = 0;
  if (is_ordered && faults.planted(faults::operator_first)) {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      store(&copy_[writer_->offset_of(batch.entries[i].begin)], batch.entries[i].word);
    }
  }
  works[count++] = {.opcode = Opcode::write, .pieces = std::span(&piece, 1), .remote = there};
  if (is_ordered && !faults.planted(faults::operator_first)) {
    if (!receiver_flushes_) {
      works[count++] = flush_of(there, size, Site::current());
    }
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const std::uint64_t word_at = writer_->offset_of(batch.entries[i].begin);
      works[count++] = {.opcode = Opcode::atomic_write,
                        .remote = {ring_.address + word_at, ring_.key},
                        .compare = fabric::posted_at(Site::current()),
                        .operand = batch.entries[i].word};
    }
  }
  if (!receiver_flushes_ && !faults.planted(faults::told_before_flush)) {
    works[count++] = flush_of(there,
                              faults.planted(faults::batch_flushed_first)
                                  ? static_cast<std::uint32_t>(batch.first_end - batch.begin)
                                  : size,
                              Site::current());
  }
  ++batches_;
  fabric::FlowBatch posted =
      caller_->flows().post_all(caller_->queue_pair(), std::span(works).first(count));
  const fabric::WorkCompletion completion = co_await posted;
  --batches_;
  if (completion.status != fabric::WorkStatus::success) {
    caller_->fail(Status(Code::closed, "the server of the calls cannot be reached"));
  } else if (connection == connection_) {
    if (!receiver_flushes_) {
      persistent_upto(batch.last);
    }
    flows_.keep(send_waiting());
  }
}

}  // namespace remora::rpc::calls
