// Resuming a session: its log goes to another connection, of the same caller or of a new life of
// it.
#include <algorithm>

#include "rpc/calls/faults.h"
#include "rpc/calls/session.h"

namespace remora::rpc::calls {

namespace {

constexpr std::uint64_t look_ns = 2'000;

}  // namespace

// 1. All that has come is found, up to the first hole. What lies behind that was not acknowledged.
// 2. It runs. Then no entry of this epoch is needed any more, persistent or not: what the caller is
//    told of has a record.
// 3. A mark with a new epoch is persistent. From here on no old byte of the ring counts.
// 4. Results that the caller does not have are told again.
Task<Status> CallSession::resume(Resume what) {
  const Faults& faults = parts_.host.faults();
  if (!what.is_fresh && what.holder != log_->mark().holder) {
    co_return Status(Code::in_use, "the session is in other hands; open it again to take it over");
  }
  stopping_ = false;
  if (!take_all()) {
    co_return Status(Code::damaged, "the log of the session holds calls that cannot be");
  }
  while (!is_idle() && !faults.planted(faults::resume_too_soon)) {
    REMORA_CO_TRY(failure_);
    co_await parts_.host.runtime().sleep_for(look_ns);
  }
  // A caller that goes on sends again what the log has not. A new life of it does not know those
  // calls, and must not be given their numbers, which may have results.
  const Sequence first =
      what.is_fresh ? std::max(reader_->sequence(), newest_record_ + 1) : reader_->sequence();
  log_format::Mark mark = log_->mark();
  mark.epoch += 1;
  mark.head = 0;
  mark.sequence = first;
  mark.acknowledged =
      what.is_fresh ? first - 1 : std::clamp(what.acknowledged, acknowledged_, first - 1);
  mark.holder = what.holder;
  mark.form = what.form;
  const Ticket ticket = log_->write(mark);
  REMORA_CO_TRY(co_await parts_.committer.persistent(ticket));
  ++parts_.counters.resumed;
  acknowledged_ = mark.acknowledged;
  oldest_ = told_sequence_ = first;
  head_ = told_head_ = 0;
  persistent_ = first - 1;
  reader_ = std::make_unique<LogReader>(epoch(), log_->ring(), 0, first, faults);
  results_.clear();
  results_told_ = 0;
  for (Run& run : runs_) {
    run.is_in_log = false;
    if (run.state == State::recorded && run.sequence > acknowledged_ && run.sequence < first) {
      results_.push_back(run.sequence);
    }
  }
  has_news_ = true;
  co_return Status();
}

}  // namespace remora::rpc::calls
