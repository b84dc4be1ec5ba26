// Store: a durable key-value store, in this process or in another one of this machine.
//
//   remora::Store store = remora::Store::open("data/my.pool").value();      // embedded
//   remora::Store store = remora::Store::connect("data/remora.sock").value();  // `remora serve`
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
// which may or may not have happened; the next call connects anew, and fails if nobody serves. The
// blocking get does so by itself. A connected store that is left alone for seconds may be
// disconnected, since it cannot follow what the server tells all clients: it connects anew before
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
#include <remora/flow.h>

namespace remora {

enum class Durability : std::uint8_t { standard, persistent };

struct OpenOptions {
  std::uint64_t pool_bytes = std::uint64_t{64} << 20;  // of a pool that is made
  std::string media = "auto";                 // auto, dax, file or dram: how it is made persistent
  std::string engine = "efactory";            // `remora bench --help` lists them
  std::uint32_t in_flight = 16;               // operations at a time; more wait
  std::size_t largest_value_bytes = 1 << 20;  // up to 16 MB; costs memory
};

struct ConnectOptions {
  std::string token = {};        // in place of the user's own role
  std::uint32_t in_flight = 16;  // operations at a time; more wait
  std::size_t largest_value_bytes = 1 << 20;
  std::uint64_t timeout_ns = 10'000'000'000;  // of an answer
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

class Store {
 public:
  // A store of this process alone, in a file that is made if it is not there. in_use when another
  // process has it.
  static Expected<Store> open(const std::string& pool_path, const OpenOptions& options = {});
  // The same in memory, gone with the process.
  static Expected<Store> open_memory(const OpenOptions& options = {});
  // The store that `remora serve` serves at that socket. not_found when nobody listens there.
  static Expected<Store> connect(const std::string& socket_path,
                                 const ConnectOptions& options = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) = delete;
  ~Store();

  // --- Blocking. Not from inside a flow.

  Expected<void> put(std::string_view key, std::string_view value,
                     Durability durability = Durability::standard);
  // not_found when there is no such key.
  Expected<std::string> get(std::string_view key);
  // Success also when the key was not there.
  Expected<void> del(std::string_view key);
  // Calls visit(key) for every key, in no order, until it returns false. A key that is there from
  // beginning to end is visited at least once. The visit does not use the store.
  Expected<void> scan(const std::function<bool(std::string_view key)>& visit);
  // All of them at once; outcomes in the order of the batch, with a value for each get.
  std::vector<Expected<std::string>> run(const Batch& batch);

  // Connects anew if the connection has ended, as every blocking call does before its work; for
  // those who use the forms below alone. Not from inside a flow.
  Expected<void> reconnect();

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

  // --- About it.

  Medium medium();
  // "mapped" when this process works on the pool's memory by itself, "ring" when the server does.
  std::string wire();
  // "read", "write" or "admin".
  std::string role() const;
  // Why no operation can succeed any more, or success.
  Expected<void> failure() const;

 private:
  // A turn of the loop, and what is to be done when no other may follow.
  void step();
  void leave();

  struct Inside;
  explicit Store(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace remora
