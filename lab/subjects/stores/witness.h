// Witness: writes down what clients asked of a store and what they were told, as a History.
//
// Every connection dies with the server's power, and no client repeats an operation on another one.
// So a cut of the server is a whole-world cut to the history: what was pending took effect before,
// or never. An answer that was on its way meanwhile is not written down.
//
// A failure says little. A write stays pending when its connection has failed, since parts of it
// may still be under way; it is given up when the connection lives on, and refused when the store
// says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kv/store.h"
#include "lab/check/history.h"

namespace remora::lab {

class Witness {
 public:
  // An operation that was asked for.
  struct Asked {
    OperationIndex operation = 0;
    std::size_t epoch = 0;
  };

  const History& history() const { return history_; }
  std::uint64_t next_value_id() { return ++value_id_; }

  // A world that begins at this time of the history.
  void begins_at(std::uint64_t time_ns) { base_ns_ = time_ns; }

  Asked asks_put(ClientId client, const std::string& key, const Value& value, std::uint64_t now_ns);
  Asked asks_del(ClientId client, const std::string& key, std::uint64_t now_ns);
  Asked asks_get(ClientId client, const std::string& key, std::uint64_t now_ns);

  // Several keys at once; a deletion has no value.
  struct Wish {
    std::string key;
    std::optional<Value> value;
  };
  std::vector<Asked> asks_together(ClientId client, const std::vector<Wish>& wishes,
                                   const std::vector<Together::Condition>& conditions,
                                   std::uint64_t now_ns);
  void told_together(const std::vector<Asked>& asked, const Status& status,
                     kv::Durability durability, bool connected, std::uint64_t now_ns);

  Asked asks_scan(ClientId client, std::uint64_t now_ns);

  // `connected`: the connection lives on.
  void told_write(const Asked& asked, const Status& status, kv::Durability durability,
                  bool connected, std::uint64_t now_ns);
  // The first bytes of `buffer` are the value.
  void told_get(const Asked& asked, const Result<std::size_t>& size, ConstBytes buffer,
                std::uint64_t now_ns);

  // Keys with a time are nothing for a history, which knows no clock.
  void told_scan(const Asked& asked, const Result<std::vector<std::string>>& keys,
                 std::uint64_t now_ns);

  void cut(std::uint64_t now_ns) { history_.cut(CutScope::whole_world, base_ns_ + now_ns); }

  // The store says that all that it acknowledged is persistent now.
  void all_is_persistent(std::uint64_t now_ns);

 private:
  bool is_too_late(const Asked& asked) const { return asked.epoch != history_.cuts().size(); }
  Asked asked(OperationIndex operation) const { return {operation, history_.cuts().size()}; }

  History history_;
  std::uint64_t base_ns_ = 0;
  std::uint64_t value_id_ = 0;
};

}  // namespace remora::lab
