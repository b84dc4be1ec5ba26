#include "lab/check/never_torn.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

namespace remora {
namespace {

// Who wrote what, over all keys.
class Writers {
 public:
  explicit Writers(const History& history) {
    for (OperationIndex i = 0; i < history.operations().size(); ++i) {
      const Operation& operation = history[i];
      const std::uint64_t hash = key_hash(operation.key);
      keys_.emplace(hash, operation.key);
      if (operation.kind == OperationKind::put) {
        puts_.emplace(std::pair(hash, operation.written.id), i);
      }
    }
  }

  std::optional<OperationIndex> put_of(std::uint64_t hash, std::uint64_t id) const {
    const auto found = puts_.find({hash, id});
    return found == puts_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string name_of(std::uint64_t hash) const {
    const auto found = keys_.find(hash);
    return found == keys_.end() ? "a key that is not in the history"
                                : fmt::format("key '{}'", found->second);
  }

 private:
  std::map<std::uint64_t, std::string> keys_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, OperationIndex> puts_;
};

// What is wrong with what a get returned, and the put that it is about, if any.
struct Wrong {
  std::string why;
  std::optional<OperationIndex> put;
};

std::optional<Wrong> wrong_with_put(const History& history, const Operation& get,
                                    OperationIndex put) {
  const Operation& writer = history[put];
  if (!writer.may_have_happened()) {
    return Wrong{"the put of that value was refused", put};
  }
  if (writer.invoked > get.responded) {
    return Wrong{"the put of that value was invoked only later", put};
  }
  if (writer.written.size_bytes != get.read.value.size_bytes) {
    return Wrong{fmt::format("the put of that value wrote {} bytes", writer.written.size_bytes),
                 put};
  }
  if (writer.written.checksum != get.read.value.checksum) {
    return Wrong{"the content is not what the put of that value wrote", put};
  }
  return std::nullopt;
}

std::optional<Wrong> wrong_with(const History& history, const Writers& writers,
                                const Operation& get) {
  const Identity& read = get.read;
  if (read.wholeness == Wholeness::torn) {
    return Wrong{"a value is never torn", std::nullopt};
  }
  if (read.wholeness == Wholeness::foreign) {
    return Wrong{"nobody wrote these bytes as a value", std::nullopt};
  }
  const auto put = writers.put_of(read.hash_of_key, read.value.id);
  if (read.hash_of_key != key_hash(get.key)) {
    return Wrong{fmt::format("the value was written for {}", writers.name_of(read.hash_of_key)),
                 put};
  }
  if (!put) {
    return Wrong{"nobody wrote that value", std::nullopt};
  }
  return wrong_with_put(history, get, *put);
}

}  // namespace

Verdict never_torn(const History& history) {
  const Writers writers(history);
  Verdict verdict;
  for (OperationIndex i = 0; i < history.operations().size(); ++i) {
    const Operation& get = history[i];
    if (get.outcome != Outcome::value) {
      continue;
    }
    if (const auto wrong = wrong_with(history, writers, get)) {
      std::string text = fmt::format("{}: {}", describe(history, i), wrong->why);
      std::vector<OperationIndex> involved = {i};
      if (wrong->put) {
        text += fmt::format("; {}", describe(history, *wrong->put));
        involved.push_back(*wrong->put);
      }
      verdict.violations.push_back({"never_torn", get.key, std::move(text), std::move(involved)});
    }
  }
  return verdict;
}

}  // namespace remora
