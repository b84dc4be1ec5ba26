// The store contract. An engine is two halves behind it: a StoreClient, whose operations are flows
// (one coroutine each, which reads like the figure in its paper), and a StoreServer, which answers
// what the flows ask and works in the background. Every engine declares its promise (Engine); the
// same checkers hold it to that.
//
// Keys have 1 byte to 1 KB, values 0 bytes to 16 MB. What cannot be done is a typed failure:
//   invalid_argument  key or value of an impossible size
//   not_found         no such key
//   no_space          the pool is full, or the caller's buffer is too small for the value
//   in_use            the store is making room, and was for as long as the client has patience: the
//                     put or del did not happen; try again
//   permission_denied the client may read alone
//   conflict          a condition of a write of several keys does not hold
//   damaged           the value fails its checksum, though it was persistent: a put or del of the
//   key
//                     mends it
//   closed            the server is gone, or has disconnected this client
//   timed_out         no answer, or one that came too late: a put may or may not have happened
//
// Pipelining is having several operations in flight: a client takes as many as
// ClientOptions::in_flight, and lets more wait. Operations of one client that overlap are in no
// order; one that is started after another's end comes after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "base/faults.h"
#include "base/histogram.h"
#include "base/result.h"
#include "fabric/queue_pair.h"
#include "host/host.h"
#include "kv/limits.h"
#include "kv/multi_write.h"
#include "kv/promise.h"
#include "kv/verify_reads.h"
#include "pmem/pool.h"
#include "runtime/task.h"

namespace remora::kv {

enum class Durability : std::uint8_t {
  standard,    // what the engine promises by itself
  persistent,  // acknowledged means persistent
};

struct PutOptions {
  Durability durability = Durability::standard;
};

// Where a scan goes on; 0 is the beginning, and, when returned, the end.
using ScanCursor = std::uint64_t;

class ScanSink {
 public:
  virtual ~ScanSink() = default;
  // A key that the store holds. Its bytes are there until this returns.
  virtual void key(ConstBytes key) = 0;
};

struct ReadObject;  // kv/log/object.h

// What a copy of a store is handed to.
class CopySink {
 public:
  virtual ~CopySink() = default;
  // Once, before the first object: about so many bytes will come.
  virtual void begin(std::uint64_t size_bytes) = 0;
  // A version of a key, or a tombstone, whole. Its bytes are there until this returns. Of several
  // versions of one key, which come in any order, the one with the highest sequence number is the
  // newest. A failure ends the copy with it.
  virtual Status object(const ReadObject& object) = 0;
};

// The client half. One thread, that of its loop. It is destroyed when no operation is in flight.
class StoreClient {
 public:
  virtual ~StoreClient() = default;

  // Key and value are the caller's until the flow ends.
  virtual Task<Status> put(ConstBytes key, ConstBytes value, PutOptions options = {}) = 0;

  // The size of the value, which is copied to `value`. When it does not fit: no_space, and a
  // message that names the size.
  virtual Task<Result<std::size_t>> get(ConstBytes key, Bytes value) = 0;

  // Success also when the key was not there.
  virtual Task<Status> del(ConstBytes key) = 0;

  // As get, with the version that conditions name: another one after every put of this key, and
  // never 0. `unsupported` where the engine has no conditions.
  struct Versioned {
    std::size_t size_bytes = 0;
    std::uint64_t version = 0;
  };
  virtual Task<Result<Versioned>> get_version(ConstBytes key, Bytes value);

  // Several keys at once, wholly or not at all: for every get that begins after one that saw a part
  // of it, and for every power cut. `conflict`, where a condition does not hold, `no_space`, where
  // the store has no room for all of it, and every other failure but closed and timed_out: nothing
  // has happened. It is as durable as a put with these options. `unsupported` where the engine
  // cannot.
  virtual Task<Status> write_together(const MultiWrite& what, PutOptions options = {});

  // Some keys, in no particular order. A key that is there from the first call to the last is given
  // at least once.
  virtual Task<Result<ScanCursor>> scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) = 0;

  // Everything that the store holds, as of one moment while the copy begins: every put that was
  // acknowledged before the call, and none without those that were acknowledged before it was
  // asked for. Puts go on meanwhile. Fails with in_use when the store needs the room of what is
  // being copied, or when somebody else copies: begin again, with an empty sink. `unsupported`
  // where the engine cannot. One copy at a time.
  virtual Task<Status> copy(CopySink& sink);

  // Why no operation can succeed any more, or success.
  virtual Status failure() const = 0;
};

class LocalStore;  // kv/local_store.h

// What a client may do. One that may read alone gets no right on memory but to READ it, and every
// other request of it is refused with permission_denied.
enum class Rights : std::uint8_t { read, write };

// What two sides tell each other before they can talk, by whatever means the world has.
struct PeerAddress {
  fabric::QueuePairAddress queue_pair;
};

// The server half. One thread, that of its loop; the host and the pool outlive it.
class StoreServer {
 public:
  virtual ~StoreServer() = default;

  // A client that came; its address is answered with the server's for it.
  virtual Result<PeerAddress> accept(const PeerAddress& client, Rights rights) = 0;
  Result<PeerAddress> accept(const PeerAddress& client) { return accept(client, Rights::write); }

  // The store for the server's own process, or null where an engine has none.
  virtual LocalStore* local() { return nullptr; }

  // Clients that are connected.
  virtual std::size_t clients() const = 0;
  // Whether background work is under way or waits (verification, cleaning): a quiet server has all
  // that was acknowledged persistent, if the engine promises that it ever will be.
  virtual bool busy() const = 0;
  // An orderly stop, of a quiet server: leaves marks of where everything ends, so that recovery
  // notices what is damaged meanwhile. Blocks. Nothing is asked of the server any more.
  virtual Status finish() { return Status(); }
  // Success, or why it serves no changes.
  virtual Status changeable() const { return Status(); }
  // Begins a pass over everything that lives, as fast as requests let it, unless one is under way
  // already; counters tell how it goes. `unsupported` where an engine has no checksums.
  virtual Status scrub();
  // Whether its pool can grow while it is served.
  virtual bool grows() const { return false; }
  // The pool becomes so large; it is persistent when this ends with success. The region has the
  // bytes already. Clients go on meanwhile; one that stands still may be disconnected. Fails as
  // Pool::grow, with in_use while another growth is under way, with `unsupported` where the engine
  // cannot.
  virtual Task<Status> grow(std::uint64_t pool_bytes);
  // Numbers for people and for metrics; the engine's descriptor tells what each is.
  struct Counter {
    std::string_view name;
    std::uint64_t value = 0;
  };
  virtual std::vector<Counter> counters() const = 0;
  // Requests of clients that were answered with a failure. That there is no such key is none.
  virtual std::uint64_t failed_requests() const = 0;
  // From the request of a put until its version was persistent, in nanoseconds; null where the
  // engine does not know.
  virtual const Histogram* durability_latency() const { return nullptr; }
};

// What of the log is cleaned, where there is room to choose.
enum class Cleaning : std::uint8_t {
  cheapest,  // segments of which little lives, as long as there are many; else all
  whole,     // all, as published
  parts,     // for tests: parts before all, as where room is short
};

struct ServerOptions {
  bool create = false;  // a fresh store in the pool; else the one that is there is recovered
  std::uint32_t most_clients = 64;
  std::uint64_t segment_bytes = 0;             // of the log; 0: by the size of the pool
  std::uint64_t expected_keys = 1024;          // to begin with; the index grows
  std::uint64_t put_timeout_ns = 100'000'000;  // from the request until the value must be there
  std::uint32_t clean_at_percent = 75;         // of the log's space in use
  // For tests: how many bits of a key's hash the index tells keys apart by, so that many share
  // them. 0: all; nothing that users can say changes it. eFactory heeds it.
  std::uint16_t tag_bits = 0;
  // Where the marks of the log's segments go on, so often: what is damaged before them is noticed.
  std::uint64_t mark_every_ns = 500'000'000;
  // A store with damage before its marks is served all the same, for reading alone.
  bool accept_damage = false;
  bool clean_always = false;  // for who measures cleaning: after one comes the next
  Cleaning cleaning = Cleaning::cheapest;
  // Requests that one poll takes; 0: as many as the engine's design does.
  std::uint32_t batch = 0;
  // Versions that may wait to be verified, where that is done later; a put beyond is to try again.
  std::size_t awaited_versions = 1 << 16;
  // How long a client may be silent before it follows a change that all must know of; then it is
  // disconnected. One that waits for an answer is not silent.
  std::uint64_t client_timeout_ns = 1'000'000'000;
  // Where being persistent takes a commit: how long changes by the local store wait at most for one
  // that nobody asks for.
  std::uint64_t local_commit_ns = 50'000'000;
  // What one client may have on its way: values that it was granted space for and that are not yet
  // persistent, and the space of these. It is told to try again beyond that. The engines that hand
  // out space keep to it.
  std::uint32_t client_operations = UINT32_MAX;
  std::uint64_t client_bytes = UINT64_MAX;
  // Whether gets of the server's own process compute the checksums of what they show.
  VerifyReads verify_reads = VerifyReads::automatic;
  std::uint64_t verified_bytes = 0;  // up to which size, if automatic: see verify_reads.h
  // In how long the checksum of everything that lives is computed once; 0: never.
  std::uint64_t scrub_ns = std::uint64_t{24} * 3600 * 1'000'000'000;
  // Whether the server's loop may wait for a commit that all its clients wait for. Who is far away
  // would take that for a server that is gone.
  bool may_stand_still = true;
  // Gives clients the segments of the log, each with a key of its own, and not a guarded region of
  // the pool. Where the device cannot ask a guard this is so in any case.
  bool segment_keys = false;
  fabric::ConnectOptions connect = {};  // how soon a client that is gone is noticed
};

struct ClientOptions {
  std::uint32_t in_flight = 16;
  std::size_t buffer_bytes = 1 << 20;        // registered memory for values on their way
  std::uint64_t timeout_ns = 1'000'000'000;  // of a call
  // Up to which values may travel within requests, in engines that otherwise write them into the
  // server's memory. By default that is the device's affair: see costs_by_message.
  std::optional<std::uint32_t> whole_value_bytes = {};
  // Whether gets ask for such values too, and do not READ them; by default they do.
  bool whole_gets = true;
  // Whether the checksum of a value that was READ is computed. Where it fails the server is asked,
  // which looks for itself.
  VerifyReads verify_reads = VerifyReads::automatic;
  std::uint64_t verified_bytes = 64;  // up to which size, if automatic: see verify_reads.h
  fabric::ConnectOptions connect = {};
};

// A client that has its address and waits for the server's.
class PendingClient {
 public:
  virtual ~PendingClient() = default;
  virtual PeerAddress address() const = 0;
  // Once. The store is ready for use when the flow ends.
  virtual Task<Result<std::unique_ptr<StoreClient>>> connect(const PeerAddress& server) = 0;
};

// An engine, as the product, the harness and the crash world find it.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Descriptor& descriptor() const = 0;
  std::string_view name() const { return descriptor().name; }  // "efactory"; as --engine has it
  std::string_view about() const { return descriptor().about; }
  std::string_view caveat() const { return descriptor().caveat; }
  std::string_view unsummed() const { return descriptor().unsummed; }
  std::span<const Fault* const> faults() const { return descriptor().faults; }
  virtual Promise promise() const = 0;
  // What an acknowledged del means, for which no options are given.
  virtual Durability del_durability() const { return Durability::standard; }
  virtual Result<std::unique_ptr<StoreServer>> start_server(Host host, Pool& pool,
                                                            const ServerOptions& options) const = 0;
  virtual Result<std::unique_ptr<PendingClient>> start_client(
      Host host, const ClientOptions& options) const = 0;
};

// All engines, the default first.
const std::vector<const Engine*>& engines();
// By name, or a failure that lists the names.
Result<const Engine*> find_engine(std::string_view name);

}  // namespace remora::kv
