#include "kv/common/await_persistent.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t look_ns = 1'000;

}  // namespace

Task<Status> await_persistent(const Host& host, Ticket ticket) {
  if (!host.region().persistent(ticket)) {
    host.region().request(ticket);
  }
  while (!host.region().persistent(ticket)) {
    REMORA_CO_TRY(host.region().failure());
    co_await host.runtime().sleep_for(look_ns);
  }
  co_return Status();
}

}  // namespace remora::kv
