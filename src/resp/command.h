// What the commands of the Redis front end are made of: a Session for what one client has said of
// itself, a Call for one request, and the table of commands.
//
// A command is a plain function. It writes one reply, or none when it cannot be done yet: then it
// has changed nothing that it would not change again, and is called anew later.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kv/local_store.h"
#include "kv/move_key.h"
#include "resp/output.h"
#include "runtime/runtime.h"

namespace remora::resp {

// What a client may do.
enum class Access : std::uint8_t { none, read, write };

struct Session {
  std::uint64_t id = 0;
  Protocol protocol = Protocol::two;
  Access access = Access::write;
  bool refusing = false;  // it has begun a transaction, which there are none of
  bool closing = false;   // when its replies have left
  std::string name = {};
  std::string peer = {};  // its address, for people
  std::uint64_t came_ms = 0;
  kv::LocalStore::Mark mark = 0;  // of its last change
  std::size_t progress = 0;       // keys that a command which waits for room has seen to; else 0
  kv::KeyMove move = {};          // of one that waits in the middle of it
  std::string moved = {};         // its key
};

// A client that waits for its changes to be persistent (WAITAOF).
struct PersistenceWait {
  kv::LocalStore::Mark mark = 0;
  std::int64_t local = 0;
  std::int64_t replicas = 0;
  std::uint64_t timeout_ms = 0;  // 0: none
};

enum class Done : std::uint8_t {
  replied,
  no_room,      // the store must be cleaned first
  uncommitted,  // what it has done must be persistent before it goes on
  waits,        // Executor::wait() says for what
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
  std::uint16_t port = 0;
};

class Executor;
using Args = std::span<const std::string_view>;

struct Call {
  Executor& executor;
  kv::LocalStore& store;
  Session& session;
  Args args;
  Output& out;
  bool full = false;  // the store has no room, and waiting does not help

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
};

std::span<const Command> commands();
// By its name in any case, or null.
const Command* find_command(std::string_view name);
bool fits_arity(const Command& command, std::size_t args);

class Executor {
 public:
  // All outlive it.
  Executor(Runtime& runtime, kv::LocalStore& store, const Settings& settings, Counters& counters);

  // Runs one request. `full`: the store has no room, and waiting does not help.
  Done execute(Session& session, Args args, Output& out, bool full);
  const PersistenceWait& wait() const { return wait_; }
  void set_wait(const PersistenceWait& wait) { wait_ = wait; }

  Runtime& runtime() { return runtime_; }
  const Settings& settings() const { return settings_; }
  Counters& counters() { return counters_; }
  std::uint64_t started_ms() const { return started_ms_; }
  // Sessions that there are, for CLIENT LIST; the owner of them sets it.
  std::function<void(const std::function<void(const Session&)>&)> each_session;

 private:
  const Command* command_of(std::string_view name);
  bool is_in_doubt(const Command& command, Args args);

  Runtime& runtime_;
  kv::LocalStore& store_;
  const Settings& settings_;
  Counters& counters_;
  const std::uint64_t started_ms_;
  PersistenceWait wait_;
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
// For one that is a family of commands: it has no such one, and these, told as Redis tells them.
Done unknown_subcommand(Call& call);
Done help(Call& call, std::span<const std::string_view> lines);
bool is_word(std::string_view argument, std::string_view lower);
// As a C string is printed: up to a zero byte, and no more than so many.
std::string_view printed(std::string_view text, std::size_t most = 128);
// An integer argument, or nothing, and then the reply is written.
std::optional<std::int64_t> integer_of(Call& call, std::string_view text);

std::optional<kv::LocalStore::Found> look_up(Call& call, std::string_view key);
// For who needs the value: if it is damaged, the reply says so.
std::optional<Done> refuse_damaged(Call& call, const std::optional<kv::LocalStore::Found>& found);
// Puts the value, or says why not: `replied` with an error, or `no_room`. Nothing is written where
// it succeeds.
std::optional<Done> put(Call& call, std::string_view key, std::span<const ConstBytes> value,
                        kv::LocalStore::Expiry expires);
std::optional<Done> put(Call& call, std::string_view key, std::string_view value,
                        kv::LocalStore::Expiry expires);
std::optional<Done> erase(Call& call, std::string_view key);
// All changes, or none where there is no room for all; those that the session's progress says are
// made already are not made again. The keys are as they are stored.
std::optional<Done> write_all(Call& call, std::span<const kv::LocalStore::Write> writes);
// As RENAME does; may be `uncommitted`.
std::optional<Done> move(Call& call, std::string_view from, std::string_view to);

// Bulk string of the value, or null, or that it is damaged.
void reply_value(Call& call, const std::optional<kv::LocalStore::Found>& found);

// A time that an option or a command names: milliseconds since 1970. Nothing: the reply is written.
enum class TimeUnit : std::uint8_t { seconds, milliseconds };
enum class TimeBase : std::uint8_t { now, epoch };
std::optional<std::int64_t> expiry_of(Call& call, std::string_view text, TimeUnit unit,
                                      TimeBase base);

}  // namespace remora::resp
