#include "bench/claims.h"

namespace remora::bench {

// Slices well below a scheduler's time slice: most of them run undisturbed on a shared machine.
Plan memory_plan(const MicroOptions& options) {
  const std::uint64_t rounds = options.rounds != 0 ? options.rounds : options.quick ? 5 : 301;
  return {rounds, options.quick ? std::uint64_t{100'000} : 500'000, Work::same};
}

Plan disk_plan(const MicroOptions& options) {
  const std::uint64_t rounds = options.rounds != 0 ? options.rounds : options.quick ? 2 : 51;
  return {rounds, options.quick ? std::uint64_t{2'000'000} : 40'000'000, Work::own};
}

}  // namespace remora::bench
