#include "kv/common/call_effects.h"

#include <array>
#include <cstring>

namespace remora::kv {

using rpc::calls::Effect;
using rpc::calls::Record;

namespace {

// The value of a record; the result follows.
struct RecordHead {
  std::uint64_t sequence;
  std::uint32_t code;
  std::uint32_t reserved;  // zero
};
static_assert(sizeof(RecordHead) == 16 && std::has_unique_object_representations_v<RecordHead>);

using RecordKey = std::array<std::byte, StoreEffects::record_prefix.size() + 12>;

RecordKey record_key_of(std::uint64_t session, std::uint32_t slot) {
  RecordKey key;
  std::memcpy(key.data(), StoreEffects::record_prefix.data(), StoreEffects::record_prefix.size());
  store(&key[StoreEffects::record_prefix.size()], session);
  store(&key[StoreEffects::record_prefix.size() + sizeof session], slot);
  return key;
}

}  // namespace

std::optional<ConstBytes> StoreEffects::get(ConstBytes key) {
  const std::optional<LocalStore::Found> found = store_.get(key);
  return found && !found->damaged ? std::optional(found->value) : std::nullopt;
}

Result<StoreEffects::Mark> StoreEffects::apply(std::span<const Effect> effects,
                                               const Record* record) {
  writes_.clear();
  for (const Effect& effect : effects) {
    const std::string_view key = as_text(effect.key);
    if (key.starts_with(record_prefix)) {
      return Status(Code::invalid_argument, "keys that begin so are kept for records of calls");
    }
    writes_.push_back({.key = effect.key, .value = effect.value});
  }
  RecordKey key;
  if (record != nullptr) {
    key = record_key_of(record->session, record->slot);
    const RecordHead head{record->sequence, static_cast<std::uint32_t>(record->code), 0};
    const ConstBytes head_bytes = object_bytes(head);
    value_.assign(head_bytes.begin(), head_bytes.end());
    value_.insert(value_.end(), record->result.begin(), record->result.end());
    writes_.push_back({.key = key, .value = ConstBytes(value_)});
  }
  if (writes_.empty()) {
    return store_.now();
  }
  return store_.write_together({.writes = writes_});
}

std::optional<Record> StoreEffects::find(std::uint64_t session, std::uint32_t slot) {
  const std::optional<ConstBytes> value = get(record_key_of(session, slot));
  if (!value || value->size() < sizeof(RecordHead)) {
    return std::nullopt;
  }
  RecordHead head;
  std::memcpy(&head, value->data(), sizeof head);
  if (head.code > static_cast<std::uint32_t>(Code::conflict)) {
    return std::nullopt;
  }
  return Record{.session = session,
                .slot = slot,
                .sequence = head.sequence,
                .code = static_cast<Code>(head.code),
                .result = value->subspan(sizeof head)};
}

}  // namespace remora::kv
