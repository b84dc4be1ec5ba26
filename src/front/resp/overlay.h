// Overlay: a store as a transaction sees it that is being run: what it has written so far lies over
// the store below, and is written there by commit(), wholly or not at all.
//
// It lives for one run, on the stack of who runs it. What was read below is a condition of the
// write, so that the transaction happens at one moment for native clients too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kv/local_store.h"

namespace remora::resp {

class Overlay final : public kv::LocalStore {
 public:
  // What lies in `stable` is not copied. Values of more than `most_bytes` in all are refused.
  Overlay(kv::LocalStore& below, std::uint64_t now_ms, std::string_view stable,
          std::uint64_t most_bytes)
      : below_(below), now_ms_(now_ms), stable_(stable), most_bytes_(most_bytes) {}

  // Writes what was written here, if that is anything, while all conditions hold and what was read
  // is what it was. Failures: as of LocalStore::write_together; conflict where nothing was written
  // too, and invalid_argument where it was too much to be kept here.
  Result<Mark> commit(std::vector<kv::Condition> conditions);
  bool has_written() const { return has_written_; }
  // Keys that commit() changed or deleted.
  void each_written(const std::function<void(ConstBytes key)>& visit) const;

  // --- LocalStore ---
  std::optional<Found> get(ConstBytes key) override;
  Result<Mark> put(ConstBytes key, std::span<const ConstBytes> value, Expiry expires) override;
  Result<Mark> del(ConstBytes key) override;
  Result<Mark> write_all(std::span<const Write> writes, std::size_t& made) override;
  // A key may stand twice: the last one counts.
  Result<Mark> write_together(const kv::MultiWrite& what) override;
  // No transaction holds it: it is refused when it is queued.
  Result<Mark> clear() override {
    return Status(Code::unsupported, "all keys are cleared by themselves, and not with others");
  }
  Task<Status> room() override { return below_.room(); }
  // What was written here is a change behind all below.
  Mark now() const override { return below_.now() + (has_written() ? 1 : 0); }
  Mark persistent_now() const override { return below_.persistent_now(); }
  Task<Status> persistent(Mark mark) override { return below_.persistent(mark); }
  Status failure() const override { return below_.failure(); }
  bool lost() const override { return below_.lost(); }
  Status changeable() const override { return below_.changeable(); }
  bool is_in_doubt(ConstBytes key) override { return below_.is_in_doubt(key); }
  // Keys that are new here come at the beginning.
  kv::ScanCursor scan(kv::ScanCursor from, std::size_t most_keys, kv::ScanSink& sink) override;
  std::uint64_t keys() const override;
  Tally tally() const override { return below_.tally(); }
  std::uint64_t keys_with_expiry() const override;

 private:
  // A key that was read or written here.
  struct Entry {
    std::string_view lent_key;  // or its own, where that is not empty
    std::string own_key;
    std::string_view lent_value;
    std::string own_value;
    bool owns_value = false;
    bool written = false;
    bool there = false;  // where it was written; else it was deleted
    Expiry expires = 0;
    std::uint64_t version = 0;         // here
    std::optional<std::uint64_t> was;  // its version below, when it was read

    std::string_view key() const { return own_key.empty() ? lent_key : own_key; }
    std::string_view value() const { return owns_value ? own_value : lent_value; }
  };
  static constexpr std::size_t few = 16;  // entries that are looked through

  bool is_stable(std::string_view text) const;
  bool is_shown(const Entry& entry) const;
  Entry* find(std::string_view key);
  Entry& entry_of(std::string_view key);
  bool is_below(const Entry& entry) const;
  bool still_holds(std::span<const kv::Condition> conditions);
  Status check(ConstBytes key, std::size_t value_bytes) const;

  kv::LocalStore& below_;
  const std::uint64_t now_ms_;
  const std::string_view stable_;
  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;  // of values of its own
  bool too_much_ = false;
  bool has_written_ = false;
  bool torn_ = false;  // a key was another one at a second look
  std::uint64_t last_version_ = 0;
  std::deque<Entry> entries_;  // which stay where they are: what was found is looked at later
  std::unordered_multimap<std::size_t, std::size_t> places_;  // by hash, where they are not few
};

}  // namespace remora::resp
