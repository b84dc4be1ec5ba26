// Transactions: MULTI, EXEC, DISCARD, WATCH, UNWATCH.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "front/resp/families.h"
#include "front/resp/overlay.h"

namespace remora::resp {

using kv::LocalStore;

namespace {

// A run that meets a change of a native client in the middle is taken back, and made anew.
constexpr int most_runs = 16;

Done abort(Call& call, std::string_view why) {
  call.session.transaction.reset();
  return fail(call, exec_abort_text(why));
}

// Why nothing could be changed, before anything is tried; success: it may be.
Status changeable(const LocalStore& store) {
  const Status failure = store.failure();
  return failure.ok() ? store.changeable() : failure;
}

// What a run changes beside the store, and takes back when its writes do not happen.
struct Before {
  explicit Before(Call& call)
      : size(call.out.size()),
        protocol(call.session.protocol),
        access(call.session.access),
        name(call.session.name),
        mark(call.session.mark),
        counters(call.executor.counters()) {}
  void restore(Call& call) const {
    call.out.truncate(size);
    call.session.protocol = protocol;
    call.session.access = access;
    call.session.name = name;
    call.session.mark = mark;
    Counters& now = call.executor.counters();
    now.hits = counters.hits;
    now.misses = counters.misses;
    now.errors = counters.errors;
  }

  const std::size_t size;
  const Protocol protocol;
  const Access access;
  const std::string name;
  const LocalStore::Mark mark;
  const Counters counters;
};

// Runs what is queued, and writes what it has written. Success, or why nothing has happened.
Status run_all(Call& call, const Transaction& transaction) {
  Overlay overlay(call.store, call.executor.runtime().wall_ms(), transaction.bytes(),
                  call.executor.settings().most_queued_bytes);
  call.out.array(transaction.commands());
  std::vector<std::string_view> args;
  Transaction::Reader reader(transaction);
  const std::uint64_t searched_before = call.executor.count_searched_from(0);
  while (const Command* const command = reader.next(args)) {
    Call inner{call.executor, overlay, call.session, args, call.out, true, true};
    call.executor.run_queued(inner, *command);
  }
  call.executor.add_searched(searched_before);
  if (call.out.overflown()) {
    return Status();  // nobody is told of it, and the client is cut off
  }
  std::vector<kv::Condition> conditions;
  transaction.conditions(conditions);
  REMORA_TRY_RESULT(mark, overlay.commit(std::move(conditions)));
  if (overlay.has_written()) {
    call.session.mark = *mark;
  }
  if (Watches& watches = call.executor.watches(); watches.any()) {
    overlay.each_written([&](ConstBytes key) { watches.touch(as_text(key)); });
  }
  return Status();
}

// Not while it runs: it may run again.
void tell_monitors(Call& call, const Transaction& transaction) {
  std::vector<std::string_view> args;
  Transaction::Reader reader(transaction);
  while (const Command* const command = reader.next(args)) {
    call.executor.monitor_feed().tell(call.session.peer, *command, args);
  }
}

}  // namespace

std::string exec_abort_text(std::string_view why) {
  if (why.starts_with("ERR ")) {
    why.remove_prefix(4);
  }
  return fmt::format("EXECABORT Transaction discarded because of: {}", why);
}

Done multi(Call& call) {
  Session& session = call.session;
  if (session.is_queueing()) {
    return fail(call, "ERR MULTI calls can not be nested");
  }
  if (!session.transaction) {
    session.transaction = std::make_unique<Transaction>(call.executor.watches());
  }
  session.transaction->open();
  call.out.ok();
  return Done::replied;
}

Done discard(Call& call) {
  if (!call.session.is_queueing()) {
    return fail(call, "ERR DISCARD without MULTI");
  }
  call.session.transaction.reset();
  call.out.ok();
  return Done::replied;
}

Done watch(Call& call) {
  Session& session = call.session;
  if (session.is_queueing()) {
    return fail(call, "ERR WATCH inside MULTI is not allowed");
  }
  if (!session.transaction) {
    session.transaction = std::make_unique<Transaction>(call.executor.watches());
  }
  for (const std::string_view key : call.args.subspan(1)) {
    if (session.transaction->memory_bytes() > call.executor.settings().most_queued_bytes) {
      return fail(call,
                  "ERR this client watches too many keys; EXEC, DISCARD or UNWATCH ends that");
    }
    session.transaction->watch(call.store, as_text(stored_key(key)));
  }
  call.out.ok();
  return Done::replied;
}

Done unwatch(Call& call) {
  if (!call.is_queued) {  // EXEC has looked at them already, and ends with them
    call.session.transaction.reset();
  }
  call.out.ok();
  return Done::replied;
}

Done exec(Call& call) {
  Session& session = call.session;
  if (!session.is_queueing()) {
    return fail(call, "ERR EXEC without MULTI");
  }
  const Transaction& transaction = *session.transaction;
  if (transaction.is_spoiled()) {
    session.transaction.reset();
    return fail(call, "EXECABORT Transaction discarded because of previous errors.");
  }
  const std::size_t waits = std::exchange(session.progress, 0);  // its commands have their own
  const Before before(call);
  for (int runs = 0; runs < most_runs; ++runs) {
    if (!transaction.holds(call.store)) {
      session.transaction.reset();
      call.out.null_array(call.protocol());
      return Done::replied;
    }
    if (const Status status = changeable(call.store); !status.ok() && transaction.has(writes)) {
      return abort(call, refusal_text(status));
    }
    const Status status = run_all(call, transaction);
    if (status.ok()) {
      if (call.executor.monitor_feed().any()) [[unlikely]] {
        tell_monitors(call, transaction);
      }
      session.transaction.reset();
      return Done::replied;
    }
    before.restore(call);
    if (status.code() == Code::in_use) {
      session.progress = waits;
      return Done::again;
    }
    if (status.code() == Code::no_space && !call.full && waits < most_waits) {
      session.progress = waits + 1;
      return Done::no_room;
    }
    if (status.code() != Code::conflict) {
      return abort(call, status.code() == Code::invalid_argument ? std::string(status.message())
                                                                 : refusal_text(status));
    }
  }
  return abort(call, "keys that it reads change all the time");
}

}  // namespace remora::resp
