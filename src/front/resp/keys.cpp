// Keys as such: deleting, renaming, listing.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "front/resp/families.h"
#include "front/resp/glob.h"
#include "front/resp/limits.h"

namespace remora::resp {

using kv::LocalStore;
using kv::ScanCursor;

namespace {

class Matching final : public kv::ScanSink {
 public:
  explicit Matching(std::string_view pattern) : pattern_(pattern), all_(pattern == "*") {}

  void key(ConstBytes key) override {
    searched_bytes += limits::key_search_bytes;
    const std::string_view name = shown_key(key);
    if (all_ || matches(pattern_, name)) {
      list.emplace_back(name);
    }
  }

  std::vector<std::string> list;
  std::uint64_t searched_bytes = 0;

 private:
  const std::string_view pattern_;
  const bool all_;
};

constexpr std::size_t keys_per_step = 256;

constexpr std::array<std::string_view, 8> object_help = {
    "ENCODING <key>", "    How Redis would keep the value: int, embstr or raw.",
    "FREQ <key>",     "    An error: how often a key is used is not counted.",
    "IDLETIME <key>", "    An error: when a key was used is not known.",
    "REFCOUNT <key>", "    1: a value belongs to one key.",
};

void reply_list(Call& call, const std::vector<std::string>& list) {
  call.out.array(list.size());
  for (const std::string& key : list) {
    call.out.bulk(key);
  }
}

}  // namespace

Done del(Call& call) {
  std::size_t& count = call.session.progress;  // those that are gone are not found again
  for (const std::string_view key : call.args.subspan(1)) {
    if (look_up(call, key)) {
      if (const std::optional<Done> failed = erase(call, key)) {
        return *failed;
      }
      ++count;
    }
  }
  call.out.integer(static_cast<std::int64_t>(count));
  return Done::replied;
}

Done exists(Call& call) {
  std::int64_t count = 0;
  for (const std::string_view key : call.args.subspan(1)) {
    count += look_up(call, key) ? 1 : 0;
  }
  call.out.integer(count);
  return Done::replied;
}

Done type(Call& call) {
  call.out.simple(look_up(call, call.key()) ? "string" : "none");
  return Done::replied;
}

// How Redis would keep it; of what it counts beside, nothing is known here.
Done object(Call& call) {
  if (const std::optional<Done> refused = refuse_subcommand(call)) {
    return *refused;
  }
  if (is_word(call.args[1], "help")) {
    return help(call, object_help);
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.args[2]);
  if (!found) {
    call.out.null(call.protocol());
    return Done::replied;
  }
  if (is_word(call.args[1], "encoding")) {
    if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
      return *refused;
    }
    std::int64_t number = 0;
    constexpr std::size_t most_embedded = 44;
    const std::string_view value = as_text(found->value);
    call.out.bulk(parse_integer(value, number)    ? "int"
                  : value.size() <= most_embedded ? "embstr"
                                                  : "raw");
  } else if (is_word(call.args[1], "refcount")) {
    call.out.integer(1);
  } else if (is_word(call.args[1], "freq")) {
    return fail(call,
                "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please "
                "note that when switching between policies at runtime LRU and LFU data will take "
                "some time to adjust.");
  } else {
    return fail(call, "ERR this server does not know when a key was used: it evicts none");
  }
  return Done::replied;
}

namespace {

constexpr int most_tries = 16;

enum class Copy : std::uint8_t { made, none, exists };
struct Copied {
  Copy copy = Copy::made;
  std::optional<Done> failed = {};
};

// The key under another name, with its time; and no more under its own, where it moves.
Copied copy_to(Call& call, std::string_view to, bool replaces, bool moves) {
  const ConstBytes from_key = stored_key(call.key());
  const ConstBytes to_key = stored_key(to);
  for (int tries = 0; tries < most_tries; ++tries) {  // a native client may change one meanwhile
    const std::optional<LocalStore::Found> found = look_up(call, call.key());
    if (!found) {
      return {.copy = Copy::none};
    }
    if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
      return {.failed = *refused};
    }
    if (!replaces && look_up(call, to)) {
      return {.copy = Copy::exists};
    }
    const std::array<kv::Condition, 2> conditions = {{{from_key, found->version}, {to_key, 0}}};
    const std::array<LocalStore::Write, 2> writes = {
        {{to_key, found->value, found->expires}, {from_key}}};
    const Together together = write_together(call, std::span(conditions).first(replaces ? 1 : 2),
                                             std::span(writes).first(moves ? 2 : 1));
    if (!together.conflict) {
      return {.failed = together.failed};
    }
  }
  return {.failed = Done::again};
}

}  // namespace

Done rename(Call& call) {
  if (call.key() == call.args[2]) {
    if (!look_up(call, call.key())) {
      return fail(call, "ERR no such key");
    }
    call.out.ok();
    return Done::replied;
  }
  const Copied copied = copy_to(call, call.args[2], true, true);
  if (copied.failed) {
    return *copied.failed;
  }
  if (copied.copy == Copy::none) {
    return fail(call, "ERR no such key");
  }
  call.out.ok();
  return Done::replied;
}

Done renamenx(Call& call) {
  if (!look_up(call, call.key())) {
    return fail(call, "ERR no such key");
  }
  if (call.key() == call.args[2]) {
    call.out.integer(0);
    return Done::replied;
  }
  const Copied copied = copy_to(call, call.args[2], false, true);
  if (copied.failed) {
    return *copied.failed;
  }
  if (copied.copy == Copy::none) {
    return fail(call, "ERR no such key");
  }
  call.out.integer(copied.copy == Copy::made ? 1 : 0);
  return Done::replied;
}

// There is one database, so DB names it or nothing.
Done copy(Call& call) {
  bool replaces = false;
  for (std::size_t i = 3; i < call.args.size(); ++i) {
    if (is_word(call.args[i], "replace")) {
      replaces = true;
    } else if (is_word(call.args[i], "db") && i + 1 < call.args.size()) {
      if (!is_database(call, call.args[++i])) {
        return Done::replied;
      }
    } else {
      return syntax_error(call);
    }
  }
  if (call.key() == call.args[2]) {
    return fail(call, "ERR source and destination objects are the same");
  }
  const Copied copied = copy_to(call, call.args[2], replaces, false);
  if (copied.failed) {
    return *copied.failed;
  }
  const bool is_made = copied.copy == Copy::made;
  ++(copied.copy == Copy::none ? call.executor.counters().misses : call.executor.counters().hits);
  call.out.integer(is_made ? 1 : 0);
  return Done::replied;
}

// Some clients keep a cursor in 63 bits and a sign, and would begin again and again. So theirs is
// half of the store's; where that is one at which a key was told before, a key may come twice.
ScanCursor scan_some(Call& call, ScanCursor from, std::size_t count, Matching& matching) {
  ScanCursor next = from * 2;
  do {
    next = call.store.scan(next, count, matching);
  } while (next != 0 && next / 2 == from);
  return next / 2;
}

Done scan(Call& call) {
  const std::string cursor_text(call.key());
  char* end = nullptr;
  errno = 0;
  const ScanCursor from = std::strtoul(cursor_text.c_str(), &end, 10);
  // An empty one is the beginning.
  if (std::isspace(static_cast<unsigned char>(cursor_text.c_str()[0])) != 0 || *end != '\0' ||
      errno == ERANGE) {
    return fail(call, "ERR invalid cursor");
  }
  std::string_view pattern = "*";
  std::int64_t count = 10;
  bool of_strings = true;
  for (std::size_t i = 2; i < call.args.size(); i += 2) {
    const bool has_value = i + 1 < call.args.size();
    if (is_word(call.args[i], "count") && has_value) {
      const std::optional<std::int64_t> given = integer_of(call, call.args[i + 1]);
      if (!given) {
        return Done::replied;
      }
      if (*given < 1) {
        return syntax_error(call);
      }
      count = *given;
    } else if (is_word(call.args[i], "match") && has_value) {
      pattern = call.args[i + 1];
    } else if (is_word(call.args[i], "type") && has_value) {
      of_strings = is_word(call.args[i + 1], "string");
    } else {
      return syntax_error(call);
    }
  }
  if (const std::optional<Done> refused = refuse_search(call, 0)) {
    return *refused;
  }
  Matching matching(pattern);
  const ScanCursor next = scan_some(call, from, static_cast<std::size_t>(count), matching);
  call.executor.add_searched(matching.searched_bytes);
  if (!of_strings) {
    matching.list.clear();
  }
  call.out.array(2);
  call.out.bulk(fmt::format("{}", next));
  reply_list(call, matching.list);
  return Done::replied;
}

Done keys(Call& call) {
  if (const std::optional<Done> refused = refuse_search(call, 0)) {
    return *refused;
  }
  Matching matching(call.key());
  ScanCursor cursor = 0;
  do {
    cursor = call.store.scan(cursor, keys_per_step, matching);
  } while (cursor != 0);
  call.executor.add_searched(matching.searched_bytes);
  reply_list(call, matching.list);
  return Done::replied;
}

Done dbsize(Call& call) {
  call.out.integer(static_cast<std::int64_t>(call.store.keys()));
  return Done::replied;
}

// From a random place on, around the end if need be.
Done randomkey(Call& call) {
  Random& chance = call.executor.runtime().random();
  for (ScanCursor cursor : {chance.next(), ScanCursor{0}}) {
    do {
      Matching some("*");
      cursor = call.store.scan(cursor, 1, some);
      if (!some.list.empty()) {
        call.out.bulk(some.list[chance.below(some.list.size())]);
        return Done::replied;
      }
    } while (cursor != 0);
  }
  call.out.null(call.protocol());
  return Done::replied;
}

Done flushall(Call& call) {
  if (call.args.size() > 2 || (call.args.size() == 2 && !is_word(call.args[1], "async") &&
                               !is_word(call.args[1], "sync"))) {
    return syntax_error(call);
  }
  if (const std::optional<Done> failed = clear(call)) {
    return *failed;
  }
  call.out.ok();
  return Done::replied;
}

}  // namespace remora::resp
