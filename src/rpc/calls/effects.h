// Effects: what calls change, and the record that a call has run: the store behind durable calls,
// supplied from above. What a call changes and its record are one write: wholly there, or not at
// all, whenever the power goes. So a call whose record is there has run, once, and one without has
// done nothing.
//
// A record has a slot of its session, and replaces the one before in it. No client of the store
// sees records. One thread, the loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "rpc/calls/log_format.h"
#include "runtime/task.h"

namespace remora::rpc::calls {

// A key that gets this value, or goes.
struct Effect {
  ConstBytes key;
  std::optional<ConstBytes> value;
};

struct Record {
  std::uint64_t session = 0;
  std::uint32_t slot = 0;
  Sequence sequence = 0;
  Code code = Code::ok;
  ConstBytes result;
};

class Effects {
 public:
  using Mark = std::uint64_t;  // they grow

  virtual ~Effects() = default;

  // Until the next change.
  virtual std::optional<ConstBytes> get(ConstBytes key) = 0;
  // Seen by all when it returns; persistent when `persistent(mark)` has ended with success. A key
  // stands once. no_space and in_use: wait for `room`, then once more; nothing has happened.
  virtual Result<Mark> apply(std::span<const Effect> effects, const Record* record) = 0;
  virtual Task<Status> room() = 0;
  virtual Task<Status> persistent(Mark mark) = 0;
  // The record in this slot. Its result is there until the next change.
  virtual std::optional<Record> find(std::uint64_t session, std::uint32_t slot) = 0;
};

}  // namespace remora::rpc::calls
