#include "tests/resp/random_command.h"

#include <array>

namespace remora::resp {
namespace {

using Args = std::vector<std::string>;

template <std::size_t size>
std::string one_of(Random& random, const std::array<const char*, size>& list) {
  return list[random.below(size)];
}

std::string key(Random& random) {
  switch (random.below(20)) {
    case 0:
      return std::string("bin\0\r\n\xff", 7);
    case 1:
      return std::string(1000, 'k');
    case 2:
      return "";
    default:
      return "key:" + std::to_string(random.below(12));
  }
}

std::string integer(Random& random) {
  constexpr std::array numbers = {"0",
                                  "1",
                                  "-1",
                                  "5",
                                  "10",
                                  "-7",
                                  "100",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "9223372036854775808",
                                  "4611686018427387904",
                                  "01",
                                  " 1",
                                  "1 ",
                                  "+1",
                                  "-0",
                                  "",
                                  "abc",
                                  "1.5",
                                  "1e3"};
  return random.chance(3, 4) ? std::to_string(static_cast<int>(random.below(40)) - 10)
                             : one_of(random, numbers);
}

std::string number(Random& random) {
  constexpr std::array numbers = {"0.1", "-2.5",  "1e2",  "3.0e-3", "1e400", "inf",
                                  "nan", "0x1p3", "5e-2", "-0",     ".5",    "1,5"};
  return random.chance(1, 2) ? integer(random) : one_of(random, numbers);
}

std::string value(Random& random) {
  switch (random.below(8)) {
    case 0:
      return integer(random);
    case 1:
      return number(random);
    case 2:
      return "";
    case 3:
      return std::string("\0\r\n$5\r\n\x80", 8);
    case 4:
      return std::string(random.below(3000), 'v');
    default:
      return "value-" + std::to_string(random.below(100));
  }
}

// Long enough not to end during the test, or not a time at all.
std::string time(Random& random) {
  constexpr std::array times = {"0", "-1", "abc", "9223372036854775807", "92233720368547758", "-5"};
  return random.chance(4, 5) ? std::to_string(random.between(1'000'000, 9'000'000))
                             : one_of(random, times);
}

std::string word(Random& random, std::string text) {
  for (char& letter : text) {
    if (random.chance(1, 4) && letter >= 'a' && letter <= 'z') {
      letter = static_cast<char>(letter - 32);
    }
  }
  return text;
}

void add_options(Random& random, Args& args, bool is_getex) {
  constexpr std::array words = {"nx", "xx", "get", "keepttl", "persist", "bogus"};
  constexpr std::array timed = {"ex", "px", "exat", "pxat"};
  for (std::uint64_t left = random.below(3); left > 0; --left) {
    if (random.chance(1, 2)) {
      const std::string name = one_of(random, timed);
      args.push_back(word(random, name));
      if (!random.chance(1, 12)) {
        // Moments that are far away, in their own unit.
        args.push_back(name == "exat"   ? "9000000000"
                       : name == "pxat" ? "9000000000000"
                                        : time(random));
      }
    } else {
      args.push_back(
          word(random, is_getex && random.chance(2, 3) ? "persist" : one_of(random, words)));
    }
  }
}

RandomCommand with_short_time(Random& random) {
  RandomCommand command;
  const std::string ms = std::to_string(random.between(1, 4));
  const std::string name = key(random);
  switch (random.below(3)) {
    case 0:
      command.args = {"SET", name, value(random), "PX", ms};
      break;
    case 1:
      command.args = {"PSETEX", name, ms, value(random)};
      break;
    default:
      command.args = {"PEXPIRE", name, ms};
  }
  command.pause_ms = 6;
  return command;
}

Args simple(Random& random) {
  const std::string k = key(random);
  switch (random.below(40)) {
    case 0:
    case 1:
    case 2:
      return {"GET", k};
    case 3:
    case 4:
      return {"SET", k, value(random)};
    case 5:
      return {"SETNX", k, value(random)};
    case 6:
      return {"GETSET", k, value(random)};
    case 7:
      return {"GETDEL", k};
    case 8:
      return {"APPEND", k, value(random)};
    case 9:
      return {"STRLEN", k};
    case 10:
      return {"GETRANGE", k, integer(random), integer(random)};
    case 11:
      return {"SETRANGE", k, random.chance(9, 10) ? std::to_string(random.below(200)) : "-1",
              value(random)};
    case 12:
      return {"INCR", k};
    case 13:
      return {"DECR", k};
    case 14:
      return {"INCRBY", k, integer(random)};
    case 15:
      return {"DECRBY", k, integer(random)};
    case 16:
      return {"INCRBYFLOAT", k, number(random)};
    case 17:
      return {"MGET", k, key(random), "none", key(random)};
    case 18:
      return {"MSET", k, value(random), key(random), value(random)};
    case 19:
      return {"MSETNX", k, value(random), key(random), value(random)};
    case 20:
      return {"DEL", k, key(random), k};
    case 21:
      return {"UNLINK", k};
    case 22:
      return {"EXISTS", k, k, key(random)};
    case 23:
      return {"TYPE", k};
    case 24:
      return {"RENAME", k, key(random)};
    case 25:
      return {"RENAMENX", k, key(random)};
    case 26:
      return {"TOUCH", k, key(random)};
    case 27:
      return {"PERSIST", k};
    case 28:
      return {"SETEX", k, time(random), value(random)};
    case 29:
      return {"PSETEX", k, time(random), value(random)};
    case 30:
      return {"DBSIZE"};
    case 31:
      return random.chance(1, 2) ? Args{"PING"} : Args{"PING", value(random)};
    case 32:
      return {"ECHO", value(random)};
    case 33:
      return {"SELECT", integer(random)};
    case 34:
      return {word(random, "nosuchcommand"), value(random), k};
    case 35:
      return {"CLIENT", random.chance(1, 2) ? "GETNAME" : "NOSUCH"};
    case 36:
      return {"CLIENT", "SETNAME", random.chance(1, 2) ? "me" : "not me"};
    case 37:
      return {"SCAN", integer(random), "COUNT", random.chance(1, 2) ? "0" : "x"};
    case 38:
      return {"FLUSHALL", random.chance(1, 40) ? "SYNC" : "NEVER"};
    default:
      return {"CONFIG", "NOSUCH"};
  }
}

}  // namespace

RandomCommand random_command(Random& random) {
  RandomCommand command;
  const std::string k = key(random);
  switch (random.below(24)) {
    case 0:
      return with_short_time(random);
    case 1:
    case 2:
      command.args = {"SET", k, value(random)};
      add_options(random, command.args, false);
      break;
    case 3:
      command.args = {"GETEX", k};
      add_options(random, command.args, true);
      break;
    case 4:
    case 5: {
      constexpr std::array names = {"expire", "pexpire"};
      constexpr std::array conditions = {"nx", "xx", "gt", "lt", "xy"};
      command.args = {word(random, one_of(random, names)), k, time(random)};
      for (std::uint64_t left = random.below(3); left > 0; --left) {
        command.args.push_back(word(random, one_of(random, conditions)));
      }
      break;
    }
    case 6:
      command.args = {random.chance(1, 2) ? "EXPIREAT" : "PEXPIREAT", k,
                      random.chance(1, 4) ? integer(random) : "9000000000000"};
      break;
    case 7:
    case 8: {
      constexpr std::array names = {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"};
      command.args = {one_of(random, names), k};
      command.reply = RandomCommand::Reply::near;
      break;
    }
    case 9: {
      constexpr std::array patterns = {"*",        "key:?",  "key:[0-4]", "k*1",   "[^k]*",
                                       "key:1\\1", "bin??*", "",          "key:[", "*\\"};
      command.args = {"KEYS", one_of(random, patterns)};
      command.reply = RandomCommand::Reply::set;
      break;
    }
    case 10:
      command.args = {"RANDOMKEY"};
      command.reply = RandomCommand::Reply::any_of;
      break;
    default:
      command.args = simple(random);
  }
  // Now and then an argument too few or too many.
  if (random.chance(1, 25)) {
    if (random.chance(1, 2) && command.args.size() > 1) {
      command.args.pop_back();
    } else {
      command.args.push_back(value(random));
    }
  }
  if (random.chance(1, 10)) {
    command.args[0] = word(random, command.args[0]);
  }
  return command;
}

}  // namespace remora::resp
