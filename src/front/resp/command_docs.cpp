// What each command does, in a line (COMMAND DOCS).
#include <algorithm>
#include <array>
#include <utility>

#include "front/resp/command.h"

namespace remora::resp {
namespace {

using Summary = std::pair<std::string_view, std::string_view>;

// By name.
constexpr std::array<Summary, 71> summaries = {{
    {"append", "Adds to the end of a value."},
    {"auth", "Tells who the client is, by a password or a token."},
    {"bitcount", "Counts the bits of a value that are set."},
    {"bitpos", "Finds the first bit that is set, or that is not."},
    {"client", "Tells of connections, names and ends them."},
    {"command", "Tells of commands."},
    {"config", "Tells how the server is set up, and sets a little of it."},
    {"copy", "Copies a key with its value and time."},
    {"dbsize", "Counts the keys."},
    {"debug", "Makes this connection wait; for tests."},
    {"decr", "Takes one from a number."},
    {"decrby", "Takes so many from a number."},
    {"del", "Deletes keys."},
    {"discard", "Ends a transaction, of which nothing happens."},
    {"echo", "Replies what it was sent."},
    {"exec", "Runs what was queued since MULTI, wholly or not at all."},
    {"exists", "Counts those of the keys that are there."},
    {"expire", "Gives a key so many seconds."},
    {"expireat", "Gives a key until a second since 1970."},
    {"expiretime", "Tells the second since 1970 at which a key ends."},
    {"flushall", "Deletes all keys."},
    {"flushdb", "Deletes all keys."},
    {"get", "Tells the value of a key."},
    {"getbit", "Tells a bit of a value."},
    {"getdel", "Tells the value of a key, and deletes it."},
    {"getex", "Tells the value of a key, and changes its time."},
    {"getrange", "Tells a part of a value."},
    {"getset", "Sets a value, and tells the one before."},
    {"hello", "Chooses the protocol; tells who the client is."},
    {"incr", "Adds one to a number."},
    {"incrby", "Adds so many to a number."},
    {"incrbyfloat", "Adds a fraction to a number."},
    {"info", "Tells of the server, in sections."},
    {"keys", "Lists all keys that match a pattern."},
    {"latency", "Tells what took long, and how long commands take."},
    {"lcs", "Tells the longest sequence of bytes that two values have in common."},
    {"mget", "Tells the values of several keys."},
    {"monitor", "Tells of every command that is run, from now on."},
    {"mset", "Sets several keys, wholly or not at all."},
    {"msetnx", "Sets several keys if none of them is there."},
    {"multi", "Begins a transaction: commands are queued up to EXEC."},
    {"object", "Tells how a value would be kept by Redis."},
    {"persist", "Takes the time of a key away."},
    {"pexpire", "Gives a key so many milliseconds."},
    {"pexpireat", "Gives a key until a millisecond since 1970."},
    {"pexpiretime", "Tells the millisecond since 1970 at which a key ends."},
    {"ping", "Replies PONG, or what it was sent."},
    {"psetex", "Sets a key for so many milliseconds."},
    {"pttl", "Tells how many milliseconds a key has left."},
    {"quit", "Ends the connection."},
    {"randomkey", "Tells a key by chance."},
    {"rename", "Gives a key another name."},
    {"renamenx", "Gives a key another name that no key has."},
    {"reset", "Makes the connection as if it had just come."},
    {"scan", "Lists keys, some at a time."},
    {"select", "Chooses a database, of which there is one: 0."},
    {"set", "Sets a key."},
    {"setbit", "Sets a bit of a value, and tells what it was."},
    {"setex", "Sets a key for so many seconds."},
    {"setnx", "Sets a key that is not there."},
    {"setrange", "Replaces a part of a value."},
    {"slowlog", "Tells which commands took long."},
    {"strlen", "Tells how long a value is."},
    {"time", "Tells the time of the server."},
    {"touch", "Counts those of the keys that are there."},
    {"ttl", "Tells how many seconds a key has left."},
    {"type", "Tells what a key holds: a string, or nothing."},
    {"unlink", "Deletes keys."},
    {"unwatch", "Forgets the keys that are watched."},
    {"waitaof", "Waits until the connection's writes are persistent."},
    {"watch", "Has EXEC do nothing if one of the keys changes before."},
}};

}  // namespace

std::string_view summary_of(std::string_view command) {
  const auto found = std::ranges::lower_bound(summaries, command, {}, &Summary::first);
  return found != summaries.end() && found->first == command ? found->second : std::string_view();
}

}  // namespace remora::resp
