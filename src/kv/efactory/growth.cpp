#include "kv/efactory/growth.h"

#include <optional>
#include <utility>

#include "kv/efactory/faults.h"

namespace remora::kv::efactory {
namespace {

// Of new tables, between which others have their turns.
constexpr std::uint64_t written_per_turn_bytes = 64 << 10;

// The planted mistake.
constexpr std::uint64_t counted_late_ns = 200'000;

}  // namespace

Task<Status> Growth::grow(std::uint64_t pool_bytes) {
  if (is_under_way_) {
    co_return Status(Code::in_use, "the pool is growing already; wait until that has ended");
  }
  REMORA_CO_TRY(catalogue_.log().changeable());
  Result<Pool::Growth> growth = catalogue_.pool().begin_growth(pool_bytes);
  REMORA_CO_TRY(growth.status());
  is_under_way_ = true;
  const Status status = co_await go_on(*growth);
  is_under_way_ = false;
  upkeep_.wake();
  co_return status;
}

Task<Status> Growth::go_on(Pool::Growth& growth) {
  const Faults& planted = background_.faults();
  Pool& pool = catalogue_.pool();
  peers_.share_more(growth.layout.size_bytes());
  if (!planted.planted(faults::grown_unnoticed)) {
    co_await rounds_.hold_again();
  }
  std::optional<Ticket> written = pool.write_growth(growth, written_per_turn_bytes);
  while (!written) {
    co_await background_.runtime().yield();
    written = pool.write_growth(growth, written_per_turn_bytes);
  }
  REMORA_CO_TRY(co_await commits_.persistent(*written));
  if (planted.planted(faults::grown_uncounted)) {
    Pool::Growth early = growth;
    pool.end_growth(std::move(early));
    REMORA_CO_TRY(catalogue_.pool_grew());
    co_await background_.runtime().sleep_for(counted_late_ns);
    co_return co_await commits_.persistent(pool.count_growth(growth));
  }
  REMORA_CO_TRY(co_await commits_.persistent(pool.count_growth(growth)));
  pool.end_growth(std::move(growth));
  co_return catalogue_.pool_grew();
}

}  // namespace remora::kv::efactory
