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

// Few letters, so that two such values have much in common, in many ways.
std::string letters(Random& random) {
  std::string text;
  for (std::uint64_t left = random.below(60); left > 0; --left) {
    text += static_cast<char>('a' + random.below(3));
  }
  return text;
}

std::string value(Random& random) {
  switch (random.below(9)) {
    case 8:
      return letters(random);
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

// Far away, in the past, or no moment at all.
std::string moment(Random& random, bool in_seconds) {
  constexpr std::array others = {"0", "-1", "abc", "9223372036854775807", ""};
  if (random.chance(1, 8)) {
    return one_of(random, others);
  }
  const std::string second = random.chance(1, 3) ? std::to_string(random.between(1, 1'000'000'000))
                                                 : std::to_string(9'000'000'000 + random.below(9));
  return in_seconds ? second : second + "000";
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
        args.push_back(name == "exat" || name == "pxat" ? moment(random, name == "exat")
                                                        : time(random));
      }
    } else {
      args.push_back(
          word(random, is_getex && random.chance(2, 3) ? "persist" : one_of(random, words)));
    }
  }
}

// Whether what comes next would be a time, and as likely as not one that ends during the test.
bool awaits_time(const Args& args) {
  return args.back().size() <= 4 && (args.back().ends_with('x') || args.back().ends_with('X') ||
                                     args.back().ends_with("at") || args.back().ends_with("AT") ||
                                     args.back().ends_with("aT") || args.back().ends_with("At"));
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

Args bits(Random& random, const std::string& k) {
  constexpr std::array units = {"bit", "BYTE", "bits"};
  constexpr std::array places = {"0", "1", "7", "8", "63", "130", "-1", "x", "4294967296"};
  Args args;
  switch (random.below(4)) {
    case 0:
      return {"SETBIT", k,
              random.chance(1, 2) ? std::to_string(random.below(300)) : one_of(random, places),
              random.chance(1, 8) ? value(random) : std::to_string(random.below(2))};
    case 1:
      return {"GETBIT", k,
              random.chance(1, 2) ? std::to_string(random.below(300)) : one_of(random, places)};
    case 2:
      args = {"BITCOUNT", k};
      break;
    default:
      args = {"BITPOS", k,
              random.chance(1, 10) ? integer(random) : std::to_string(random.below(2))};
  }
  for (std::uint64_t left = random.below(3); left > 0; --left) {
    args.push_back(integer(random));
  }
  if (random.chance(1, 3)) {
    args.push_back(one_of(random, units));
  }
  return args;
}

// Two values that have something in common, or two keys by chance.
Args lcs(Random& random) {
  constexpr std::array options = {"len", "idx", "withmatchlen", "minmatchlen", "bogus"};
  Args args = {"LCS", key(random), key(random)};
  for (std::uint64_t left = random.below(4); left > 0; --left) {
    const std::string option = one_of(random, options);
    args.push_back(word(random, option));
    if (option == "minmatchlen" && !random.chance(1, 12)) {
      args.push_back(random.chance(1, 2) ? std::to_string(random.below(4)) : integer(random));
    }
  }
  return args;
}

Args simple(Random& random) {
  constexpr std::array copy_options = {"replace", "db", "bogus"};
  const std::string k = key(random);
  switch (random.below(46)) {
    case 44:
    case 45:
      return lcs(random);
    case 41:
      return bits(random, k);
    case 42:
      return bits(random, k);
    case 39:
      return {"COPY", k, key(random)};
    case 40:
      return {"COPY", k, key(random), word(random, one_of(random, copy_options)),
              random.chance(1, 2) ? "0" : "REPLACE"};
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
    case 43:
      return random.chance(1, 2) ? Args{"OBJECT", "REFCOUNT", "none"}
                                 : Args{"OBJECT", "FREQ", random.chance(1, 2) ? "none" : k};
    case 35:
      return {"CLIENT", random.chance(1, 2) ? "GETNAME" : "NOSUCH"};
    case 36:
      return {"CLIENT", "SETNAME", random.chance(1, 2) ? "me" : "not me"};
    case 37:
      return {"SCAN", integer(random), "COUNT", random.chance(1, 2) ? "0" : "x"};
    case 38:
      return {random.chance(1, 2) ? "FLUSHALL" : "FLUSHDB",
              random.chance(1, 40) ? (random.chance(1, 2) ? "SYNC" : "ASYNC") : "NEVER"};
    default:
      return {"CONFIG", "NOSUCH"};
  }
}

RandomCommand scan(Random& random) {
  constexpr std::array patterns = {"*", "key:?", "k*1", "bin*", "none*"};
  constexpr std::array types = {"string", "STRING", "list", "nonsense"};
  RandomCommand command;
  command.reply = RandomCommand::Reply::scan;
  command.args = {"SCAN", "0"};
  for (std::uint64_t left = random.below(4); left > 0; --left) {
    switch (random.below(3)) {
      case 0:
        command.args.insert(command.args.end(), {word(random, "match"), one_of(random, patterns)});
        break;
      case 1:
        command.args.insert(command.args.end(), {word(random, "type"), one_of(random, types)});
        break;
      default:
        command.args.insert(command.args.end(),
                            {word(random, "count"), std::to_string(random.between(1, 20))});
    }
  }
  return command;
}

// What is told of the server, where that is the same; these are not made wrong by chance, which
// would ask for something else.
RandomCommand about_the_server(Random& random) {
  constexpr std::array parameters = {"save",   "SAVE",      "Databases", "maxmemory-policy",
                                     "nosuch", "databases", "timeout",   "databas?s"};
  constexpr std::array versions = {"2", "3", "1", "4", "x", ""};
  const std::vector<Args> others = {{"COMMAND", "COUNT", "x"},
                                    {"COMMAND", "INFO", "nosuch", "ge\x14"},
                                    {"COMMAND", "DOCS", "nosuch"},
                                    {"COMMAND", "NOSUCH", "x"},
                                    {"COMMAND", "HELP", "x"},
                                    {"CONFIG", "GET"},
                                    {"CONFIG", "RESETSTAT"},
                                    {"CONFIG", "RESETSTAT", "x"},
                                    {"CONFIG", "HELP", "x"},
                                    {"CLIENT", "LIST", value(random)},
                                    {"CLIENT", "LIST", "TYPE", "pubsub"},
                                    {"CLIENT", "LIST", "TYPE", value(random)},
                                    {"CLIENT", "LIST", "TYPE", "normal", "x"},
                                    {"CLIENT", "LIST", "ID"},
                                    {"CLIENT", "LIST", "ID", "0", "x"},
                                    {"CLIENT", "LIST", "id", "0"},
                                    {"CLIENT", "HELP", "x"},
                                    {"AUTH", value(random)},
                                    {"AUTH", "default", value(random)},
                                    {"AUTH", "nobody", value(random)},
                                    {"AUTH", "default", "x", "y"}};
  RandomCommand command;
  switch (random.below(4)) {
    case 0:
      command.args = {word(random, "config"), "GET", one_of(random, parameters)};
      break;
    case 1:
      command.reply = RandomCommand::Reply::hello;
      command.args = {word(random, "hello")};
      if (random.chance(7, 8)) {
        command.args.push_back(one_of(random, versions));
      }
      for (std::uint64_t left = random.below(3); left > 0; --left) {
        constexpr std::array options = {"auth", "setname", "default", "nobody", "bogus"};
        command.args.push_back(word(random, one_of(random, options)));
      }
      break;
    default:
      command.args = others[random.below(others.size())];
  }
  return command;
}

}  // namespace

RandomCommand random_command(Random& random) {
  RandomCommand command;
  const std::string k = key(random);
  switch (random.below(26)) {
    case 0:
      return with_short_time(random);
    case 11:
      return about_the_server(random);
    case 12:
      command = scan(random);
      break;
    case 1:
    case 2:
      command.args = {"SET", k, value(random)};
      add_options(random, command.args, false);
      command.pause_ms = 1;  // it may be over already, and both are to know
      break;
    case 3:
      command.args = {"GETEX", k};
      add_options(random, command.args, true);
      break;
    case 4:
    case 5: {
      constexpr std::array names = {"expire", "pexpire", "expireat", "pexpireat"};
      constexpr std::array conditions = {"nx", "xx", "gt", "lt", "xy"};
      const std::string name = one_of(random, names);
      const bool is_moment = name.ends_with("at");
      command.args = {word(random, name), k,
                      is_moment ? moment(random, name == "expireat") : time(random)};
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
    } else if (!awaits_time(command.args)) {
      command.args.push_back(value(random));
    }
  }
  if (random.chance(1, 10)) {
    command.args[0] = word(random, command.args[0]);
  }
  return command;
}

}  // namespace remora::resp
