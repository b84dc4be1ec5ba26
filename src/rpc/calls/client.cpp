#include "rpc/calls/client.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace remora::rpc::calls {

namespace {

constexpr std::uint64_t link_look_ns = 2'000;

}  // namespace

CallClient::CallClient(const Host& host, const CallClientOptions& options)
    : host_(host), options_(options), calls_(options.window), has_result_(options.window) {}

CallClient::~CallClient() {
  flows_.abandon();
}

Status CallClient::failure() const {
  return caller_ == nullptr ? Status(Code::closed, "there is no connection") : caller_->failure();
}

// --- Connections ---

Task<Result<fabric::QueuePairAddress>> CallClient::open() {
  joined_ = false;
  ++connection_;
  if (caller_ != nullptr) {
    caller_->fail(Status(Code::closed, "the connection is replaced"));
    while (batches_ != 0 || sending_) {
      co_await host_.runtime().sleep_for(link_look_ns);
    }
    memory_.reset();
    caller_.reset();
  }
  REMORA_CO_TRY_RESULT(caller, Caller::create(host_, {.slots = 2,
                                                      .operations = options_.most_batches * 20,
                                                      .request_bytes = sizeof(AttachRequest),
                                                      .reply_bytes = notice_bytes,
                                                      .notices = notices_in_flight,
                                                      .timeout_ns = options_.timeout_ns}));
  caller_ = std::move(caller).value();
  co_return caller_->address();
}

Task<Status> CallClient::join(const fabric::QueuePairAddress& server) {
  REMORA_CHECK(caller_ != nullptr, "open comes before join");
  REMORA_CO_TRY(caller_->connect(server, options_.connect));
  AttachRequest request{
      .name = {},
      .secret = options_.secret,
      .holder = options_.holder,
      .acknowledged = acknowledged_,
      .ring_bytes = options_.ring_bytes,
      .window = options_.window,
      .form = options_.form,
      .is_fresh = is_fresh_ ? 1u : 0u,
      .flush_persists =
          host_.device().attributes().flush_worth == fabric::FlushWorth::persistent ? 1u : 0u};
  if (options_.name.empty() || options_.name.size() > request.name.size()) {
    co_return Status(Code::invalid_argument, "the name of a session has 1 to 32 bytes");
  }
  std::ranges::copy(options_.name, request.name.begin());
  CallSlot slot = co_await caller_->slot();
  std::memcpy(slot.request().data(), &request, sizeof request);
  const Result<ConstBytes> answer = co_await caller_->call(slot, attach_kind, sizeof request);
  REMORA_CO_TRY(answer.status());
  const Result<AttachReply> reply = check_reply(*answer);
  REMORA_CO_TRY(reply.status());
  REMORA_CO_TRY(begin_epoch(*reply));
  caller_->on_notice([this](Kind kind, ConstBytes body) {
    if (kind == results_kind) {
      told(body);
    }
  });
  flows_.keep(send_waiting());
  co_return Status();
}

Result<AttachReply> CallClient::check_reply(ConstBytes bytes) const {
  AttachReply reply;
  if (bytes.size() != sizeof reply) {
    return Status(Code::closed, "the server sent a malformed answer");
  }
  std::memcpy(&reply, bytes.data(), sizeof reply);
  const bool is_possible = log_format::is_ring_size(reply.ring_bytes) && reply.window != 0 &&
                           reply.window <= log_format::largest_window &&
                           (reply.form == Form::checksum || reply.form == Form::ordered);
  // What was persistent is in the log, and no call has a number that was not given to it.
  const bool is_consistent = is_fresh_
                                 ? reply.first != 0
                                 : reply.window == calls_.size() && reply.first <= next_ &&
                                       reply.first > persistent_ && reply.first > acknowledged_;
  if (!is_possible || !is_consistent) {
    return Status(Code::damaged, "the server has lost calls of this session that were persistent");
  }
  return reply;
}

Status CallClient::begin_epoch(const AttachReply& reply) {
  if (is_fresh_) {
    calls_.assign(reply.window, nullptr);
    has_result_.assign(reply.window, false);
    next_ = reply.first;
    acknowledged_ = persistent_ = reply.first - 1;
  }
  for (const Call* call : waiting_) {
    if (call->arguments_.size() > log_format::largest_data(reply.form, reply.ring_bytes)) {
      return Status(Code::invalid_argument, "a call that waits is too long for the log");
    }
  }
  is_fresh_ = false;
  copy_.resize(reply.ring_bytes);
  REMORA_TRY_RESULT(memory, caller_->domain().register_memory(copy_, fabric::local_write));
  memory_ = std::move(memory).value();
  ring_ = {reply.ring_address, reply.ring_key};
  receiver_flushes_ = reply.receiver_flushes != 0;
  writer_.emplace(LogEpoch{.session = reply.session,
                           .epoch = reply.epoch,
                           .form = reply.form,
                           .window = reply.window,
                           .first = reply.first},
                  copy_, host_.faults());
  persistent_upto(reply.first - 1);
  again_.clear();
  for (Sequence sequence = reply.first; sequence < next_; ++sequence) {
    again_.push_back(sequence);
  }
  joined_ = true;
  return {};
}

Task<Status> CallClient::ping() {
  REMORA_CHECK(caller_ != nullptr, "there is no connection");
  CallSlot slot = co_await caller_->slot();
  co_return (co_await caller_->call(slot, ping_kind, 0)).status();
}

// --- Calls ---

Status CallClient::issue(Call& call) {
  Call* const one = &call;
  return issue(std::span(&one, 1));
}

Status CallClient::issue(std::span<Call* const> calls) {
  for (const Call* call : calls) {
    if (writer_ && !writer_->is_possible(call->arguments_.size())) {
      return Status(Code::invalid_argument,
                    "the arguments of the call are too long for the log of this session");
    }
  }
  waiting_.insert(waiting_.end(), calls.begin(), calls.end());
  if (joined_) {
    flows_.keep(send_waiting());
  }
  return {};
}

void CallClient::persistent_upto(Sequence upto) {
  for (; persistent_ < upto; ++persistent_) {
    Call* const call = slot_of(persistent_ + 1);
    if (call != nullptr && call->sequence_ == persistent_ + 1 && !call->persistent_.is_set()) {
      call->persistent_.set();
    }
  }
}

// --- What the server tells ---

void CallClient::told(ConstBytes notice) {
  NoticeHead head;
  if (!joined_ || notice.size() < sizeof head) {
    return;
  }
  std::memcpy(&head, notice.data(), sizeof head);
  notice = notice.subspan(sizeof head);
  if (head.epoch != writer_->epoch().epoch) {
    return;
  }
  bool makes_sense = writer_->freed(head.freed, head.freed_sequence) && head.persistent < next_;
  for (std::uint32_t i = 0; i < head.count && makes_sense; ++i) {
    ResultHead result;
    makes_sense = notice.size() >= sizeof result;
    if (makes_sense) {
      std::memcpy(&result, notice.data(), sizeof result);
      notice = notice.subspan(sizeof result);
      const std::size_t padded = round_up<std::size_t>(result.size_bytes, 8);
      makes_sense = padded <= notice.size() && result.sequence < next_ &&
                    result.code <= static_cast<std::uint32_t>(Code::conflict);
      if (makes_sense) {
        answer(result.sequence, static_cast<Code>(result.code), notice.first(result.size_bytes));
        notice = notice.subspan(padded);
      }
    }
  }
  if (!makes_sense) {
    caller_->fail(Status(Code::closed, "the server told of results that cannot be"));
    return;
  }
  slow_down_ = head.slow_down != 0;
  if (receiver_flushes_) {
    persistent_upto(head.persistent);
  }
  flows_.keep(send_waiting());
}

void CallClient::answer(Sequence sequence, Code code, ConstBytes result) {
  if (is_acknowledged(sequence) || has_result_[sequence % has_result_.size()]) {
    return;  // told twice
  }
  has_result_[sequence % has_result_.size()] = true;
  Call*& slot = slot_of(sequence);
  if (Call* const call = std::exchange(slot, nullptr)) {
    --unanswered_;
    call->code_ = code;
    call->result_.assign(result.begin(), result.end());
    if (!call->persistent_.is_set()) {
      call->persistent_.set();
    }
    call->answered_.set();
  }
  while (acknowledged_ + 1 < next_ && has_result_[(acknowledged_ + 1) % has_result_.size()]) {
    ++acknowledged_;
    has_result_[acknowledged_ % has_result_.size()] = false;
  }
}

}  // namespace remora::rpc::calls
