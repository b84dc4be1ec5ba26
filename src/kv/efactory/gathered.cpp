#include "kv/efactory/gathered.h"

#include <algorithm>

namespace remora::kv::efactory {

Result<bool> Gathered::add(rpc::SessionId session, std::uint64_t total_bytes, std::uint64_t offset,
                           ConstBytes part, std::uint64_t limit_bytes) {
  if (offset == 0) {
    end(session);
    if (total_bytes > limit_bytes - std::min(limit_bytes, size_bytes_)) {
      return Status(Code::in_use, "too much of other writes is on its way; try again");
    }
    size_bytes_ += total_bytes;
    writes_[session] = {total_bytes, {}};
  }
  const auto found = writes_.find(session);
  if (found == writes_.end() || found->second.total_bytes != total_bytes ||
      found->second.bytes.size() != offset || part.empty() || part.size() > total_bytes - offset) {
    end(session);
    return Status(Code::invalid_argument, "this part of a write does not follow the one before");
  }
  std::vector<std::byte>& bytes = found->second.bytes;
  bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes.size() == total_bytes;
}

void Gathered::end(rpc::SessionId session) {
  if (const auto found = writes_.find(session); found != writes_.end()) {
    size_bytes_ -= found->second.total_bytes;
    writes_.erase(found);
  }
}

}  // namespace remora::kv::efactory
