#include "lab/subjects/log/log_model.h"

#include <algorithm>
#include <map>

namespace remora {

using kv::Kind;
using kv::Link;
namespace object_format = kv::object_format;

namespace {

std::vector<std::byte> bytes_of(std::uint64_t seed, std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  Random random(seed);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.next());
  }
  return bytes;
}

// Mostly small, some of a segment's size and beyond.
std::uint64_t value_size(std::uint64_t number) {
  Random random(number * 2);
  const std::uint64_t kind = random.below(20);
  return random.below(kind < 14 ? 200 : kind < 19 ? 4000 : 30'000);
}

Broken broken(const char* rule, std::uint64_t number, const std::string& what) {
  return {rule, "object " + std::to_string(number) + " " + what};
}

std::optional<Broken> differs(const ExpectedObject& expected, const FoundObject& found) {
  LoggedObject model;
  model.number = expected.number;
  model.kind = expected.kind;
  if (found.key != model.key() || found.kind != expected.kind) {
    return broken("whole", found.number, "has another key or kind than was appended");
  }
  if (found.intact && found.value != model.value()) {
    return broken("whole", found.number, "has another value than was appended");
  }
  if (expected.must_be_whole && !found.intact) {
    return broken("acknowledged", found.number, "lost its value, which was persistent");
  }
  if ((found.flags & object_format::durable_flag) != 0 && !found.intact) {
    return broken("durable", found.number, "is flagged durable and torn");
  }
  if (std::ranges::find(expected.flags, found.flags) == expected.flags.end()) {
    return broken("words", found.number, "has flags that it was not given, or lost some");
  }
  if (std::ranges::find(expected.previous, found.previous) == expected.previous.end() ||
      std::ranges::find(expected.next, found.next) == expected.next.end()) {
    return broken("words", found.number, "has a link that it was not given, or lost one");
  }
  return std::nullopt;
}

}  // namespace

LoggedObject LoggedObject::fresh(std::uint64_t number, Random& random, Link previous) {
  LoggedObject object;
  object.number = number;
  object.kind = random.chance(1, 8) ? Kind::tombstone : Kind::value;
  object.flags.changes.push_back({0, std::nullopt});
  object.previous.changes.push_back({previous, std::nullopt});
  object.next.changes.push_back({Link{}, std::nullopt});
  return object;
}

std::string LoggedObject::key() const {
  const auto bytes = bytes_of(number * 2 + 1, 1 + mix(number) % 40);
  return std::string(as_text(bytes));
}

std::vector<std::byte> LoggedObject::value() const {
  return bytes_of(number * 2, kind == Kind::tombstone ? 0 : value_size(number));
}

kv::NewObject LoggedObject::as_new(const std::string& key,
                                   const std::vector<std::byte>& value) const {
  kv::NewObject object;
  object.key = as_bytes(key);
  object.value_bytes = static_cast<std::uint32_t>(value.size());
  object.kind = kind;
  object.sequence = number;
  object.checksum =
      object_format::object_checksum(number, object_format::client_checksum(object.key, value));
  object.previous = previous.changes.back().value;
  return object;
}

FoundObject FoundObject::of(const kv::Object& object) {
  return FoundObject{object.sequence(),
                     object.offset(),
                     object.kind(),
                     std::string(as_text(object.key())),
                     {object.value().begin(), object.value().end()},
                     object.intact(),
                     (object.durable() ? object_format::durable_flag : 0) |
                         (object.invalid() ? object_format::invalid_flag : 0),
                     object.previous(),
                     object.next()};
}

LoggedObject FoundObject::as_logged() const {
  LoggedObject object;
  object.number = number;
  object.kind = kind;
  object.offset = offset;
  object.filled = intact;
  object.appended = Ticket{};
  if (intact) {
    object.valued = Ticket{};
  }
  object.flags.changes.push_back({flags, Ticket{}});
  object.previous.changes.push_back({previous, Ticket{}});
  object.next.changes.push_back({next, Ticket{}});
  return object;
}

std::optional<Broken> contradiction(const ExpectedLog& expected,
                                    const std::vector<FoundObject>& found) {
  std::map<std::uint64_t, const FoundObject*> by_number;
  for (const FoundObject& object : found) {
    if (!by_number.emplace(object.number, &object).second) {
      return broken("once", object.number, "was found twice");
    }
  }
  std::size_t known = 0;
  for (const ExpectedPool& pool : expected.pools) {
    std::size_t present = 0;
    const ExpectedObject* missing = nullptr;
    for (const ExpectedObject& object : pool.objects) {
      const auto at = by_number.find(object.number);
      if (at == by_number.end()) {
        missing = object.must_be_there ? &object : missing;
        continue;
      }
      ++present;
      if (auto difference = differs(object, *at->second)) {
        return difference;
      }
    }
    if (missing != nullptr && !(pool.may_be_gone && present == 0)) {
      return broken("acknowledged", missing->number, "was persistent and is gone");
    }
    known += present;
  }
  if (known != found.size()) {
    return Broken{"dead stays dead", "objects were found that are dead or never were"};
  }
  return std::nullopt;
}

}  // namespace remora
