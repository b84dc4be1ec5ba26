// Keys as such: deleting, renaming, listing.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>

#include "resp/families.h"
#include "resp/glob.h"

namespace remora::resp {

using kv::LocalStore;
using kv::ScanCursor;

namespace {

class Matching final : public kv::ScanSink {
 public:
  explicit Matching(std::string_view pattern) : pattern_(pattern), all_(pattern == "*") {}

  void key(ConstBytes key) override {
    const std::string_view name = shown_key(key);
    if (all_ || matches(pattern_, name)) {
      list.emplace_back(name);
    }
  }

  std::vector<std::string> list;

 private:
  const std::string_view pattern_;
  const bool all_;
};

constexpr std::size_t keys_per_step = 256;

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

Done rename(Call& call) {
  const bool is_begun = call.session.move.version != 0;
  if (!is_begun && call.key() == call.args[2]) {
    if (!look_up(call, call.key())) {
      return fail(call, "ERR no such key");
    }
  } else if (const std::optional<Done> other = move(call, call.key(), call.args[2])) {
    return *other;
  }
  call.out.ok();
  return Done::replied;
}

Done renamenx(Call& call) {
  const bool is_begun = call.session.move.version != 0;  // by now its own copy is there
  if (!is_begun) {
    if (!look_up(call, call.key())) {
      return fail(call, "ERR no such key");
    }
    if (call.key() == call.args[2] || look_up(call, call.args[2])) {
      call.out.integer(0);
      return Done::replied;
    }
  }
  if (const std::optional<Done> other = move(call, call.key(), call.args[2])) {
    return *other;
  }
  call.out.integer(1);
  return Done::replied;
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
  Matching matching(pattern);
  const ScanCursor next = call.store.scan(from, static_cast<std::size_t>(count), matching);
  if (!of_strings) {
    matching.list.clear();
  }
  call.out.array(2);
  call.out.bulk(fmt::format("{}", next));
  reply_list(call, matching.list);
  return Done::replied;
}

Done keys(Call& call) {
  Matching matching(call.key());
  ScanCursor cursor = 0;
  do {
    cursor = call.store.scan(cursor, keys_per_step, matching);
  } while (cursor != 0);
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
  ScanCursor cursor = 0;
  do {
    Matching some("*");
    cursor = call.store.scan(cursor, keys_per_step, some);
    for (const std::string& key : some.list) {
      if (const std::optional<Done> failed = erase(call, key)) {
        return *failed;
      }
    }
  } while (cursor != 0);
  call.out.ok();
  return Done::replied;
}

}  // namespace remora::resp
