// Store: a durable key-value store: in this process, in another one, or on another machine.
//
//   remora::Store store = remora::Store::open("data/my.pool").value();      // embedded
//   remora::Store store = remora::Store::connect("data/remora.sock").value();  // `remora serve`
//   remora::Store store = remora::Store::connect("192.0.2.7:4791", {.token = "..."}).value();
//   store.put("key", "value").value();
//   std::string value = store.get("key").value();
//
// The same type and the same promises, whichever it is. Keys have 1 byte to 1 KB, values 0 bytes to
// 16 MB; both are any bytes.
//
// Durability. An acknowledged put or del is seen by every later get. With Durability::standard the
// store makes it persistent by itself a moment later: until then a power cut may lose it, wholly,
// never torn, and never after a get has returned it. With Durability::persistent it is acknowledged
// when it is persistent. What that is worth is the medium's: `medium()` says. These are the
// promises of the engine efactory, which is the default; others promise less, or make every put
// wait, as `remora explain` tells.
//
// Threads. A store belongs to one thread at a time: its calls come from one thread, or are kept
// apart by the caller. It makes no thread of its own but, on an ordinary file, the one that waits
// for the disk. Its loop runs in the caller's thread, inside blocking calls, `wait`, `run` and
// `turn`; an embedded store works in the background only while one of these runs.
//
// Ownership. Keys and values of an operation are the caller's, and stay as they are until it has
// ended; with the blocking forms that is when the call returns. The store must outlive its flows
// and pending operations; its destructor waits for those that are under way, and, embedded, until
// all that was acknowledged is persistent, as far as the engine makes it so by itself.
//
// Failure. Typed (error.h). `closed` says that the connection ended in the middle of an operation,
// which may or may not have happened; the next call connects again, and fails if nobody serves. The
// blocking get does so by itself. A connected store that is left alone for seconds may be
// disconnected, since it cannot follow what the server tells all clients: it connects again before
// it does what it is asked. A pool file that is cut short while it is in use ends the program by a
// signal, unless the program asks for a failure instead (signals.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <remora/error.h>
#include <remora/facts.h>
#include <remora/flow.h>

namespace remora {

enum class Durability : std::uint8_t { standard, persistent };

// Whether a get computes the checksum of the value that it shows. A value that fails it is
// `damaged`, and its bytes are not shown.
enum class VerifyReads : std::uint8_t {
  automatic,  // where that costs under a tenth of the get: small values
  always,
  never,  // values that were verified since the store was started are shown as they are
};

struct OpenOptions {
  std::uint64_t pool_bytes = std::uint64_t{64} << 20;  // of a pool that is made
  std::string media = "auto";                 // auto, dax, file or dram: how it is made persistent
  std::string engine = "efactory";            // `remora bench --help` lists them
  std::uint32_t in_flight = 16;               // operations at a time; more wait
  std::size_t largest_value_bytes = 1 << 20;  // up to 16 MB; costs memory
  VerifyReads verify_reads = VerifyReads::automatic;
};

struct ConnectOptions {
  // Gives the role, in place of that of the user. A store on another machine asks for one. It does
  // not travel: both sides prove that they know it.
  std::string token = {};
  // For another machine: a file (PEM) that vouches for the certificate of its server; the session
  // then goes by TLS. Empty: in clear.
  std::string tls_ca = {};
  // "roce": by RoCE in software, to another machine; "verbs" or "verbs:DEVICE": through this RDMA
  // device. Empty: as the server has it.
  std::string fabric = {};
  std::uint32_t in_flight = 16;  // operations at a time; more wait
  std::size_t largest_value_bytes = 1 << 20;
  std::uint64_t timeout_ns = 10'000'000'000;  // of an answer
  VerifyReads verify_reads = VerifyReads::automatic;
};

// What bytes are made persistent by.
struct Medium {
  bool survives_power_cut = false;
  std::string method;  // "clwb + sfence"
  std::string reason;  // why in that way
};

// Operations to be done together, in no order among themselves. It keeps copies.
class Batch {
 public:
  enum class Kind : std::uint8_t { put, get, del };
  struct Operation {
    Kind kind = Kind::get;
    std::string key = {};
    std::string value = {};
    Durability durability = Durability::standard;
  };

  void put(std::string key, std::string value, Durability durability = Durability::standard) {
    operations_.push_back({Kind::put, std::move(key), std::move(value), durability});
  }
  void get(std::string key) { operations_.push_back({Kind::get, std::move(key)}); }
  void del(std::string key) { operations_.push_back({Kind::del, std::move(key)}); }

  const std::vector<Operation>& operations() const { return operations_; }
  void clear() { operations_.clear(); }

 private:
  std::vector<Operation> operations_;
};

// A value, and what conditions name it by.
struct Versioned {
  std::string value;
  std::uint64_t version = 0;  // another one after every put of this key, and never 0
};

// Several keys to be written at once: wholly or not at all, for every reader and at every power
// cut. A reader that has seen one of its keys finds all others in every get that it begins then. A
// key stands once among the writes. It keeps copies.
class Together {
 public:
  // That the key has this version when all is written; 0: that there is no such key. Where one does
  // not hold, nothing is written.
  void expect(std::string key, std::uint64_t version) {
    conditions_.push_back({std::move(key), version});
  }
  // `expires`: milliseconds since 1970, from when on the key is not there; 0: never.
  void put(std::string key, std::string value, std::uint64_t expires = 0) {
    writes_.push_back({std::move(key), std::move(value), expires, true});
  }
  void del(std::string key) { writes_.push_back({std::move(key), {}, 0, false}); }

  struct Condition {
    std::string key = {};
    std::uint64_t version = 0;
  };
  struct Write {
    std::string key = {};
    std::string value = {};
    std::uint64_t expires = 0;
    bool is_put = true;  // else a deletion
  };
  const std::vector<Condition>& conditions() const { return conditions_; }
  const std::vector<Write>& writes() const { return writes_; }
  void clear() {
    conditions_.clear();
    writes_.clear();
  }

 private:
  std::vector<Condition> conditions_;
  std::vector<Write> writes_;
};

struct StoreParts;  // of the library

class Store {
 public:
  // A store of this process alone, in a file that is made if it is not there. in_use when another
  // process has it.
  static Expected<Store> open(const std::string& pool_path, const OpenOptions& options = {});
  // The same in memory, gone with the process.
  static Expected<Store> open_memory(const OpenOptions& options = {});
  // The store that `remora serve` serves: the path of its socket on this machine, or HOST:PORT on
  // another one, where it was told to --listen. A HOST is a name or an address, one of IPv6 in
  // brackets; a path with a colon in it has a slash too. not_found when nobody listens there.
  static Expected<Store> connect(const std::string& where, const ConnectOptions& options = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) = delete;
  ~Store();

  // --- Blocking. Not from inside a flow.

  Expected<void> put(std::string_view key, std::string_view value,
                     Durability durability = Durability::standard);
  // not_found when there is no such key.
  Expected<std::string> get(std::string_view key);
  // The same, with the version that conditions name.
  Expected<Versioned> get_version(std::string_view key);
  // Success also when the key was not there.
  Expected<void> del(std::string_view key);
  // All of it, as durable as a put. `conflict`, where a condition does not hold; `damaged`, where
  // one names a damaged key; `no_space`, where there is no room for all of it: a write is never
  // split. After any failure but `closed` and `timed_out` nothing has happened. Of the engine
  // efactory; `unsupported` of others.
  Expected<void> write(const Together& together, Durability durability = Durability::standard);
  // Calls visit(key) for every key, in no order, until it returns false. A key that is there from
  // beginning to end is visited at least once. The visit does not use the store.
  Expected<void> scan(const std::function<bool(std::string_view key)>& visit);
  // All of them at once; outcomes in the order of the batch, with a value for each get.
  std::vector<Expected<std::string>> run(const Batch& batch);

  // Connects again if the connection has ended, as every blocking call does before its work, and
  // returns whether it had. For programs that use only the forms below. Not from inside a flow.
  Expected<bool> reconnect();
  // Lets values of up to so many bytes through from now on, where that is more than before: a
  // larger buffer needs a new connection. in_use while operations are under way.
  Expected<void> make_room(std::size_t value_bytes);

  // --- Started at once, ended later: to be awaited in a Flow, or waited for.

  Pending<void> put_async(std::string_view key, std::string_view value,
                          Durability durability = Durability::standard);
  Pending<std::string> get_async(std::string_view key);
  Pending<void> del_async(std::string_view key);

  // Runs the loop until it has ended. Not from inside a flow.
  template <typename T>
  Expected<T> wait(Pending<T> pending) {
    while (!pending.ready()) {
      step();
    }
    leave();
    return pending.take();
  }
  template <typename T>
  T run(Flow<T> flow) {
    while (!flow.ready()) {
      step();
    }
    leave();
    return flow.take();
  }
  // Runs the loop until nothing that was started is under way.
  void wait_all();
  // Runs the loop once; may sleep until something happens.
  void turn();
  // Runs the loop for so long.
  void run_for(std::uint64_t span_ns);

  // --- About it.

  Medium medium();
  // What an acknowledged put is now, in a few words: "persistent", "visible", or "visible" and what
  // the store's medium does not survive.
  std::string acknowledged(Durability durability);
  // What the store tells of itself.
  Expected<Facts> facts();
  // Asks the server to verify everything that the store holds; its facts before that. Its facts
  // then tell how far it is. Needs the role admin.
  Expected<Facts> scrub();
  // Asks the server to make its pool so large, while it serves; its facts when that has begun.
  // Its facts then tell how it goes: pool_growing_to is 0 when it has ended, and
  // pool_growth_failure says why it failed, or "none". With a file, only if that is the pool.
  // Needs the role admin.
  Expected<Facts> grow(std::uint64_t size_bytes, const std::string& pool_file = "");
  // Asks the server to stop in order; its last facts. Needs the role admin.
  Expected<Facts> stop();
  // "mapped" when this process works on the pool's memory by itself, "ring" when the server does,
  // "roce" across the network, "verbs:DEVICE" through an RDMA device.
  std::string wire();
  // "read", "write" or "admin".
  std::string role() const;
  // Why no operation can succeed any more, or success.
  Expected<void> failure() const;

 private:
  friend struct StoreParts;
  // A turn of the loop, and what is to be done when no other may follow.
  void step();
  void leave();

  explicit Store(std::unique_ptr<StoreParts> parts);
  std::unique_ptr<StoreParts> parts_;
};

}  // namespace remora
