// CoreHabit: in virtual time, what a core does where it has nothing to do, and with whom it is
// shared. As made it spins, and is shared with nobody: work begins when it comes.
#pragma once

#include <cstdint>

namespace remora {

struct CoreHabit {
  // It sleeps where it has nothing to do: so long after work has come it is awake. 0: it spins.
  std::uint64_t wake_ns = 0;
  // Another program has the same core: that one for others_ns, then this one for slice_ns, and so
  // on from the start of time. Work that is not done by the end of a slice waits for the next.
  std::uint64_t slice_ns = 0;
  std::uint64_t others_ns = 0;  // 0: nobody else

  bool is_shared() const { return others_ns != 0; }
  // When work ends that takes so long and may begin at `from_ns`.
  std::uint64_t ends_at_ns(std::uint64_t from_ns, std::uint64_t cost_ns) const {
    if (!is_shared() || cost_ns == 0) {
      return from_ns + cost_ns;
    }
    const std::uint64_t round_ns = others_ns + slice_ns;
    const std::uint64_t in_round_ns = from_ns % round_ns;
    const std::uint64_t round_begin_ns = from_ns - in_round_ns;
    // As if all had begun with the slice of its round, of which some is gone.
    const std::uint64_t done_ns = in_round_ns > others_ns ? in_round_ns - others_ns : 0;
    const std::uint64_t whole_ns = done_ns + cost_ns;
    const std::uint64_t rounds = (whole_ns - 1) / slice_ns;
    return round_begin_ns + rounds * round_ns + others_ns + (whole_ns - rounds * slice_ns);
  }
};

}  // namespace remora
