// The table of commands: names, what they take, what they do.
#include <array>
#include <cstring>

#include "resp/families.h"

namespace remora::resp {
namespace {

constexpr std::uint32_t write_fast = writes | grows | fast;
constexpr std::uint32_t write_slow = writes | grows;
constexpr std::uint32_t read_fast = readonly | fast;
constexpr std::uint32_t always = loading | stale;

constexpr Command table[] = {
    {"append", 3, append, write_fast, 1, 1, 1},
    {"auth", -2, auth, no_auth | always | fast, 0, 0, 0},
    {"client", -2, client, always, 0, 0, 0},
    {"command", -1, command, always, 0, 0, 0},
    {"config", -2, config, admin | always, 0, 0, 0},
    {"dbsize", 1, dbsize, read_fast, 0, 0, 0},
    {"decr", 2, decr, write_fast, 1, 1, 1},
    {"decrby", 3, decrby, write_fast, 1, 1, 1},
    {"del", -2, del, writes, 1, -1, 1},
    {"echo", 2, echo, fast | always, 0, 0, 0},
    {"exists", -2, exists, read_fast, 1, -1, 1},
    {"expire", -3, expire, writes | fast, 1, 1, 1},
    {"expireat", -3, expireat, writes | fast, 1, 1, 1},
    {"expiretime", 2, expiretime, read_fast, 1, 1, 1},
    {"flushall", -1, flushall, writes, 0, 0, 0},
    {"flushdb", -1, flushall, writes, 0, 0, 0},
    {"get", 2, get, read_fast, 1, 1, 1},
    {"getdel", 2, getdel, writes | fast, 1, 1, 1},
    {"getex", -2, getex, writes | fast, 1, 1, 1},
    {"getrange", 4, getrange, readonly, 1, 1, 1},
    {"getset", 3, getset, write_fast, 1, 1, 1},
    {"hello", -1, hello, no_auth | always | fast, 0, 0, 0},
    {"incr", 2, incr, write_fast, 1, 1, 1},
    {"incrby", 3, incrby, write_fast, 1, 1, 1},
    {"incrbyfloat", 3, incrbyfloat, write_fast, 1, 1, 1},
    {"info", -1, info, always, 0, 0, 0},
    {"keys", 2, keys, readonly, 0, 0, 0},
    {"mget", -2, mget, read_fast, 1, -1, 1},
    {"mset", -3, mset, write_slow, 1, -1, 2},
    {"msetnx", -3, msetnx, write_slow, 1, -1, 2},
    {"persist", 2, persist, writes | fast, 1, 1, 1},
    {"pexpire", -3, pexpire, writes | fast, 1, 1, 1},
    {"pexpireat", -3, pexpireat, writes | fast, 1, 1, 1},
    {"pexpiretime", 2, pexpiretime, read_fast, 1, 1, 1},
    {"ping", -1, ping, fast | always, 0, 0, 0},
    {"psetex", 4, psetex, write_slow, 1, 1, 1},
    {"pttl", 2, pttl, read_fast, 1, 1, 1},
    {"quit", -1, quit, no_auth | always | fast, 0, 0, 0},
    {"randomkey", 1, randomkey, readonly, 0, 0, 0},
    {"rename", 3, rename, writes, 1, 2, 1},
    {"renamenx", 3, renamenx, writes | fast, 1, 2, 1},
    {"scan", -2, scan, readonly, 0, 0, 0},
    {"select", 2, select, fast | always, 0, 0, 0},
    {"set", -3, set, write_slow, 1, 1, 1},
    {"setex", 4, setex, write_slow, 1, 1, 1},
    {"setnx", 3, setnx, write_fast, 1, 1, 1},
    {"setrange", 4, setrange, write_slow, 1, 1, 1},
    {"strlen", 2, strlen, read_fast, 1, 1, 1},
    {"touch", -2, exists, read_fast, 1, -1, 1},
    {"ttl", 2, ttl, read_fast, 1, 1, 1},
    {"type", 2, type, read_fast, 1, 1, 1},
    {"unlink", -2, del, writes | fast, 1, -1, 1},
    {"waitaof", 4, waitaof, 0, 0, 0, 0},
};

// A name in one or two words, in lower case; names are shorter than that.
struct Name {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  static constexpr std::size_t longest = 16;
  bool operator==(const Name&) const = default;
};

Name name_of(std::string_view text) {
  std::array<char, Name::longest> letters = {};
  std::memcpy(letters.data(), text.data(), text.size());
  Name name;
  std::memcpy(&name, letters.data(), sizeof name);
  // Names have no letters but a to z, for which this bit is the only difference.
  constexpr std::uint64_t lower_bits = 0x2020202020202020;
  const auto bits = [](std::size_t count) {
    return count >= 8 ? lower_bits : lower_bits & ((std::uint64_t{1} << (8 * count)) - 1);
  };
  name.low |= bits(text.size());
  name.high |= bits(text.size() > 8 ? text.size() - 8 : 0);
  return name;
}

// Open addressing, made once.
class Names {
 public:
  Names() {
    for (const Command& command : table) {
      std::size_t at = place_of(name_of(command.name));
      while (entries_[at].command != nullptr) {
        at = (at + 1) % size;
      }
      entries_[at] = {name_of(command.name), &command};
    }
  }
  const Command* find(std::string_view text) const {
    if (text.empty() || text.size() > Name::longest) {
      return nullptr;
    }
    const Name name = name_of(text);
    std::size_t at = place_of(name);
    while (entries_[at].command != nullptr && entries_[at].name != name) {
      at = (at + 1) % size;
    }
    return entries_[at].command;
  }

 private:
  static constexpr std::size_t size = 256;
  static_assert(std::size(table) * 2 < size);
  struct Entry {
    Name name;
    const Command* command = nullptr;
  };

  static std::size_t place_of(const Name& name) {
    return static_cast<std::size_t>((name.low ^ name.high * 31) * 0x9e3779b97f4a7c15 >> 56) % size;
  }

  std::array<Entry, size> entries_;
};

}  // namespace

std::span<const Command> commands() {
  return table;
}

const Command* find_command(std::string_view name) {
  static const Names names;
  const Command* const command = names.find(name);
  // The bit makes letters of some other bytes too.
  return command != nullptr && is_word(name, command->name) ? command : nullptr;
}

}  // namespace remora::resp
