// Transaction: what one client has said with MULTI and WATCH: the commands that EXEC is to run, and
// the keys that must be what they are.
//
// It is bounded by its owner, who asks for its bytes. The table of commands and the watches outlive
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/resp/watches.h"
#include "kv/local_store.h"

namespace remora::resp {

struct Command;

class Transaction {
 public:
  explicit Transaction(Watches& watches) : watches_(watches) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { unwatch(); }

  // Whether MULTI has begun it. Before that there are watched keys alone.
  bool is_open() const { return open_; }
  void open() { open_ = true; }

  // A command could not be queued: none will be run.
  void spoil();
  bool is_spoiled() const { return spoiled_; }

  // Commands are queued in order; their arguments are copied.
  void add(const Command& command, std::span<const std::string_view> args);
  std::size_t commands() const { return queue_.size(); }
  // Whether one of them has one of these flags.
  bool has(std::uint32_t flags) const { return (flags_ & flags) != 0; }
  // All arguments of all of them lie in here.
  std::string_view bytes() const { return bytes_; }

  // Goes through what is queued: the next command, with its arguments, or null behind the last.
  class Reader {
   public:
    explicit Reader(const Transaction& transaction) : transaction_(transaction) {}
    const Command* next(std::vector<std::string_view>& args);

   private:
    const Transaction& transaction_;
    std::size_t command_ = 0;
    std::size_t argument_ = 0;
    std::size_t at_ = 0;
  };

  // The key, as it is stored, must be what it is now when EXEC comes. Once is enough.
  void watch(kv::LocalStore& store, std::string_view key);
  void unwatch();
  // Whether all watched keys are what they were.
  bool holds(kv::LocalStore& store) const;
  // The same for who writes under it: added to the list. The keys are those of here.
  void conditions(std::vector<kv::Condition>& list) const;

  // What it takes, and what one more command or key would.
  std::size_t memory_bytes() const;
  static std::size_t bytes_of(std::span<const std::string_view> args);

 private:
  struct Queued {
    const Command* command = nullptr;
    std::uint32_t arguments = 0;
  };
  // What a key was when it was watched.
  struct Watched {
    std::uint64_t version = 0;
    std::uint64_t changes = 0;
  };

  Watches& watches_;
  bool open_ = false;
  bool spoiled_ = false;
  std::uint32_t flags_ = 0;
  std::string bytes_;
  std::vector<std::uint32_t> sizes_;  // of arguments
  std::vector<Queued> queue_;
  std::map<std::string, Watched, std::less<>> watched_;
  std::size_t watched_bytes_ = 0;
};

}  // namespace remora::resp
