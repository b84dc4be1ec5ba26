// StoreEffects: a store as the one behind durable calls (rpc/calls/effects.h). What a call changes
// and its record are one write of several keys.
//
// Records are keys of the store that begin with `record_prefix`, which no client's key does.
// One thread, the loop's. The store outlives it.
#pragma once

#include <string>
#include <vector>

#include "kv/local_store.h"
#include "rpc/calls/effects.h"

namespace remora::kv {

class StoreEffects final : public rpc::calls::Effects {
 public:
  static constexpr std::string_view record_prefix{"\0remora/call\0", 13};

  explicit StoreEffects(LocalStore& store) : store_(store) {}

  std::optional<ConstBytes> get(ConstBytes key) override;
  Result<Mark> apply(std::span<const rpc::calls::Effect> effects,
                     const rpc::calls::Record* record) override;
  Task<Status> room() override { return store_.room(); }
  Task<Status> persistent(Mark mark) override { return store_.persistent(mark); }
  std::optional<rpc::calls::Record> find(std::uint64_t session, std::uint32_t slot) override;

 private:
  LocalStore& store_;
  std::vector<Write> writes_;
  std::vector<std::byte> value_;  // of a record
};

}  // namespace remora::kv
