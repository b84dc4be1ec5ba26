// The table of commands: names, what they take, what they do.
#include <array>
#include <cstring>

#include "front/resp/families.h"

namespace remora::resp {
namespace {

// What they work on, and how.
constexpr std::uint32_t put_fast = on_strings | writes | grows | fast;
constexpr std::uint32_t put_slow = on_strings | writes | grows;
constexpr std::uint32_t get_fast = on_strings | readonly | fast;
constexpr std::uint32_t key_write = on_keys | writes;
constexpr std::uint32_t key_write_fast = on_keys | writes | fast;
constexpr std::uint32_t key_read = on_keys | readonly;
constexpr std::uint32_t key_read_fast = on_keys | readonly | fast;
constexpr std::uint32_t always = loading | stale;
constexpr std::uint32_t greeting = on_connection | no_script | always | fast | no_auth | allow_busy;
constexpr std::uint32_t transacts = on_transaction | no_script | always;
// What shows what others do, or holds up what it can.
constexpr std::uint32_t watching = admin | dangerous | no_script | always | needs_admin;
constexpr std::uint32_t telling = on_connection | always | fast;

// What they do to their keys.
constexpr std::uint8_t looks = key_read_only;
constexpr std::uint8_t tells = key_read_only | content_returned;
constexpr std::uint8_t updates = key_read_write | content_updated;
constexpr std::uint8_t tells_updates = updates | content_returned;
constexpr std::uint8_t tells_deletes = key_read_write | content_returned | content_deleted;
constexpr std::uint8_t extends = key_read_write | content_inserted;
constexpr std::uint8_t replaces = key_overwritten | content_updated;
constexpr std::uint8_t makes = key_overwritten | content_inserted;
constexpr std::uint8_t removes = key_removed | content_deleted;

constexpr Subcommand client_family[] = {{"getname", 2},  {"help", 2},  {"id", 2},
                                        {"info", 2},     {"kill", -3}, {"list", -2},
                                        {"no-evict", 3}, {"reply", 3}, {"setname", 3}};
constexpr Subcommand command_family[] = {{"count", 2}, {"docs", -2}, {"getkeys", -3},
                                         {"help", 2},  {"info", -2}, {"list", -2}};
constexpr Subcommand config_family[] = {
    {"get", -3}, {"help", 2}, {"resetstat", 2}, {"rewrite", 2}, {"set", -4}};
constexpr Subcommand latency_family[] = {{"doctor", 2},     {"graph", 3},   {"help", 2},
                                         {"histogram", -2}, {"history", 3}, {"latest", 2},
                                         {"reset", -2}};
constexpr Subcommand object_family[] = {
    {"encoding", 3}, {"freq", 3}, {"help", 2}, {"idletime", 3}, {"refcount", 3}};
constexpr Subcommand slowlog_family[] = {{"get", -2}, {"help", 2}, {"len", 2}, {"reset", 2}};

constexpr Command table[] = {
    {"append", 3, append, put_fast, 1, 1, 1, extends},
    {"auth", -2, auth, greeting, 0, 0, 0},
    {"bitcount", -2, bitcount, on_bits | readonly, 1, 1, 1, tells},
    {"bitpos", -3, bitpos, on_bits | readonly, 1, 1, 1, tells},
    {"client", -2, client, on_connection | always, 0, 0, 0, 0, 0, client_family},
    {"command", -1, command, on_connection | always, 0, 0, 0, 0, 0, command_family},
    {"config", -2, config, admin | dangerous | no_script | always, 0, 0, 0, 0, 0, config_family},
    {"copy", -3, copy, key_write | grows, 1, 2, 1, tells, replaces},
    {"dbsize", 1, dbsize, key_read_fast, 0, 0, 0},
    {"debug", -2, debug, watching, 0, 0, 0},
    {"decr", 2, decr, put_fast, 1, 1, 1, tells_updates},
    {"decrby", 3, decrby, put_fast, 1, 1, 1, tells_updates},
    {"del", -2, del, key_write, 1, -1, 1, removes},
    {"discard", 1, discard, transacts | fast | allow_busy | at_once, 0, 0, 0},
    {"echo", 2, echo, telling, 0, 0, 0},
    {"exec", 1, exec, transacts | skip_slowlog | at_once | long_lasting, 0, 0, 0},
    {"exists", -2, exists, key_read_fast, 1, -1, 1, looks},
    {"expire", -3, expire, key_write_fast, 1, 1, 1, updates},
    {"expireat", -3, expireat, key_write_fast, 1, 1, 1, updates},
    {"expiretime", 2, expiretime, key_read_fast, 1, 1, 1, tells},
    {"flushall", -1, flushall, key_write | dangerous | alone | needs_admin | long_lasting, 0, 0, 0},
    {"flushdb", -1, flushall, key_write | dangerous | alone | needs_admin | long_lasting, 0, 0, 0},
    {"get", 2, get, get_fast, 1, 1, 1, tells},
    {"getbit", 3, getbit, on_bits | readonly | fast, 1, 1, 1, tells},
    {"getdel", 2, getdel, on_strings | writes | fast, 1, 1, 1, tells_deletes},
    {"getex", -2, getex, on_strings | writes | fast, 1, 1, 1, tells_updates},
    {"getrange", 4, getrange, on_strings | readonly, 1, 1, 1, tells},
    {"getset", 3, getset, put_fast, 1, 1, 1, tells_updates},
    {"hello", -1, hello, greeting, 0, 0, 0},
    {"incr", 2, incr, put_fast, 1, 1, 1, tells_updates},
    {"incrby", 3, incrby, put_fast, 1, 1, 1, tells_updates},
    {"incrbyfloat", 3, incrbyfloat, put_fast, 1, 1, 1, tells_updates},
    {"info", -1, info, always | dangerous, 0, 0, 0},
    {"keys", 2, keys, key_read | dangerous | long_lasting, 0, 0, 0},
    {"latency", -2, latency, admin | no_script | always, 0, 0, 0, 0, 0, latency_family},
    {"lcs", -3, lcs, on_strings | readonly | long_lasting, 1, 2, 1, tells},
    {"mget", -2, mget, get_fast, 1, -1, 1, tells},
    {"monitor", 1, monitor, watching, 0, 0, 0},
    {"mset", -3, mset, put_slow, 1, -1, 2, replaces},
    {"msetnx", -3, msetnx, put_slow, 1, -1, 2, makes},
    {"multi", 1, multi, transacts | fast | allow_busy | at_once, 0, 0, 0},
    {"object", -2, object, 0, 0, 0, 0, 0, 0, object_family},
    {"persist", 2, persist, key_write_fast, 1, 1, 1, updates},
    {"pexpire", -3, pexpire, key_write_fast, 1, 1, 1, updates},
    {"pexpireat", -3, pexpireat, key_write_fast, 1, 1, 1, updates},
    {"pexpiretime", 2, pexpiretime, key_read_fast, 1, 1, 1, tells},
    {"ping", -1, ping, on_connection | fast, 0, 0, 0},
    {"psetex", 4, psetex, put_slow, 1, 1, 1, replaces},
    {"pttl", 2, pttl, key_read_fast, 1, 1, 1, tells},
    {"quit", -1, quit, greeting | at_once, 0, 0, 0},
    {"randomkey", 1, randomkey, key_read, 0, 0, 0},
    {"rename", 3, rename, key_write, 1, 2, 1, tells_deletes, replaces},
    {"renamenx", 3, renamenx, key_write_fast, 1, 2, 1, tells_deletes, makes},
    {"reset", 1, reset, greeting | at_once, 0, 0, 0},
    {"scan", -2, scan, key_read | long_lasting, 0, 0, 0},
    {"select", 2, select, telling, 0, 0, 0},
    {"set", -3, set, put_slow, 1, 1, 1, tells_updates},
    {"setbit", 4, setbit, on_bits | writes | grows, 1, 1, 1, tells_updates},
    {"setex", 4, setex, put_slow, 1, 1, 1, replaces},
    {"setnx", 3, setnx, put_fast, 1, 1, 1, makes},
    {"setrange", 4, setrange, put_slow, 1, 1, 1, updates},
    {"slowlog", -2, slowlog, admin | always, 0, 0, 0, 0, 0, slowlog_family},
    {"strlen", 2, strlen, get_fast, 1, 1, 1, looks},
    {"time", 1, time, always | fast, 0, 0, 0},
    {"touch", -2, exists, key_read_fast, 1, -1, 1, looks},
    {"ttl", 2, ttl, key_read_fast, 1, 1, 1, tells},
    {"type", 2, type, key_read_fast, 1, 1, 1, looks},
    {"unlink", -2, del, key_write_fast, 1, -1, 1, removes},
    {"unwatch", 1, unwatch, transacts | fast | allow_busy, 0, 0, 0},
    {"waitaof", 4, waitaof, on_connection, 0, 0, 0},
    {"watch", -2, watch, transacts | fast | allow_busy | at_once, 1, -1, 1, looks},
};

static_assert(std::size(table) <= limits::commands);

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
