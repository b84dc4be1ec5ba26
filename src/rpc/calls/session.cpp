#include "rpc/calls/session.h"

#include <algorithm>
#include <cstring>

#include "rpc/calls/faults.h"
#include "rpc/calls/messages.h"

namespace remora::rpc::calls {

namespace {

// How long an entry of which a part has come is left alone before it is looked at again.
constexpr std::uint64_t look_again_ns = 1'000;
// So often: a sender whose entry is not whole by then does not mean it.
constexpr std::uint64_t most_looks = 100'000;

}  // namespace

CallCounters& CallCounters::operator+=(const CallCounters& other) {
  found += other.found;
  run += other.run;
  run_after_recovery += other.run_after_recovery;
  duplicates += other.duplicates;
  marks += other.marks;
  wraps += other.wraps;
  resumed += other.resumed;
  fenced += other.fenced;
  slowed_down += other.slowed_down;
  looked_again += other.looked_again;
  return *this;
}

CallSession::CallSession(const CallParts& parts, std::unique_ptr<SessionLog> log)
    : parts_(parts), log_(std::move(log)), runs_(log_->identity().window) {
  for (Run& run : runs_) {
    run.session = this;
  }
  const log_format::Mark& mark = log_->mark();
  oldest_ = told_sequence_ = mark.sequence;
  head_ = told_head_ = mark.head;
  acknowledged_ = mark.acknowledged;
  reader_ = std::make_unique<LogReader>(epoch(), log_->ring(), mark.head, mark.sequence,
                                        parts_.host.faults());
}

LogEpoch CallSession::epoch() const {
  const log_format::Mark& mark = log_->mark();
  return {.session = log_->session(),
          .epoch = mark.epoch,
          .form = mark.form,
          .window = log_->identity().window,
          .first = mark.sequence};
}

// --- Recovery ---

void CallSession::recover() {
  recovering_ = true;
  load_records();
  std::vector<Run*> found;
  take_all(&found);
  if (parts_.host.faults().planted(faults::recovery_backwards)) {
    std::ranges::reverse(found);
  }
  for (Run* run : found) {
    begin(*run);
  }
  recovering_ = false;
}

void CallSession::load_records() {
  for (std::uint32_t slot = 0; slot < runs_.size(); ++slot) {
    const std::optional<Record> record = parts_.effects.find(log_->session(), slot);
    if (!record || record->sequence % runs_.size() != slot) {
      continue;
    }
    Run& run = runs_[slot];
    run.sequence = record->sequence;
    run.state = State::recorded;
    run.code = record->code;
    run.result.assign(record->result.begin(), record->result.end());
    newest_record_ = std::max(newest_record_, record->sequence);
  }
}

// --- Finding calls ---

Task<bool> CallSession::serve(bool receiver_flushes) {
  serving_ = true;
  bool is_good = true;
  std::uint64_t looks = 0;
  while (is_good && !stopping_) {
    co_await parts_.host.runtime().watch(log_->ring(), SomethingCame{*this});
    if (stopping_) {
      break;
    }
    const std::uint64_t from = reader_->position();
    is_good = take_all();
    if (reader_->position() == from && is_good) {
      // In the middle of a batch the last word of an entry may come before the rest of it.
      ++parts_.counters.looked_again;
      is_good = ++looks < most_looks;
      co_await parts_.host.runtime().sleep_for(look_again_ns);
      continue;
    }
    looks = 0;
    if (receiver_flushes) {
      flush_entries(from);
      parts_.flows.keep(tell_persistent(parts_.host.drain(), reader_->sequence() - 1));
    }
    co_await parts_.host.runtime().yield();
  }
  serving_ = false;
  co_return is_good;
}

void CallSession::stop() {
  stopping_ = true;
  parts_.host.runtime().placed(log_->ring());
}

// False when the caller broke a rule.
bool CallSession::take_all(std::vector<Run*>* held) {
  while (const std::optional<LogEntry> entry = reader_->next()) {
    parts_.host.charge_crc(entry->summed_bytes);
    parts_.host.charge(Work::request);
    if (!take(*entry, held)) {
      return false;
    }
  }
  return true;
}

bool CallSession::take(const LogEntry& entry, std::vector<Run*>* held) {
  ++parts_.counters.found;
  // A result cannot be there before its call has run, and no call before the results of those that
  // had its slot are there, and their entries freed.
  if (entry.acknowledged >= oldest_ ||
      entry.sequence > std::max(acknowledged_, entry.acknowledged) + runs_.size() ||
      entry.sequence >= told_sequence_ + runs_.size()) {
    return false;
  }
  acknowledged_ = std::max(acknowledged_, entry.acknowledged);
  Run& run = run_of(entry.sequence);
  if (run.sequence == entry.sequence && run.state == State::recorded &&
      !parts_.host.faults().planted(faults::record_ignored)) {
    ++parts_.counters.duplicates;
    run.is_in_log = true;
    run.end = entry.end;
    results_.push_back(entry.sequence);
    free_entries();
    return true;
  }
  if (run.state == State::found) {
    return false;  // the call that had its slot has not ended
  }
  run.sequence = entry.sequence;
  run.state = State::found;
  run.is_in_log = true;
  run.end = entry.end;
  run.method = parts_.methods.find(entry.method);
  run.work.begin(parts_.effects, entry.data);
  run.key =
      run.method != nullptr && run.method->key ? run.method->key(entry.data) : log_->session();
  if (held != nullptr) {
    held->push_back(&run);
  } else {
    begin(run);
  }
  return true;
}

// --- Running them ---

void CallSession::begin(Run& run) {
  if (parts_.host.faults().planted(faults::key_ignored)) {
    parts_.flows.keep(execute(run));
  } else if (parts_.order.add(run)) {
    parts_.flows.keep(execute(run));
  }
}

Task<void> CallSession::execute(Run& run) {
  ++parts_.counters.run;
  parts_.counters.run_after_recovery += recovering_ ? 1u : 0u;
  Status outcome;
  if (run.method == nullptr) {
    outcome = Status(Code::not_found, "the server has no such method");
  } else {
    outcome = co_await run.method->run(run.work);
  }
  if (!outcome.ok()) {
    run.work.forget_effects();
    run.work.set_result(as_bytes(outcome.message().substr(0, longest_result)));
  }
  run.code = outcome.code();
  const Result<Effects::Mark> applied = co_await apply(run);
  if (!applied.ok()) {
    failure_ = applied.status();  // its key waits for good: nothing of it may be changed any more
    co_return;
  }
  if (!parts_.host.faults().planted(faults::key_ignored)) {
    if (KeyedCall* next = parts_.order.next(run)) {
      Run& waiting = static_cast<Run&>(*next);
      parts_.flows.keep(waiting.session->execute(waiting));
    }
  }
  if (parts_.host.faults().planted(faults::result_first)) {
    recorded(run);
    co_return;
  }
  if (parts_.host.faults().planted(faults::head_before_record)) {
    run.state = State::recorded;
    free_entries();
  }
  const Status persistent = co_await parts_.effects.persistent(*applied);
  if (!persistent.ok()) {
    failure_ = persistent;
    co_return;
  }
  recorded(run);
}

// What the call changes and its record are one write. Where the store has no room for what it
// changes, that is its outcome.
Task<Result<Effects::Mark>> CallSession::apply(Run& run) {
  if (parts_.host.faults().planted(faults::record_apart)) {
    (void)parts_.effects.apply(run.work.effects(), nullptr);
    run.work.forget_effects();
  }
  for (;;) {
    const Record record{.session = log_->session(),
                        .slot = static_cast<std::uint32_t>(run.sequence % runs_.size()),
                        .sequence = run.sequence,
                        .code = run.code,
                        .result = run.work.result()};
    Result<Effects::Mark> mark = parts_.effects.apply(run.work.effects(), &record);
    const bool is_full =
        !mark.ok() && (mark.code() == Code::no_space || mark.code() == Code::in_use);
    const bool is_refused = !mark.ok() && mark.code() == Code::invalid_argument;
    if (!is_full && !is_refused) {
      co_return mark;
    }
    Status why = mark.status();
    if (is_full) {
      Status room = co_await parts_.effects.room();
      if (room.ok()) {
        continue;
      }
      why = std::move(room);
    }
    if (run.work.effects().empty()) {
      co_return why;  // not even the record finds room
    }
    run.code = why.code();
    run.work.forget_effects();
    run.work.set_result(as_bytes(why.message().substr(0, longest_result)));
  }
}

void CallSession::recorded(Run& run) {
  run.result.assign(run.work.result().begin(), run.work.result().end());
  run.state = State::recorded;
  newest_record_ = std::max(newest_record_, run.sequence);
  results_.push_back(run.sequence);
  free_entries();
}

// --- Freeing their entries ---

void CallSession::free_entries() {
  while (oldest_ < reader_->sequence()) {
    const Run& run = run_of(oldest_);
    if (run.sequence != oldest_ || run.state != State::recorded || !run.is_in_log) {
      break;
    }
    parts_.counters.wraps += run.end / log_->ring().size() != head_ / log_->ring().size() ? 1u : 0u;
    head_ = run.end;
    ++oldest_;
  }
  if (parts_.host.faults().planted(faults::head_before_mark)) {
    told_head_ = head_;
    told_sequence_ = oldest_;
    has_news_ = true;
  }
  if (is_mark_due() && !marking_ && failure_.ok()) {
    parts_.flows.keep(move_mark());
  }
}

bool CallSession::is_mark_due() const {
  return oldest_ - log_->mark().sequence >= std::max<std::uint64_t>(1, runs_.size() / 4) ||
         head_ - log_->mark().head >= log_->ring().size() / 4;
}

Task<void> CallSession::move_mark() {
  marking_ = true;
  while (is_mark_due() && failure_.ok()) {
    log_format::Mark mark = log_->mark();
    mark.head = head_;
    mark.sequence = oldest_;
    mark.acknowledged = acknowledged_;
    ++parts_.counters.marks;
    const Ticket ticket = log_->write(mark);
    if (Status status = co_await parts_.committer.persistent(ticket); !status.ok()) {
      failure_ = std::move(status);
      break;
    }
    told_head_ = mark.head;
    told_sequence_ = mark.sequence;
    has_news_ = true;
  }
  marking_ = false;
}

// --- Where the receiver flushes ---

// All lines from this position on that were found.
void CallSession::flush_entries(std::uint64_t from) {
  const Bytes ring = log_->ring();
  const std::uint64_t end = reader_->position();
  if (end - from >= ring.size()) {
    parts_.host.flush(ring);
    return;
  }
  while (from < end) {
    const std::uint64_t at = from % ring.size();
    const std::uint64_t size = std::min(end - from, ring.size() - at);
    parts_.host.flush(ring.subspan(at, size));
    from += size;
  }
}

Task<void> CallSession::tell_persistent(Ticket ticket, Sequence upto) {
  if (!parts_.host.faults().planted(faults::told_before_drain)) {
    if (Status status = co_await parts_.committer.persistent(ticket); !status.ok()) {
      failure_ = std::move(status);
      co_return;
    }
  }
  persistent_ = std::max(persistent_, upto);
  has_news_ = true;
}

// --- What the caller is told ---

std::size_t CallSession::tell(Bytes into, std::uint64_t slow_at) {
  NoticeHead head{.epoch = log_->mark().epoch,
                  .freed = told_head_,
                  .freed_sequence = told_sequence_,
                  .persistent = persistent_,
                  .count = 0,
                  .slow_down = backlog() > slow_at ? 1u : 0u};
  std::size_t size = sizeof head;
  while (results_told_ < results_.size()) {
    const Run& run = run_of(results_[results_told_]);
    const std::size_t needed = sizeof(ResultHead) + round_up<std::size_t>(run.result.size(), 8);
    if (run.sequence != results_[results_told_]) {
      ++results_told_;  // the caller has it, and the slot another one
      continue;
    }
    if (into.size() - size < needed) {
      break;
    }
    const ResultHead result{run.sequence, static_cast<std::uint32_t>(run.code),
                            static_cast<std::uint32_t>(run.result.size())};
    std::memcpy(&into[size], &result, sizeof result);
    std::fill_n(into.begin() + static_cast<std::ptrdiff_t>(size + sizeof result),
                needed - sizeof result, std::byte{0});
    copy_bytes(into.data() + size + sizeof result, run.result);
    size += needed;
    ++head.count;
    ++results_told_;
  }
  if (results_told_ == results_.size()) {
    results_.clear();
    results_told_ = 0;
  }
  has_news_ = false;
  parts_.counters.slowed_down += head.slow_down;
  std::memcpy(into.data(), &head, sizeof head);
  return size;
}

}  // namespace remora::rpc::calls
