// For the tests of this layer: a store in a map. Nothing of it is persistent before a test says so.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kv/limits.h"
#include "kv/local_store.h"
#include "runtime/runtime.h"

namespace remora::resp {

class MemoryStore final : public kv::LocalStore {
 public:
  explicit MemoryStore(Runtime& runtime) : runtime_(runtime) {}

  Tally tally() const override { return told; }
  Tally told = {};

  std::optional<Found> get(ConstBytes key) override {
    const auto at = entries_.find(std::string(as_text(key)));
    if (at == entries_.end()) {
      return std::nullopt;
    }
    if (at->second.expires != 0 && at->second.expires <= runtime_.wall_ms()) {
      entries_.erase(at);
      return std::nullopt;
    }
    if (at->first == damaged_key) {
      return Found{{}, at->second.expires, at->second.version, true};
    }
    return Found{as_bytes(at->second.value), at->second.expires, at->second.version};
  }
  Result<Mark> put(ConstBytes key, std::span<const ConstBytes> value, Expiry expires) override {
    std::string whole;
    for (const ConstBytes piece : value) {
      whole += as_text(piece);
    }
    REMORA_TRY(check_sizes(key, whole.size()));
    REMORA_TRY(failure());
    if (refusals != 0) {
      --refusals;
      return Status(Code::no_space, "no room");
    }
    REMORA_TRY(changeable());
    ++now_;
    damaged_key = as_text(key) == damaged_key ? "" : damaged_key;
    entries_[std::string(as_text(key))] = {whole, expires, now_};
    return now_;
  }
  Result<Mark> del(ConstBytes key) override {
    if (as_text(key) == failing_key) {
      return Status(Code::closed, "broken");
    }
    if (del_refusals != 0) {
      --del_refusals;
      return Status(Code::no_space, "no room");
    }
    now_ += entries_.erase(std::string(as_text(key)));
    return now_;
  }
  Result<Mark> clear() override {
    if (clear_refusals != 0) {
      --clear_refusals;
      return Status(Code::in_use, "clients must follow");
    }
    REMORA_TRY(failure());
    REMORA_TRY(changeable());
    entries_.clear();
    return ++now_;
  }
  // One by one: refusals of deletions come in the middle.
  Result<Mark> write_all(std::span<const Write> writes, std::size_t& made) override {
    for (const Write& each : writes.subspan(made)) {
      REMORA_TRY(check_sizes(each.key, each.value ? each.value->size() : 0));
    }
    for (; made < writes.size(); ++made) {
      const Write& next = writes[made];
      Result<Mark> mark =
          next.value ? put(next.key, std::span(&*next.value, 1), next.expires) : del(next.key);
      if (!mark.ok()) {
        return mark;
      }
    }
    return now_;
  }
  Result<Mark> write_together(const kv::MultiWrite& what) override {
    std::set<std::string_view> keys;
    for (const Write& each : what.writes) {
      REMORA_TRY(check_sizes(each.key, each.value ? each.value->size() : 0));
      if (!keys.insert(as_text(each.key)).second) {
        return Status(Code::invalid_argument, "a key stands twice");
      }
    }
    if (on_its_way != 0) {
      --on_its_way;
      return Status(Code::in_use, "a value is on its way");
    }
    if (before_together) {
      std::exchange(before_together, {})();
    }
    for (const kv::Condition& condition : what.conditions) {
      REMORA_TRY(check_sizes(condition.key, 0));
      const std::optional<Found> found = get(condition.key);
      if (found && found->damaged) {
        return Status(Code::damaged, "a condition names a damaged key");
      }
      if ((found ? found->version : 0) != condition.version) {
        return Status(Code::conflict, "a condition does not hold");
      }
    }
    REMORA_TRY(failure());
    if (refusals != 0) {
      --refusals;
      return Status(Code::no_space, "no room");
    }
    REMORA_TRY(changeable());
    std::vector<std::string> values;  // they may lie in an entry
    for (const Write& each : what.writes) {
      values.emplace_back(each.value ? as_text(*each.value) : std::string_view());
    }
    ++together;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Write& each = what.writes[i];
      if (!each.value) {
        REMORA_TRY(del(each.key).status());
      } else {
        const ConstBytes value = as_bytes(values[i]);
        REMORA_TRY(put(each.key, std::span(&value, 1), each.expires).status());
      }
    }
    return now_;
  }
  Task<Status> room() override {
    co_await runtime_.yield();
    co_return full ? Status(Code::no_space, "full") : Status();
  }
  Mark now() const override { return now_; }
  Mark persistent_now() const override { return automatic ? now_ : persistent_; }
  Task<Status> persistent(Mark mark) override {
    while (persistent_now() < mark) {
      co_await runtime_.sleep_for(100'000);
      REMORA_CO_TRY(will_fail ? fail() : Status());
    }
    co_return Status();
  }
  std::optional<Status> persistent_at_once() override {
    return will_fail && at_once ? std::optional(fail()) : std::nullopt;
  }
  Status failure() const override {
    return has_failed_ ? Status(Code::io_error, "the disk of this test is broken") : Status();
  }
  Status changeable() const override {
    return read_only ? Status(Code::permission_denied, "the store of this test is damaged")
                     : Status();
  }
  bool is_in_doubt(ConstBytes key) override {
    const auto at = entries_.find(std::string(as_text(key)));
    return at != entries_.end() && at->second.version > persistent_;
  }
  // The cursor is how many keys were given; good enough while nothing changes.
  kv::ScanCursor scan(kv::ScanCursor from, std::size_t most_keys, kv::ScanSink& sink) override {
    auto at = entries_.begin();
    if (from >= entries_.size()) {
      return 0;
    }
    std::advance(at, from);
    for (std::size_t i = 0; i < most_keys && at != entries_.end(); ++i, ++at, ++from) {
      sink.key(as_bytes(at->first));
    }
    return at == entries_.end() ? 0 : from;
  }
  std::uint64_t keys() const override { return entries_.size(); }
  std::uint64_t keys_with_expiry() const override { return 0; }

  void persist() { persistent_ = now_; }
  void persist(Mark mark) { persistent_ = mark; }

  std::uint32_t refusals = 0;      // puts that find no room
  std::uint32_t del_refusals = 0;  // and deletions
  std::uint32_t clear_refusals = 0;
  std::string failing_key = {};                // whose deletion fails for good
  std::string damaged_key = {};                // until it is put again
  std::uint32_t on_its_way = 0;                // writes together that find a value to be so
  std::function<void()> before_together = {};  // once, before conditions are judged
  std::uint64_t together = 0;                  // writes that happened so
  bool read_only = false;
  bool full = false;       // waiting for room does not help
  bool automatic = true;   // everything is persistent at once
  bool will_fail = false;  // the next commit does
  bool at_once = false;    // and it is one that blocks

 private:
  struct Entry {
    std::string value;
    Expiry expires = 0;
    std::uint64_t version = 0;
  };

  Status fail() {
    has_failed_ = true;
    return failure();
  }
  static Status check_sizes(ConstBytes key, std::size_t value_bytes) {
    return key.empty() || key.size() > kv::limits::key_bytes ||
                   value_bytes > kv::limits::value_bytes
               ? Status(Code::invalid_argument, "sizes")
               : Status();
  }

  Runtime& runtime_;
  std::map<std::string, Entry> entries_;
  Mark now_ = 0;
  Mark persistent_ = 0;
  bool has_failed_ = false;
};

}  // namespace remora::resp
