// Settings: all that a person can say about the server, by flags or in a file. A server is made
// from one of these and reads nothing else.
//
// A file is TOML (toml.h):
//
//   pool = "data/remora.pool"      # "" for memory
//   size = "64M"                   # of a pool that is made
//   media = "auto"                 # auto, dax, file or dram
//   engine = "efactory"
//   socket = "data/remora.sock"
//   resp = "auto"                  # Redis clients, of users and with tokens as below: HOST:PORT;
//                                  # "auto": 127.0.0.1:6380 where that can be had; "" for none
//   resp_durability = "asynchronous"  # of their writes, or "persistent"
//   resp_clients = 10000           # Redis clients at a time; fewer where the limit of open files
//                                  # (ulimit -Hn) has no room for them beside native clients
//   metrics = "127.0.0.1:9464"     # "" for none
//                                  # /metrics there, and /health: 200, or 503 and what is wrong
//   http = ""                      # the live page: HOST:PORT, "auto" for 127.0.0.1:6381 where that
//                                  # can be had, "" for none
//   on_failure = "exit"            # when the pool cannot be written any more: exit, with status 3,
//                                  # so that a restart reads what the disk has; or stay, and go on
//                                  # with reads of what is persistent
//   listen = "192.0.2.7:4791"      # other machines, by RoCE and with a token, beside the socket;
//                                  # TCP and UDP; "" for none
//   fabric = "auto"                # or "roce": as it is with `listen`, which must be there; or
//                                  # "verbs", "verbs:DEVICE": clients reach the store through this
//                                  # RDMA device; the socket or `listen` let them in
//   tls_cert = "", tls_key = ""    # PEM files, both or none: `resp` and `listen` then speak TLS
//                                  # alone; values that RoCE carries stay in clear. Read again, as
//                                  # [access] is, on SIGHUP
//   insecure = false               # true: `listen` without tokens, `resp` without tokens and TLS,
//                                  # and `metrics` may be reached from other machines
//   clients = 64                   # native ones, at a time
//   client_operations = 8192       # of one client, in flight: values that it was granted space
//                                  # for and that are not yet persistent, replies that wait for
//                                  # that
//   client_bytes = "256M"          # the same in bytes; and of a Redis client a request, or replies
//   scrub = "24h"                  # in how long the checksum of all that lives is computed once:
//                                  # hours, minutes or seconds; "off" for never
//   verify_reads = "auto"          # whether gets of Redis clients compute the checksums of what
//   they
//                                  # show: always, never, or where it costs under a tenth of a get
//   threads = 1                    # 2: large values are verified on a thread of their own, which
//                                  # wants a core of its own
//
//   [access]                       # see access.h
//   others = "read"                # users that are not named below
//   clients_per_user = 16          # at a time, of each user but the server's own; of Redis clients
//                                  # the same share of theirs (16 of 64: a quarter), where those
//                                  # of another machine are one user
//   [access.users]                 # by name or number
//   alice = "write"
//   [access.tokens]                # 16 to 108 letters; the file must not be readable by others
//   "a token of some length" = "read"
//
// A HOST is an address or a name. A flag --NAME sets the key of that name above the first section,
// and wins over the file. packaging/remora.toml is such a file to begin with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "front/resp/server.h"
#include "kv/store.h"
#include "link/access.h"
#include "pmem/open_region.h"
#include "server/toml.h"

namespace remora::server {

// What a server does whose store has failed for good.
enum class OnFailure : std::uint8_t { exit, stay };

struct Settings {
  std::string pool = "data/remora.pool";               // made if it is not there; empty: memory
  std::uint64_t pool_bytes = std::uint64_t{64} << 20;  // of a pool that is made
  Media media = Media::automatic;
  std::string engine = "efactory";
  std::string socket = {};  // empty: beside the pool
  std::string resp = "auto";
  resp::Durability resp_durability = resp::Durability::asynchronous;
  std::uint32_t resp_clients = resp::limits::clients;
  std::string metrics = {};  // HOST:PORT; empty: none
  std::string http = {};     // the live page: HOST:PORT, "auto", or empty: none
  OnFailure on_failure = OnFailure::exit;
  bool accept_damage = false;  // a flag alone: nobody accepts in advance what is not known yet
  std::string listen = {};     // HOST:PORT; empty: the socket alone
  std::string fabric = "auto";
  std::string tls_cert = {};  // PEM files; empty: no TLS
  std::string tls_key = {};
  bool insecure = false;
  std::uint32_t most_clients = 64;
  std::uint32_t client_operations = 8192;
  std::uint64_t client_bytes = std::uint64_t{256} << 20;
  std::uint64_t scrub_ns = kv::ServerOptions().scrub_ns;  // 0: never
  kv::VerifyReads verify_reads = kv::VerifyReads::automatic;
  std::uint32_t threads = 1;
  link::AccessRules access = {};
};

// Every key that a file may have: above the sections, and in [access].
inline constexpr std::array<std::string_view, 22> setting_keys = {
    "pool",
    "size",
    "media",
    "engine",
    "socket",
    "resp",
    "resp_durability",
    "resp_clients",
    "metrics",
    "http",
    "on_failure",
    "listen",
    "fabric",
    "tls_cert",
    "tls_key",
    "insecure",
    "clients",
    "client_operations",
    "client_bytes",
    "scrub",
    "verify_reads",
    "threads",
};
inline constexpr std::array<std::string_view, 2> access_keys = {"others", "clients_per_user"};

// Changes one of the settings above the sections. Fails with invalid_argument, and a message that
// names the key and what would be right.
Status change_setting(Settings& settings, std::string_view key, std::string_view value);

// Whether the settings can be had together; invalid_argument if not. Asked when all are there.
Status check_together(const Settings& settings);

// The settings in a file's text, where it says nothing as they are in `settings`. Fails with
// invalid_argument; the message names the line and the key.
Result<Settings> parse_settings(std::string_view text, Settings settings = {});

// The same from a file: not_found, or permission_denied when others can read its tokens. The
// message begins with the path.
Result<Settings> read_settings(const std::string& path, Settings settings = {});

// Where clients come in: what the settings say, or a socket beside the pool.
std::string socket_of(const Settings& settings);

// The path that a client tries when nobody names one: the socket of the default settings.
std::string default_socket();

}  // namespace remora::server
