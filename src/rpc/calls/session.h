// CallSession: one session, as the server has it: finds the calls in its log, runs them in the
// order of their keys, records that they have run, frees their entries, and keeps their results
// until the caller has them. It knows nothing of connections but whether there is one.
//
// The life of a call, and what each step waits for:
//   found     its entry counts, and so do all before it
//   running   the call before it of the same order key has taken effect
//   applied   its handler has ended; effects and record are in the store, together
//   recorded  that is persistent; only now the result may leave
//   freed     all before it are recorded; a mark behind it is persistent; only now the caller may
//             write over its entry
//
// A call whose record is there never runs again, also when its entry comes again.
//
// One thread, the loop's. What is handed in outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/committer.h"
#include "host/host.h"
#include "rpc/calls/key_order.h"
#include "rpc/calls/log_reader.h"
#include "rpc/calls/methods.h"
#include "rpc/calls/session_log.h"
#include "runtime/flows.h"

namespace remora::rpc::calls {

struct CallCounters {
  std::uint64_t found = 0;
  std::uint64_t run = 0;
  std::uint64_t run_after_recovery = 0;
  std::uint64_t duplicates = 0;  // entries of calls that had run
  std::uint64_t marks = 0;
  std::uint64_t wraps = 0;  // of rings
  std::uint64_t resumed = 0;
  std::uint64_t fenced = 0;        // connections, by another one of their session
  std::uint64_t slowed_down = 0;   // notices that said so
  std::uint64_t looked_again = 0;  // at entries that had not come as a whole

  CallCounters& operator+=(const CallCounters& other);
};

// What sessions share.
struct CallParts {
  Host host;
  Committer& committer;
  Effects& effects;
  const Methods& methods;
  KeyOrder& order;
  Flows& flows;
  CallCounters& counters;
};

class CallSession {
 public:
  CallSession(const CallParts& parts, std::unique_ptr<SessionLog> log);

  // Finds what the log holds, and runs what has no record.
  void recover();

  const SessionLog& log() const { return *log_; }
  // Whether every call that was found is recorded.
  bool is_idle() const { return oldest_ == reader_->sequence() && !marking_; }
  std::uint64_t backlog() const { return reader_->sequence() - oldest_; }
  // Success, or why it can go on no more: the store has failed.
  const Status& failure() const { return failure_; }

  // --- Resuming (session_resume.cpp). No connection may write to the log.
  // Everything that has come is found and has run; a new epoch has begun.
  struct Resume {
    std::uint64_t holder = 0;
    bool is_fresh = false;
    Sequence acknowledged = 0;
    Form form = Form::checksum;
  };
  Task<Status> resume(Resume what);

  // --- Serving. Looks for entries until it is stopped. False: the caller broke a rule of the log.
  Task<bool> serve(bool receiver_flushes);
  void stop();
  bool is_serving() const { return serving_; }

  // --- What the caller is to be told.
  bool has_news() const { return has_news_ || !results_.empty(); }
  // A notice; never longer than `into`.
  std::size_t tell(Bytes into, std::uint64_t slow_at);

 private:
  enum class State : std::uint8_t { none, found, recorded };
  // A call, in the slot that its number gives it.
  struct Run : KeyedCall {
    CallSession* session = nullptr;
    Sequence sequence = 0;
    State state = State::none;
    bool is_in_log = false;
    std::uint64_t end = 0;
    const Method* method = nullptr;
    CallWork work;
    Code code = Code::ok;
    std::vector<std::byte> result;
  };

  struct SomethingCame {
    const CallSession& session;
    bool operator()() const { return session.stopping_ || session.reader_->is_ready(); }
  };

  Run& run_of(Sequence sequence) { return runs_[sequence % runs_.size()]; }
  LogEpoch epoch() const;
  void load_records();
  bool take_all(std::vector<Run*>* held = nullptr);
  bool take(const LogEntry& entry, std::vector<Run*>* held);
  void begin(Run& run);
  Task<void> execute(Run& run);
  Task<Result<Effects::Mark>> apply(Run& run);
  void recorded(Run& run);
  void free_entries();
  bool is_mark_due() const;
  Task<void> move_mark();
  void flush_entries(std::uint64_t from);
  Task<void> tell_persistent(Ticket ticket, Sequence upto);

  CallParts parts_;
  std::unique_ptr<SessionLog> log_;
  std::vector<Run> runs_;
  std::unique_ptr<LogReader> reader_;
  Sequence oldest_ = 1;     // that is not recorded, or was not found
  std::uint64_t head_ = 0;  // where its entry begins, or will
  Sequence acknowledged_ = 0;
  Sequence newest_record_ = 0;
  std::uint64_t told_head_ = 0;  // persistent in the mark
  Sequence told_sequence_ = 1;
  Sequence persistent_ = 0;  // of entries that this side has flushed
  bool marking_ = false;
  bool recovering_ = false;
  bool serving_ = false;
  bool stopping_ = false;
  bool has_news_ = false;
  std::vector<Sequence> results_;  // to be told
  std::size_t results_told_ = 0;
  Status failure_;
};

}  // namespace remora::rpc::calls
