#include "lab/subjects/stores/witness.h"

#include <algorithm>
#include <iterator>

#include "lab/subjects/stores/dated.h"

namespace remora::lab {
namespace {

// Whether the store says that the operation did not happen, and never will.
bool is_refusal(Code code) {
  return code == Code::no_space || code == Code::invalid_argument || code == Code::in_use ||
         code == Code::conflict;
}

}  // namespace

Witness::Asked Witness::asks_put(ClientId client, const std::string& key, const Value& value,
                                 std::uint64_t now_ns) {
  return asked(history_.invoke_put(client, key, value, base_ns_ + now_ns));
}

Witness::Asked Witness::asks_del(ClientId client, const std::string& key, std::uint64_t now_ns) {
  return asked(history_.invoke_del(client, key, base_ns_ + now_ns));
}

Witness::Asked Witness::asks_get(ClientId client, const std::string& key, std::uint64_t now_ns) {
  return asked(history_.invoke_get(client, key, base_ns_ + now_ns));
}

std::vector<Witness::Asked> Witness::asks_together(
    ClientId client, const std::vector<Wish>& wishes,
    const std::vector<Together::Condition>& conditions, std::uint64_t now_ns) {
  std::vector<Asked> all;
  std::vector<OperationIndex> writes;
  for (const Wish& wish : wishes) {
    all.push_back(wish.value ? asks_put(client, wish.key, *wish.value, now_ns)
                             : asks_del(client, wish.key, now_ns));
    writes.push_back(all.back().operation);
  }
  history_.join(std::move(writes), conditions);
  return all;
}

void Witness::told_together(const std::vector<Asked>& asked, const Status& status,
                            kv::Durability durability, bool connected, std::uint64_t now_ns) {
  for (const Asked& one : asked) {
    told_write(one, status, durability, connected, now_ns);
  }
}

Witness::Asked Witness::asks_scan(ClientId client, std::uint64_t now_ns) {
  return asked(history_.invoke_scan(client, base_ns_ + now_ns));
}

void Witness::told_scan(const Asked& asked, const Result<std::vector<std::string>>& keys,
                        std::uint64_t now_ns) {
  if (is_too_late(asked) || !keys.ok()) {
    return;
  }
  std::vector<std::string> timeless;
  std::ranges::copy_if(*keys, std::back_inserter(timeless),
                       [](const std::string& key) { return !is_timed(key); });
  history_.respond_scan(asked.operation, std::move(timeless), base_ns_ + now_ns);
}

void Witness::told_write(const Asked& asked, const Status& status, kv::Durability durability,
                         bool connected, std::uint64_t now_ns) {
  if (is_too_late(asked)) {
    return;
  }
  if (status.ok()) {
    history_.respond_write(
        asked.operation,
        durability == kv::Durability::persistent ? Outcome::persistent : Outcome::visible,
        base_ns_ + now_ns);
  } else if (is_refusal(status.code())) {
    history_.respond_failed(asked.operation, Outcome::refused, base_ns_ + now_ns);
  } else if (connected) {
    history_.respond_failed(asked.operation, Outcome::unknown, base_ns_ + now_ns);
  }
}

void Witness::told_get(const Asked& asked, const Result<std::size_t>& size, ConstBytes buffer,
                       std::uint64_t now_ns) {
  if (is_too_late(asked)) {
    return;
  }
  if (size.ok()) {
    history_.respond_value(asked.operation, identify(buffer.first(*size)), base_ns_ + now_ns);
  } else if (size.code() == Code::not_found) {
    history_.respond_not_found(asked.operation, base_ns_ + now_ns);
  }
}

void Witness::all_is_persistent(std::uint64_t now_ns) {
  const std::size_t epoch = history_.cuts().size();
  for (OperationIndex i = 0; i < history_.operations().size(); ++i) {
    const Operation& operation = history_[i];
    if (operation.epoch == epoch && operation.outcome == Outcome::visible &&
        operation.persisted == never) {
      history_.persisted(i, base_ns_ + now_ns);
    }
  }
}

}  // namespace remora::lab
