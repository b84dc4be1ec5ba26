// SessionLog: the server's part of one log: finding it in the pool, and moving its mark.
//
// One thread, the loop's. The host and the pool outlive it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "pmem/pool.h"
#include "rpc/calls/log_format.h"

namespace remora::rpc::calls {

inline constexpr std::uint32_t most_sessions = 64;

struct SessionShape {
  std::string_view name;
  std::uint64_t secret = 0;
  std::uint64_t session = 0;
  std::uint64_t ring_bytes = 0;
  std::uint32_t window = 0;
  std::uint64_t holder = 0;
  Form form = Form::checksum;
};

class SessionLog {
 public:
  // The logs of a pool, by where they are; makes the table where there is none.
  static Result<std::vector<Offset>> find_all(Pool& pool);
  // A log with no calls, persistent with the ticket. no_space when there are too many, or no room.
  static Result<Offset> create(Pool& pool, const SessionShape& shape, Ticket& ticket);
  // damaged, where neither identity nor mark can be trusted.
  static Result<std::unique_ptr<SessionLog>> open(const Host& host, Pool& pool, Offset place);

  const log_format::Identity& identity() const { return identity_; }
  std::string_view name() const;
  std::uint64_t session() const { return identity_.session; }
  const log_format::Mark& mark() const { return mark_; }
  Bytes ring() const { return bytes_.subspan(log_format::ring_offset, identity_.ring_bytes); }

  // From here on the log begins as this says, once the ticket is persistent; the mark before it
  // counts until then. One at a time.
  Ticket write(log_format::Mark mark);

 private:
  SessionLog(const Host& host, Bytes bytes, const log_format::Identity& identity,
             const log_format::Mark& mark)
      : host_(host), bytes_(bytes), identity_(identity), mark_(mark) {}

  const Host host_;
  const Bytes bytes_;
  const log_format::Identity identity_;
  log_format::Mark mark_;
};

}  // namespace remora::rpc::calls
