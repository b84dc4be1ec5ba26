// What the commands of the Redis front end are made of: a Session for what one client has said of
// itself, a Call for one request, and the table of commands.
//
// A command is a plain function. It writes one reply, or none when it cannot be done yet: then it
// has changed nothing that it would not change again, and is called anew later.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/resp/command_stats.h"
#include "front/resp/latency_events.h"
#include "front/resp/monitor_feed.h"
#include "front/resp/output.h"
#include "front/resp/rates.h"
#include "front/resp/transaction.h"
#include "front/resp/watches.h"
#include "kv/local_store.h"
#include "runtime/runtime.h"

namespace remora::resp {

// What a client may do.
enum class Access : std::uint8_t { none, read, write, admin };

struct Command;

struct Session {
  std::uint64_t id = 0;
  Protocol protocol = Protocol::two;
  Access access = Access::admin;
  bool closing = false;  // when its replies have left
  std::string name = {};
  std::string peer = {};  // its address, for people
  std::uint64_t came_ms = 0;
  kv::LocalStore::Mark mark = 0;  // of its last change
  // Of a command that waits for room: the keys that it has seen to, or how often it has waited.
  std::size_t progress = 0;
  std::unique_ptr<Transaction> transaction = {};  // what MULTI or WATCH has begun; else null
  Access first_access = Access::admin;            // when it came
  int descriptor = -1;
  std::string own_end = {};          // of its connection: the address of the server
  std::uint64_t active_ns = 0;       // when it sent something last
  const Command* command = nullptr;  // the last one
  // CLIENT REPLY: whether it is told anything.
  enum class Replies : std::uint8_t { on, off, skip_next, skip };
  Replies replies = Replies::on;
  bool is_monitor = false;  // set by the executor

  bool is_queueing() const { return transaction && transaction->is_open(); }
};

// A client that waits for its changes to be persistent (WAITAOF), or for a time alone (DEBUG
// SLEEP).
struct PersistenceWait {
  kv::LocalStore::Mark mark = 0;
  std::int64_t local = 0;
  std::int64_t replicas = 0;
  std::uint64_t timeout_ms = 0;  // 0: none
  bool is_muted = false;         // it is told nothing of it
  std::uint64_t sleep_ns = 0;    // 0: it waits for persistence
};

enum class Done : std::uint8_t {
  replied,
  no_room,  // the store must be cleaned first
  again,    // a value that it rests on is on its way
  waits,    // Executor::wait() says for what
};

// Counted for INFO and for metrics.
struct Counters {
  std::uint64_t connections = 0;  // that came
  std::uint64_t rejected = 0;     // connections
  std::uint64_t commands = 0;
  std::uint64_t commands_before_reset = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t errors = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t clients = 0;  // now

  // Never less than it was.
  std::uint64_t all_commands() const { return commands_before_reset + commands; }
  // What INFO counts begins at nothing; what is, stays.
  void reset() {
    const Counters before = *this;
    *this = {};
    commands_before_reset = before.all_commands();
    clients = before.clients;
  }
};

// How the server was set up, as commands show it.
struct Settings {
  bool needs_password = false;
  // The user is "default" when the client named none.
  std::function<Access(std::string_view user, std::string_view password)> authenticate = {};
  bool persistent = false;  // replies to writes wait until these are persistent
  bool outlives_process = true;
  std::uint32_t most_clients = 10'000;
  // What a client may queue with MULTI, watch, and write with EXEC.
  std::uint64_t most_queued_bytes = limits::output_bytes;
  std::uint16_t port = 0;
  std::uint64_t pool_bytes = 0;  // 0: not known
};

class Executor;
using Args = std::span<const std::string_view>;

struct Call {
  Executor& executor;
  kv::LocalStore& store;
  Session& session;
  Args args;
  Output& out;
  bool full = false;       // the store has no room, and waiting does not help
  bool is_queued = false;  // it is one of those that EXEC runs

  std::string_view key() const { return args[1]; }
  Protocol protocol() const { return session.protocol; }
};

enum Flag : std::uint32_t {
  writes = 1,
  readonly = 2,
  fast = 4,
  admin = 8,
  no_auth = 16,  // for clients that have not said who they are
  grows = 32,    // may need space: "denyoom"
  loading = 64,
  stale = 128,
  no_script = 256,
  allow_busy = 512,
  // Families and warnings: no flags for clients, but categories.
  on_strings = 1024,
  on_keys = 2048,
  on_connection = 4096,
  dangerous = 8192,
  on_transaction = 16384,
  skip_slowlog = 32768,
  on_bits = 262144,
  // For this server alone: what MULTI does not queue, and what it refuses.
  at_once = 65536,
  alone = 131072,
  // Whom an admin alone may send; what is timed whenever it runs.
  needs_admin = 524288,
  long_lasting = 1048576,
};

// What works on keys and on what is in them.
inline constexpr std::uint32_t on_data = on_keys | on_strings | on_bits;

// One of a family of commands: `CLIENT LIST`.
struct Subcommand {
  std::string_view name;  // lower case
  int arity = 0;          // as of a command, with both names
};

// What becomes of a key, and of what is in it, as COMMAND INFO tells.
enum KeyUse : std::uint8_t {
  key_read_only = 1,
  key_read_write = 2,
  key_overwritten = 4,
  key_removed = 8,
  content_returned = 16,
  content_updated = 32,
  content_inserted = 64,
  content_deleted = 128,
};

struct Command {
  std::string_view name;  // lower case
  int arity = 0;          // with the name; negative: at least
  Done (*run)(Call& call) = nullptr;
  std::uint32_t flags = 0;
  int first_key = 0;
  int last_key = 0;
  int step = 0;
  std::uint8_t use = 0;         // of its keys, or of the first where there is
  std::uint8_t second_use = 0;  // another one for the second, which is the last
  std::span<const Subcommand> family = {};
};

std::span<const Command> commands();
// Its place among them.
inline std::size_t place_of(const Command& command) {
  return static_cast<std::size_t>(&command - commands().data());
}
// What it does, in a line.
std::string_view summary_of(std::string_view command);
// By its name in any case, or null.
const Command* find_command(std::string_view name);
bool fits_arity(int arity, std::size_t args);
// Why this is none of the family, or has too few or too many arguments; nothing: all is well.
std::optional<std::string> family_error(const Command& command, Args args);

class Executor {
 public:
  // All outlive it.
  Executor(Runtime& runtime, kv::LocalStore& store, const Settings& settings, Counters& counters);

  // Runs one request. `full`: the store has no room, and waiting does not help.
  Done execute(Session& session, Args args, Output& out, bool full);
  // Runs a command of a transaction; the call has a store of its own.
  void run_queued(Call& call, const Command& command);
  const PersistenceWait& wait() const { return wait_; }
  void set_wait(const PersistenceWait& wait) { wait_ = wait; }

  // Bytes that commands have looked at whose replies do not tell how many those are, since their
  // caller began to count; gives what it was.
  std::uint64_t searched() const { return searched_; }
  std::uint64_t count_searched_from(std::uint64_t bytes) { return std::exchange(searched_, bytes); }
  void add_searched(std::uint64_t bytes) { searched_ += bytes; }

  Runtime& runtime() { return runtime_; }
  const Settings& settings() const { return settings_; }
  Counters& counters() { return counters_; }
  Watches& watches() { return watches_; }
  CommandStats& stats() { return stats_; }
  const CommandStats& stats() const { return stats_; }
  Rates& rates() { return rates_; }
  LatencyEvents& latencies() { return latencies_; }
  // After a change of what is noted: whether every command is timed.
  void choose_timing();
  MonitorFeed& monitor_feed() { return monitor_feed_; }
  // MONITOR, and the end of it.
  void set_monitor(Session& session, bool is_monitor);
  // It is one now, or no more; the owner of the connections sets it.
  std::function<void(Session& session)> monitor_changed;
  Rates::Counts counts() const {
    return {counters_.all_commands(), counters_.bytes_in, counters_.bytes_out};
  }
  std::uint64_t started_ms() const { return started_ms_; }
  // What the connection of a session keeps.
  struct Kept {
    std::uint64_t request_bytes = 0;  // that came and were not run
    std::uint64_t request_room = 0;   // left of the memory for them
    std::uint64_t reply_bytes = 0;    // that wait
    std::uint64_t reply_room = 0;     // all of the memory for them
    std::uint64_t all_bytes = 0;
  };
  // Sessions that there are, for CLIENT LIST; the owner of them sets these.
  using Visitor = std::function<void(const Session&, const Kept&)>;
  std::function<void(const Visitor&)> each_session;
  std::function<Kept(const Session&)> kept_of;
  // Ends the session of this number; it has one.
  std::function<void(std::uint64_t id)> end_session;
  // Bytes that all connections keep.
  std::function<std::uint64_t()> kept_bytes;
  // So much is used of the pool; the most that there was when somebody asked.
  std::uint64_t note_used(std::uint64_t bytes) {
    return peak_bytes_ = std::max(peak_bytes_, bytes);
  }

 private:
  const Command* command_of(std::string_view name);
  Done refuse(Call& call, const Command* command, std::string_view text);
  Done queue(Call& call, const Command& command);
  Done run(Call& call, const Command& command);
  Done run_timed(Call& call, const Command& command);
  void keep_slow(const Call& call, std::uint64_t took_ns);
  bool is_in_doubt(const Command& command, Args args);

  Runtime& runtime_;
  kv::LocalStore& store_;
  const Settings& settings_;
  Counters& counters_;
  const std::uint64_t started_ms_;
  PersistenceWait wait_;
  std::uint64_t searched_ = 0;
  std::uint64_t peak_bytes_ = 0;
  Watches watches_;
  CommandStats stats_;
  Rates rates_;
  LatencyEvents latencies_;
  MonitorFeed monitor_feed_;
  std::array<char, 16> last_name_ = {};  // as the client wrote it
  std::size_t last_name_bytes_ = 0;
  const Command* last_command_ = nullptr;
};

// --- For commands ---

inline ConstBytes bytes_of(std::string_view text) {
  return as_bytes(text);
}

// Redis has a key of no bytes, and the store has none: that one is kept under this name, which no
// client happens to choose. A native client finds it there.
inline constexpr std::string_view name_of_empty{"\0remora:empty-key:c41f7a2be9d05386\0", 34};
inline ConstBytes stored_key(std::string_view key) {
  return as_bytes(key.empty() ? name_of_empty : key);
}
inline std::string_view shown_key(ConstBytes stored) {
  const std::string_view key = as_text(stored);
  return key == name_of_empty ? std::string_view() : key;
}

Done fail(Call& call, std::string_view text);
// The error of a store that has failed for good.
std::string failure_text(const Status& why);
Done wrong_arity(Call& call, std::string_view name);
Done syntax_error(Call& call);
// For one that is a family of commands: it is none of them, or has too few arguments; and these are
// they, told as Redis tells them.
std::optional<Done> refuse_subcommand(Call& call);
Done help(Call& call, std::span<const std::string_view> lines);
bool is_word(std::string_view argument, std::string_view lower);
// What keys and values may take before the store is full: `maxmemory`.
std::uint64_t most_memory(Call& call);
// As a C string is printed: up to a zero byte, and no more than so many.
std::string_view printed(std::string_view text, std::size_t most = 128);
// An integer argument, or nothing, and then the reply is written.
std::optional<std::int64_t> integer_of(Call& call, std::string_view text);

std::optional<kv::LocalStore::Found> look_up(Call& call, std::string_view key);
// For who needs the value: if it is damaged, the reply says so.
std::optional<Done> refuse_damaged(Call& call, const std::optional<kv::LocalStore::Found>& found);
// Called before a command looks at so many bytes. It counts them. If the commands before it in EXEC
// have looked at too many already, the reply says so.
std::optional<Done> refuse_search(Call& call, std::uint64_t bytes);
// Puts the value, or says why not: `replied` with an error, or `no_room`. Nothing is written where
// it succeeds.
std::optional<Done> put(Call& call, std::string_view key, std::span<const ConstBytes> value,
                        kv::LocalStore::Expiry expires);
std::optional<Done> put(Call& call, std::string_view key, std::string_view value,
                        kv::LocalStore::Expiry expires);
std::optional<Done> erase(Call& call, std::string_view key);
// All changes or none; where a key stands twice, the last one counts. The keys are as they are
// stored. `conflict`: a condition does not hold, and nothing is replied yet.
// So often a write waits for room that there was said to be; then it is too large.
inline constexpr std::size_t most_waits = 8;
struct Together {
  bool conflict = false;
  std::optional<Done> failed = {};
};
Together write_together(Call& call, std::span<const kv::Condition> conditions,
                        std::span<const kv::LocalStore::Write> writes);
// Why a store did not take a change: the text of the error; and that of EXEC because of another
// one.
std::string refusal_text(const Status& why);
std::string exec_abort_text(std::string_view why);
// Of all keys.
std::optional<Done> clear(Call& call);

// Bulk string of the value, or null, or that it is damaged.
void reply_value(Call& call, const std::optional<kv::LocalStore::Found>& found);

// A time that an option or a command names: milliseconds since 1970. Nothing: the reply is written.
enum class TimeUnit : std::uint8_t { seconds, milliseconds };
enum class TimeBase : std::uint8_t { now, epoch };
std::optional<std::int64_t> expiry_of(Call& call, std::string_view text, TimeUnit unit,
                                      TimeBase base);

}  // namespace remora::resp
