// Gathered: writes of several keys that come in several messages, each until all of it is here. A
// session has one at a time; one that begins anew, or whose client leaves, ends it. All together
// have no more memory than the limit.
//
// One thread, the loop's.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/server.h"

namespace remora::kv::efactory {

class Gathered {
 public:
  // A part that comes next; of the first one the offset is 0. Fails with in_use where too much is
  // gathered, with invalid_argument where it does not follow the one before. True when it was the
  // last one: the bytes are there until the session's next part, or `end`.
  Result<bool> add(rpc::SessionId session, std::uint64_t total_bytes, std::uint64_t offset,
                   ConstBytes part, std::uint64_t limit_bytes);
  ConstBytes of(rpc::SessionId session) const { return writes_.at(session).bytes; }
  void end(rpc::SessionId session);

  std::uint64_t size_bytes() const { return size_bytes_; }  // that are promised to writes

 private:
  struct Write {
    std::uint64_t total_bytes = 0;
    std::vector<std::byte> bytes;
  };

  std::unordered_map<rpc::SessionId, Write> writes_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace remora::kv::efactory
