// Snapshots: what a client READs that copies all of the store. The log is only ever appended to, so
// its segments, each up to where it was filled at one moment, are the store of that moment as long
// as none of them is cleaned. A value that was on its way then may be complete or not: its put had
// not ended.
//
// One snapshot at a time. One thread, the loop's. The catalogue outlives it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kv/efactory/catalogue.h"
#include "kv/efactory/messages.h"
#include "rpc/server.h"

namespace remora::kv::efactory {

class Snapshots {
 public:
  explicit Snapshots(Catalogue& catalogue) : catalogue_(catalogue) {}

  // The reply to a SnapshotRequest. No new one is made while the log is cleaned.
  rpc::Reply answer(rpc::SessionId session, const SnapshotRequest& ask, bool is_cleaning,
                    Bytes body);
  // Whether a client copies the segments as they are.
  bool stands() const { return snapshot_.has_value(); }
  void end() { snapshot_.reset(); }
  // The same if it is this client's; whether it was.
  bool end_of(rpc::SessionId session);

 private:
  struct Snapshot {
    Snapshot(rpc::SessionId session, std::uint64_t number) : owner(session), id(number) {}

    const rpc::SessionId owner;
    const std::uint64_t id;
    std::uint64_t size_bytes = 0;
    std::vector<Segment> segments;
  };

  void make(rpc::SessionId session);
  rpc::Reply list(std::uint64_t from, Bytes body) const;

  Catalogue& catalogue_;
  std::optional<Snapshot> snapshot_;
  std::uint64_t made_ = 0;
};

}  // namespace remora::kv::efactory
